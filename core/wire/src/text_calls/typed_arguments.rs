//! Arguments that come as plain text, each converted to the JSON that its schema wants. Readers of
//! elements and of Gemma's calls collect them in a `TypedCall`. What does not fit the schema stays
//! a string, so that the model is told of it; nothing is made up.

use super::{
    super::{
        lenient::{JsonDocument, is_json},
        writer::{JsonWriter, ObjectFields},
    },
    literal,
    schema::{ArgumentSchema, SchemaType, TypeSet},
    text_findings::call,
};
use alloc::{
    borrow::Cow,
    rc::Rc,
    string::{String, ToString},
};
use innerloop_json::quoted;
use innerloop_types::{message::ToolCall, steps};

/// A call whose arguments are collected one by one.
#[derive(Debug)]
pub(super) struct TypedCall {
    name: String,
    schema: Rc<ArgumentSchema>,
    fields: ObjectFields,
}

impl TypedCall {
    /// Creates a call without arguments.
    pub(super) fn new(name: &str, schema: Rc<ArgumentSchema>) -> Self {
        Self { name: name.into(), schema, fields: ObjectFields::default() }
    }

    /// Adds an argument whose text is converted to its schema's type. Of equal names the last
    /// counts.
    pub(super) fn push(&mut self, name: &str, text: &str) {
        let json = typed(text, self.schema.types(name));
        self.fields.set(name).raw(&json);
    }

    /// Adds an argument that the format declares to be text.
    pub(super) fn push_text(&mut self, name: &str, text: &str) {
        self.fields.set(name).string(text);
    }

    /// Adds an argument that the format declares to be JSON, not text.
    pub(super) fn push_value(&mut self, name: &str, text: &str) {
        let json = match self.schema.types(name) {
            // The tool takes nothing but a string there, whatever the tag says.
            types if types.is_only(SchemaType::String) => quoted(text),
            types if !types.is_empty() => typed(text, types),
            _ if is_json(text) => text.trim().to_string(),
            _ => literal::to_json(text).unwrap_or_else(|| quoted(text)),
        };
        self.fields.set(name).raw(&json);
    }

    /// Adds an argument whose JSON is known.
    pub(super) fn push_json(&mut self, name: &str, json: &str) {
        self.fields.set(name).raw(json);
    }

    /// Returns the schema of the tool's arguments.
    pub(super) fn schema(&self) -> &ArgumentSchema {
        &self.schema
    }

    /// Returns the call.
    pub(super) fn finish(self) -> ToolCall {
        let arguments = self.unwrapped().unwrap_or_else(|| {
            let mut out = JsonWriter::new();
            self.fields.write(&mut out);
            out.0
        });
        call(&self.name, arguments)
    }

    /// Returns the arguments that are wrapped in a single one which the schema does not know, as
    /// some models do.
    fn unwrapped(&self) -> Option<String> {
        let (name, value) = self.fields.only()?;
        if !matches!(name, "arguments" | "input") || self.schema.knows(name) {
            return None;
        }
        let value = value.root();
        let text = value.string().unwrap_or(Cow::Borrowed(value.json()));
        let inner = JsonDocument::of(&text);
        let inner = inner.root();
        // Only if the schema knows everything inside: otherwise the model may have meant the one
        // argument.
        let knows_all = || inner.names().all(|name| self.schema.knows(&name));
        (self.schema.has_properties() && inner.is_object() && knows_all()).then(|| text.into())
    }
}

/// Returns the JSON that `text` stands for.
pub(super) fn typed(text: &str, types: TypeSet) -> String {
    steps::count(text.len());
    let plain = text.trim();
    if plain.eq_ignore_ascii_case("null") {
        return String::from("null");
    }
    // As a string it keeps the white space around it, which other types do not have.
    types.iter().find_map(|wanted| bent(plain, wanted)).unwrap_or_else(|| quoted(text))
}

fn bent(plain: &str, wanted: SchemaType) -> Option<String> {
    match wanted {
        SchemaType::Boolean if plain.eq_ignore_ascii_case("true") => Some(String::from("true")),
        SchemaType::Boolean if plain.eq_ignore_ascii_case("false") => Some(String::from("false")),
        SchemaType::Integer => whole(plain),
        // Whole numbers first: a float would lose the last digits of a long one.
        SchemaType::Number => whole(plain).or_else(|| literal::number(plain)),
        SchemaType::Array | SchemaType::Object => {
            let json = match is_json(plain) {
                true => plain.to_string(),
                false => literal::to_json(plain).or_else(|| unescaped(plain))?,
            };
            json.starts_with(['[', '{']).then_some(json)
        }
        SchemaType::Null | SchemaType::Boolean | SchemaType::String => None,
    }
}

/// Undoes the escapes of JSON that was escaped once too often: `{\"a\": 1}`.
fn unescaped(plain: &str) -> Option<String> {
    let wrapped = alloc::format!("\"{plain}\"");
    let wrapped = JsonDocument::of(&wrapped);
    let text = wrapped.root().string()?;
    is_json(&text).then(|| text.into())
}

fn whole(plain: &str) -> Option<String> {
    // Written anew, since `007` and `+7` are integers for models but not in JSON.
    let number = plain.parse::<i64>().map(|number| number.to_string());
    number.or_else(|_| plain.parse::<u64>().map(|number| number.to_string())).ok()
}
