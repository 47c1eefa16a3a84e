//! Opaque JSON: text that is known to be one JSON value and is otherwise left alone.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// One JSON value, kept as its text: numbers, key order and white space stay as they came, but
/// for line breaks, which become spaces: in a log they would end the line.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Checks that `text` is one JSON value and keeps it.
    ///
    /// # Errors
    /// What `serde_json` says about the text, with line and column.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self::on_one_line)
    }

    /// The JSON of one of our own values: plain data whose keys are texts, which has no way to
    /// fail.
    #[must_use]
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        let raw = serde_json::value::to_raw_value(value);
        debug_assert!(raw.is_ok(), "a value of our own that has no JSON");
        raw.map_or_else(|_| Self::default(), Self)
    }

    /// A line break can only stand between tokens.
    fn on_one_line(raw: Box<RawValue>) -> Self {
        if !raw.get().contains(['\n', '\r']) {
            return Self(raw);
        }
        let text = raw.get().replace(['\n', '\r'], " ");
        Self(RawValue::from_string(text).unwrap_or(raw))
    }

    /// The value's text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The value's text.
    #[must_use]
    pub fn into_text(self) -> String {
        Box::<str>::from(self.0).into_string()
    }

    /// The value as `serde_json` has it.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::on_one_line)
    }
}

impl Default for Json {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json {}

/// A JSON object whose fields keep their order and their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object(pub Vec<(String, Json)>);

impl Object {
    /// The value of the field `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Gives the field `name` a value, in its old place or at the end.
    pub fn set(&mut self, name: &str, value: Json) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.into(), value)),
        }
    }

    /// The object as opaque JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = Vec::new();
        for (index, (name, value)) in self.0.iter().enumerate() {
            out.push(if index == 0 { b'{' } else { b',' });
            push_string(&mut out, name);
            out.push(b':');
            out.extend_from_slice(value.text().as_bytes());
        }
        if out.is_empty() {
            out.push(b'{');
        }
        out.push(b'}');
        String::from_utf8(out).ok().and_then(|text| Json::parse(text).ok()).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// JSON text in which no escape stands for half a surrogate pair: such a half becomes U+FFFD.
#[must_use]
pub fn without_lone_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let (mut done, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let here = at + found;
        let (is_pair, is_half) = match (unit(here), unit(here + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (true, false),
            (Some(0xd800..=0xdfff), _) => (false, true),
            _ => (false, false),
        };
        at = here
            + if is_pair {
                12
            } else if is_half {
                6
            } else {
                2
            };
        if is_half {
            out.push_str(text.get(done..here).unwrap_or_default());
            out.push_str("\\ufffd");
            done = at;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Appends a value with its objects' keys in order, so that its bytes do not depend on how the
/// map was built.
pub fn push_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.extend_from_slice(value.to_string().as_bytes());
        }
        Value::String(text) => push_string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_value(out, item);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            out.push(b'{');
            for (index, (name, field)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_string(out, name);
                out.push(b':');
                push_value(out, field);
            }
            out.push(b'}');
        }
    }
}

/// Appends `text` as a JSON string, quotes and all.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else { break };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte => {
                let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
