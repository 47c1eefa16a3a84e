//! Arguments that a stream sends piece by piece, each with the path to the place where it belongs
//! (Vertex's `partialArgs`): `{"jsonPath": "$.items[0].name", "stringValue": "…"}`.

use super::super::{lenient::ValueRef, sink::PieceSink, writer::JsonWriter};
use alloc::{string::String, vec::Vec};
use innerloop_json::PlaceMap;
use innerloop_types::steps;

/// A value that grows.
#[derive(Debug)]
pub(super) enum PartialValue {
    /// Not said yet.
    Nothing,
    /// A string, to which later pieces of the same place are added.
    Text(String),
    /// A whole value's JSON.
    Whole(String),
    /// An object's fields in the order in which they came, and where each stands.
    Fields(Vec<(String, Self)>, PlaceMap),
    /// An array's elements.
    Items(Vec<Self>),
}

/// A step from a value to one within.
enum PathStep {
    Field(String),
    Item(usize),
}

impl PartialValue {
    /// Makes arguments of which some are known from the start.
    pub(super) fn new(known: ValueRef<'_>, out: &mut PieceSink) -> Self {
        let mut arguments = Self::Fields(Vec::new(), PlaceMap::new());
        for (name, value) in known.entries() {
            if let Some(place) = arguments.field(name.into_owned(), out) {
                *place = Self::Whole(value.json().into());
            }
        }
        arguments
    }

    /// Puts a piece in its place. Returns nothing if the piece cannot be read or has no place.
    pub(super) fn put(&mut self, piece: ValueRef<'_>, out: &mut PieceSink) -> Option<()> {
        let [path, text, number, truth] =
            piece.camel_fields(&["jsonPath", "stringValue", "numberValue", "boolValue"]);
        let path = path.text()?;
        if let Some(more) = text.text() {
            out.keep(more.len());
            match self.at(&path, out)? {
                Self::Text(text) => text.push_str(&more),
                place => *place = Self::Text(more.into_owned()),
            }
            return Some(());
        }
        let value = number.or(truth);
        let is_null = || piece.names().any(|name| matches!(&*name, "nullValue" | "null_value"));
        // A piece without a value only says that its place has ended. The value of `nullValue` is
        // itself null, so that its name alone tells that it is there.
        if !value.is_null() || is_null() {
            out.keep(value.json().len());
            *self.at(&path, out)? = Self::Whole(value.json().into());
        }
        Some(())
    }

    /// Returns the value's JSON.
    pub(super) fn json(&self) -> String {
        let mut out = JsonWriter::new();
        self.write(&mut out);
        out.0
    }

    fn write(&self, out: &mut JsonWriter) {
        match self {
            Self::Nothing => out.raw("null"),
            Self::Text(text) => out.string(text),
            Self::Whole(json) => out.raw(json),
            Self::Fields(fields, _) => {
                out.raw("{");
                for (index, (name, value)) in fields.iter().enumerate() {
                    value.write(out.raw(if index == 0 { "" } else { "," }).string(name).raw(":"));
                }
                out.raw("}")
            }
            Self::Items(items) => {
                out.raw("[");
                for (index, item) in items.iter().enumerate() {
                    item.write(out.raw(if index == 0 { "" } else { "," }));
                }
                out.raw("]")
            }
        };
    }

    /// Returns the place that a path names, made where it is not there yet.
    fn at(&mut self, path: &str, out: &mut PieceSink) -> Option<&mut Self> {
        let mut place = self;
        for step in steps(path)? {
            place = match step {
                PathStep::Field(name) => place.field(name, out)?,
                PathStep::Item(index) => place.item(index, out)?,
            };
        }
        Some(place)
    }

    fn field(&mut self, name: String, out: &mut PieceSink) -> Option<&mut Self> {
        steps::count(1 + name.len());
        if matches!(self, Self::Nothing) {
            *self = Self::Fields(Vec::new(), PlaceMap::new());
        }
        let Self::Fields(fields, places) = self else { return None };
        let at = places.or_insert(name.clone(), fields.len());
        if at == fields.len() && out.item() {
            fields.push((name, Self::Nothing));
        }
        fields.get_mut(at).map(|(_, value)| value)
    }

    /// Returns an element that is there, or a new one behind the last: arrays are sent in order.
    fn item(&mut self, index: usize, out: &mut PieceSink) -> Option<&mut Self> {
        steps::count(1);
        if matches!(self, Self::Nothing) {
            *self = Self::Items(Vec::new());
        }
        let Self::Items(items) = self else { return None };
        // An index far behind the end has no place: a few bytes must not make an array of any
        // length.
        if index == items.len() && out.item() {
            items.push(Self::Nothing);
        }
        items.get_mut(index)
    }
}

/// Reads `$.a[0]['b c']`. Returns nothing if it is not such a path, or is deeper than JSON may be.
fn steps(path: &str) -> Option<Vec<PathStep>> {
    const DEEPEST: usize = 100;
    let mut rest = path.trim().strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(rest) = rest.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
            (PathStep::Field(name.into()), after)
        } else {
            let rest = rest.strip_prefix('[')?;
            match rest.chars().next()? {
                quote @ ('\'' | '"') => quoted(rest.get(1..)?, quote)?,
                _ => {
                    let (index, after) = rest.split_once(']')?;
                    (PathStep::Item(index.trim().parse().ok()?), after)
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
fn quoted(rest: &str, quote: char) -> Option<(PathStep, &str)> {
    let mut name = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '\\' => name.push(chars.next()?),
            c if c == quote => break,
            c => name.push(c),
        }
    }
    Some((PathStep::Field(name), chars.as_str().strip_prefix(']')?))
}
