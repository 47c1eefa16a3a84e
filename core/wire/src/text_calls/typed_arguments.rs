//! Arguments that come as plain text, each turned to the JSON that its schema wants. What does
//! not fit stays a string; nothing is made up.

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
    /// No arguments yet.
    pub(super) fn new(name: &str, schema: Rc<ArgumentSchema>) -> Self {
        Self { name: name.into(), schema, fields: ObjectFields::default() }
    }

    /// Adds an argument whose text is bent to its schema. The last of equal names stands.
    pub(super) fn push(&mut self, name: &str, text: &str) {
        let json = typed(text, self.schema.types(name));
        self.fields.set(name).raw(&json);
    }

    /// Adds an argument of which the format says that it is text.
    pub(super) fn push_text(&mut self, name: &str, text: &str) {
        self.fields.set(name).string(text);
    }

    /// Adds an argument of which the format says that it is JSON, not text.
    pub(super) fn push_value(&mut self, name: &str, text: &str) {
        let json = match self.schema.types(name) {
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

    /// Returns what the tool's schema says.
    pub(super) fn schema(&self) -> &ArgumentSchema {
        &self.schema
    }

    /// The call.
    pub(super) fn finish(self) -> ToolCall {
        let arguments = self.unwrapped().unwrap_or_else(|| {
            let mut out = JsonWriter::new();
            self.fields.write(&mut out);
            out.0
        });
        call(&self.name, arguments)
    }

    /// All arguments in one that the schema does not know: models wrap them so.
    fn unwrapped(&self) -> Option<String> {
        let (name, value) = self.fields.only()?;
        if !matches!(name, "arguments" | "input") || self.schema.knows(name) {
            return None;
        }
        let value = value.root();
        let text = value.string().unwrap_or(Cow::Borrowed(value.json()));
        let inner = JsonDocument::of(&text);
        let inner = inner.root();
        let knows_all = || inner.names().all(|name| self.schema.knows(&name));
        (self.schema.has_properties() && inner.is_object() && knows_all()).then(|| text.into())
    }
}

/// The JSON that `text` stands for.
pub(super) fn typed(text: &str, types: TypeSet) -> String {
    steps::count(text.len());
    let plain = text.trim();
    if plain.eq_ignore_ascii_case("null") {
        return String::from("null");
    }
    types.iter().find_map(|wanted| bent(plain, wanted)).unwrap_or_else(|| quoted(text))
}

fn bent(plain: &str, wanted: SchemaType) -> Option<String> {
    match wanted {
        SchemaType::Boolean if plain.eq_ignore_ascii_case("true") => Some(String::from("true")),
        SchemaType::Boolean if plain.eq_ignore_ascii_case("false") => Some(String::from("false")),
        SchemaType::Integer => whole(plain),
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

/// JSON that was escaped once too often: `{\"a\": 1}`.
fn unescaped(plain: &str) -> Option<String> {
    let wrapped = alloc::format!("\"{plain}\"");
    let wrapped = JsonDocument::of(&wrapped);
    let text = wrapped.root().string()?;
    is_json(&text).then(|| text.into())
}

fn whole(plain: &str) -> Option<String> {
    let number = plain.parse::<i64>().map(|number| number.to_string());
    number.or_else(|_| plain.parse::<u64>().map(|number| number.to_string())).ok()
}
