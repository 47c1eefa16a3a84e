//! The parameters of the built-in tools, and the JSON Schema that the model is shown of them.

use alloc::{format, string::String};

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    name: &'static str,
    kind: Type,
    /// What the model is told of it, in characters that JSON text leaves as they are.
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
    OneOf(&'static [&'static str]),
    /// A whole number.
    Integer { min: u32, max: Option<u32> },
    /// Any number.
    Number,
    /// Yes or no.
    Flag,
    /// A list.
    List { of: &'static Self, min: u32 },
    /// An object of its own.
    Object(&'static [Param]),
}

/// A count of something, if only of one.
pub(super) const COUNT: Type = Type::Integer { min: 1, max: None };
/// A count of something, or of nothing.
pub(super) const COUNT_OR_NONE: Type = Type::Integer { min: 0, max: None };
/// A list of texts.
pub(super) const TEXTS: Type = Type::List { of: &Type::Text, min: 0 };

/// A parameter without which there is no call.
pub(super) const fn needed(name: &'static str, kind: Type, description: &'static str) -> Param {
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
    pub(super) const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// The JSON Schema of an object with these parameters and no others.
pub(super) fn schema(params: &[Param]) -> String {
    let mut out = String::from("{");
    push_object(&mut out, params);
    out.push('}');
    out
}

/// Appends the fields of an object's schema.
fn push_object(out: &mut String, params: &[Param]) {
    out.push_str("\"type\":\"object\",\"properties\":{");
    for (index, param) in params.iter().enumerate() {
        out.push_str(if index == 0 { "\"" } else { ",\"" });
        out.push_str(param.name);
        out.push_str("\":{");
        push_type(out, param.kind);
        if let Some(default) = param.default {
            out.push_str(&format!(",\"default\":{default}"));
        }
        if !param.description.is_empty() {
            out.push_str(&format!(",\"description\":\"{}\"", param.description));
        }
        out.push('}');
    }
    out.push('}');
    let required = params.iter().filter(|param| param.is_required);
    push_words(out, "required", required.map(|param| param.name));
    out.push_str(",\"additionalProperties\":false");
}

/// Appends the fields of a value's schema that say what it may be.
fn push_type(out: &mut String, kind: Type) {
    match kind {
        Type::Text => out.push_str("\"type\":\"string\""),
        Type::NonEmpty => out.push_str("\"type\":\"string\",\"minLength\":1"),
        Type::OneOf(words) => {
            out.push_str("\"type\":\"string\"");
            push_words(out, "enum", words.iter().copied());
        }
        Type::Integer { min, max } => {
            out.push_str(&format!("\"type\":\"integer\",\"minimum\":{min}"));
            if let Some(max) = max {
                out.push_str(&format!(",\"maximum\":{max}"));
            }
        }
        Type::Number => out.push_str("\"type\":\"number\""),
        Type::Flag => out.push_str("\"type\":\"boolean\""),
        Type::List { of, min } => {
            out.push_str("\"type\":\"array\",\"items\":{");
            push_type(out, *of);
            out.push('}');
            if min > 0 {
                out.push_str(&format!(",\"minItems\":{min}"));
            }
        }
        Type::Object(params) => push_object(out, params),
    }
}

/// Appends a field that lists some words, unless there are none.
fn push_words<'a>(out: &mut String, field: &str, words: impl Iterator<Item = &'a str>) {
    let mut before = format!(",\"{field}\":[");
    let mut any = false;
    for word in words {
        out.push_str(&format!("{before}\"{word}\""));
        before = String::from(",");
        any = true;
    }
    if any {
        out.push(']');
    }
}
