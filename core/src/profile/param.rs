//! The parameters of the built-in tools, and the JSON Schema that the model is shown of them.

use alloc::{borrow::Cow, string::ToString};
use innerloop_json::{ToJson, Writer};

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    name: &'static str,
    kind: Type,
    /// What the model is told of it, if anything.
    description: &'static str,
    is_required: bool,
    /// The value that stands for it where it is left out, as JSON.
    default: Option<&'static str>,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Type {
    /// A text.
    Text,
    /// A text of one character or more.
    NonEmpty,
    /// One of some words.
    Enum(&'static [&'static str]),
    /// A whole number.
    Integer { min: u32, max: Option<u32> },
    /// Any number.
    Number,
    /// Yes or no.
    Boolean,
    /// A list.
    Array { of: &'static Self, min: u32 },
    /// An object of its own.
    Object(&'static [Param]),
}

/// A count of something, if only of one.
pub(super) const POSITIVE: Type = Type::Integer { min: 1, max: None };
/// A count of something, or of nothing.
pub(super) const NON_NEGATIVE: Type = Type::Integer { min: 0, max: None };
/// A list of texts.
pub(super) const TEXTS: Type = Type::Array { of: &Type::Text, min: 0 };

/// A parameter without which there is no call.
pub(super) const fn required(name: &'static str, kind: Type, description: &'static str) -> Param {
    Param { name, kind, description, is_required: true, default: None }
}

/// A parameter that may be left out.
pub(super) const fn optional(name: &'static str, kind: Type, description: &'static str) -> Param {
    Param { name, kind, description, is_required: false, default: None }
}

impl Param {
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// The same, with the value that stands for it where it is left out.
    pub(super) const fn with_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// The JSON Schema of an object with these parameters and no others, as it is written.
/// `{default_ms}` in descriptions becomes that time limit.
pub(super) struct Schema<'a> {
    pub(super) params: &'a [Param],
    pub(super) default_ms: u64,
}

impl ToJson for Schema<'_> {
    fn write(&self, writer: &mut Writer) {
        writer.object();
        self.write_object(self.params, writer);
        writer.end_object();
    }
}

impl Schema<'_> {
    /// Writes the fields of an object's schema.
    fn write_object(&self, params: &[Param], writer: &mut Writer) {
        string("type", "object", writer);
        writer.key("properties");
        writer.object();
        for param in params {
            writer.key(param.name);
            writer.object();
            self.write_type(param.kind, writer);
            if let Some(default) = param.default {
                writer.key("default");
                writer.raw(default);
            }
            if !param.description.is_empty() {
                let description = self.filled(param.description);
                string("description", &description, writer);
            }
            writer.end_object();
        }
        writer.end_object();
        let required = params.iter().filter(|param| param.is_required).map(|param| param.name);
        strings("required", required, writer);
        writer.key("additionalProperties");
        writer.bool(false);
    }

    /// Writes the fields of a value's schema that say what it may be.
    fn write_type(&self, kind: Type, writer: &mut Writer) {
        match kind {
            Type::Text => string("type", "string", writer),
            Type::NonEmpty => {
                string("type", "string", writer);
                number("minLength", 1, writer);
            }
            Type::Enum(words) => {
                string("type", "string", writer);
                strings("enum", words.iter().copied(), writer);
            }
            Type::Integer { min, max } => {
                string("type", "integer", writer);
                number("minimum", min, writer);
                if let Some(max) = max {
                    number("maximum", max, writer);
                }
            }
            Type::Number => string("type", "number", writer),
            Type::Boolean => string("type", "boolean", writer),
            Type::Array { of, min } => {
                string("type", "array", writer);
                writer.key("items");
                writer.object();
                self.write_type(*of, writer);
                writer.end_object();
                if min > 0 {
                    number("minItems", min, writer);
                }
            }
            Type::Object(params) => self.write_object(params, writer),
        }
    }

    fn filled(&self, description: &'static str) -> Cow<'static, str> {
        const PLACE: &str = "{default_ms}";
        if description.contains(PLACE) {
            description.replace(PLACE, &self.default_ms.to_string()).into()
        } else {
            description.into()
        }
    }
}

fn string(name: &str, text: &str, writer: &mut Writer) {
    writer.key(name);
    writer.string(text);
}

fn number(name: &str, number: u32, writer: &mut Writer) {
    writer.key(name);
    writer.number(u64::from(number));
}

/// Writes a list of texts, unless there are none.
fn strings<'a>(name: &str, texts: impl Iterator<Item = &'a str>, writer: &mut Writer) {
    let mut texts = texts.peekable();
    if texts.peek().is_none() {
        return;
    }
    writer.key(name);
    writer.array();
    for text in texts {
        writer.element();
        writer.string(text);
    }
    writer.end_array();
}
