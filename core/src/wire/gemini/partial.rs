//! Arguments that a stream sends piece by piece, each with the place where it belongs (Vertex's
//! `partialArgs`): `{"jsonPath": "$.items[0].name", "stringValue": "…"}`.

use super::super::lenient::{Fields, text};
use crate::base::json::{Json, Object, push_string};
use alloc::{string::String, vec::Vec};
use serde_json::value::RawValue;

/// A value that grows.
#[derive(Clone, Debug)]
pub(super) enum Growing {
    /// Not said yet.
    Nothing,
    /// A string, to which later pieces of the same place are added.
    Text(String),
    /// A whole value.
    Whole(Json),
    /// An object's fields in the order in which they came.
    Fields(Vec<(String, Self)>),
    /// An array's elements.
    Items(Vec<Self>),
}

/// A step from a value to one within.
enum Step {
    Field(String),
    Item(usize),
}

impl Growing {
    /// Arguments of which these are known from the start.
    pub(super) fn new(known: Option<&RawValue>) -> Self {
        let known = known.and_then(|raw| serde_json::from_str::<Object>(raw.get()).ok());
        let fields = known.unwrap_or_default().0.into_iter();
        Self::Fields(fields.map(|(name, value)| (name, Self::Whole(value))).collect())
    }

    /// Puts a piece in its place. Says nothing if the piece cannot be read or has no place.
    pub(super) fn put(&mut self, piece: &RawValue) -> Option<()> {
        let fields = Fields::parse(piece.get()).ok()?;
        let either = |name, snake| fields.raw(name).or_else(|| fields.raw(snake));
        let path = either("jsonPath", "json_path").and_then(text)?;
        if let Some(more) = either("stringValue", "string_value").and_then(text) {
            match self.at(&path)? {
                Self::Text(text) => text.push_str(&more),
                place => *place = Self::Text(more.into_owned()),
            }
            return Some(());
        }
        let whole = either("numberValue", "number_value")
            .or_else(|| either("boolValue", "bool_value"))
            .map(RawValue::get);
        let is_null = || fields.names().any(|name| matches!(name, "nullValue" | "null_value"));
        // A piece without a value says no more than that its place has ended.
        if let Some(value) = whole.or_else(|| is_null().then_some("null")) {
            *self.at(&path)? = Self::Whole(Json::parse(value).ok()?);
        }
        Some(())
    }

    /// The value's JSON.
    pub(super) fn json(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => out.extend_from_slice(b"null"),
            Self::Text(text) => push_string(out, text),
            Self::Whole(json) => out.extend_from_slice(json.text().as_bytes()),
            Self::Fields(fields) => {
                out.push(b'{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    push_string(out, name);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
            Self::Items(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
        }
    }

    /// The place that a path names, made where it is not there yet.
    fn at(&mut self, path: &str) -> Option<&mut Self> {
        let mut place = self;
        for step in steps(path)? {
            place = match step {
                Step::Field(name) => place.field(name)?,
                Step::Item(index) => place.item(index)?,
            };
        }
        Some(place)
    }

    fn field(&mut self, name: String) -> Option<&mut Self> {
        if matches!(self, Self::Nothing) {
            *self = Self::Fields(Vec::new());
        }
        let Self::Fields(fields) = self else { return None };
        // The newest first: pieces of one value follow each other.
        let at = fields.iter().rposition(|(known, _)| *known == name);
        let at = at.unwrap_or_else(|| {
            fields.push((name, Self::Nothing));
            fields.len() - 1
        });
        fields.get_mut(at).map(|(_, value)| value)
    }

    /// An element that is there, or the one behind the last: arrays are sent in order.
    fn item(&mut self, index: usize) -> Option<&mut Self> {
        if matches!(self, Self::Nothing) {
            *self = Self::Items(Vec::new());
        }
        let Self::Items(items) = self else { return None };
        if index == items.len() {
            items.push(Self::Nothing);
        }
        items.get_mut(index)
    }
}

/// Reads `$.a[0]['b c']`; nothing if it is no such path, or one that is deeper than JSON may be.
fn steps(path: &str) -> Option<Vec<Step>> {
    const DEEPEST: usize = 100;
    let mut rest = path.trim().strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(rest) = rest.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
            (Step::Field(name.into()), after)
        } else {
            let rest = rest.strip_prefix('[')?;
            match rest.chars().next()? {
                quote @ ('\'' | '"') => quoted(rest.get(1..)?, quote)?,
                _ => {
                    let (index, after) = rest.split_once(']')?;
                    (Step::Item(index.trim().parse().ok()?), after)
                }
            }
        };
        steps.push(step);
        rest = after;
        if steps.len() > DEEPEST {
            return None;
        }
    }
    Some(steps)
}

/// Reads the rest of `'name']`, in which a backslash takes the next character as it is.
fn quoted(rest: &str, quote: char) -> Option<(Step, &str)> {
    let mut name = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '\\' => name.push(chars.next()?),
            c if c == quote => break,
            c => name.push(c),
        }
    }
    Some((Step::Field(name), chars.as_str().strip_prefix(']')?))
}
