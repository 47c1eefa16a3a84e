//! Arguments that come as plain text, each turned to the JSON that its schema wants. What does
//! not fit stays a string; nothing is made up.

use super::{found::call, literal};
use crate::{base::json::push_string, types::message::ToolCall};
use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use serde_json::Value;

/// A call whose arguments are collected one by one.
#[derive(Debug)]
pub(super) struct Typed {
    name: String,
    schema: Option<Value>,
    /// Names and their JSON, in order.
    fields: Vec<(String, String)>,
    /// Where each name stands among them.
    places: BTreeMap<String, usize>,
}

impl Typed {
    /// No arguments yet.
    pub(super) fn new(name: &str, schema: Option<Value>) -> Self {
        Self { name: name.into(), schema, fields: Vec::new(), places: BTreeMap::new() }
    }

    /// Adds an argument whose text is bent to its schema. The last of equal names stands.
    pub(super) fn push(&mut self, name: &str, text: &str) {
        let json = typed(text, self.property(name));
        self.push_json(name, json);
    }

    /// Adds an argument of which the format says that it is text.
    pub(super) fn push_text(&mut self, name: &str, text: &str) {
        self.push_json(name, quoted(text));
    }

    /// Adds an argument of which the format says that it is JSON, not text.
    pub(super) fn push_value(&mut self, name: &str, text: &str) {
        let json = match self.property(name) {
            Some(schema) if types(schema) == [Type::String] => quoted(text),
            Some(schema) if !types(schema).is_empty() => typed(text, Some(schema)),
            _ if serde_json::from_str::<Value>(text).is_ok() => text.trim().to_string(),
            _ => literal::to_json(text).unwrap_or_else(|| quoted(text)),
        };
        self.push_json(name, json);
    }

    fn push_json(&mut self, name: &str, json: String) {
        let place = self.places.get(name).and_then(|&place| self.fields.get_mut(place));
        if let Some((_, old)) = place {
            *old = json;
        } else {
            self.places.insert(name.into(), self.fields.len());
            self.fields.push((name.into(), json));
        }
    }

    fn property(&self, name: &str) -> Option<&Value> {
        self.schema.as_ref()?.get("properties")?.get(name)
    }

    /// The call.
    pub(super) fn finish(self) -> ToolCall {
        if let Some(inner) = self.unwrapped() {
            return call(&self.name, inner);
        }
        let mut out = Vec::from(*b"{");
        for (index, (name, json)) in self.fields.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            push_string(&mut out, name);
            out.push(b':');
            out.extend_from_slice(json.as_bytes());
        }
        out.push(b'}');
        call(&self.name, String::from_utf8(out).unwrap_or_default())
    }

    /// All arguments in one that the schema does not know: models wrap them so.
    fn unwrapped(&self) -> Option<String> {
        let [(name, json)] = self.fields.as_slice() else { return None };
        if !matches!(name.as_str(), "arguments" | "input") || self.property(name).is_some() {
            return None;
        }
        let properties = self.schema.as_ref()?.get("properties")?;
        let text = match serde_json::from_str(json).ok()? {
            Value::String(text) => text,
            _ => json.clone(),
        };
        let Value::Object(inner) = serde_json::from_str(&text).ok()? else { return None };
        inner.keys().all(|key| properties.get(key).is_some()).then_some(text)
    }
}

/// What a schema's type may be, under any of the names that schemas use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    Array,
    Object,
    String,
}

/// The JSON that `text` stands for.
fn typed(text: &str, schema: Option<&Value>) -> String {
    let plain = text.trim();
    if plain.eq_ignore_ascii_case("null") {
        return String::from("null");
    }
    let wanted = schema.map(types).unwrap_or_default();
    wanted.into_iter().find_map(|wanted| bent(plain, wanted)).unwrap_or_else(|| quoted(text))
}

fn bent(plain: &str, wanted: Type) -> Option<String> {
    match wanted {
        Type::Boolean if plain.eq_ignore_ascii_case("true") => Some(String::from("true")),
        Type::Boolean if plain.eq_ignore_ascii_case("false") => Some(String::from("false")),
        Type::Integer => whole(plain),
        Type::Number => whole(plain).or_else(|| literal::number(plain)),
        Type::Array | Type::Object => {
            let json = match serde_json::from_str::<Value>(plain) {
                Ok(_) => plain.to_string(),
                Err(_) => literal::to_json(plain).or_else(|| unescaped(plain))?,
            };
            json.starts_with(['[', '{']).then_some(json)
        }
        Type::Null | Type::Boolean | Type::String => None,
    }
}

/// JSON that was escaped once too often: `{\"a\": 1}`.
fn unescaped(plain: &str) -> Option<String> {
    let text: String = serde_json::from_str(&alloc::format!("\"{plain}\"")).ok()?;
    serde_json::from_str::<Value>(&text).is_ok().then_some(text)
}

fn whole(plain: &str) -> Option<String> {
    let number = plain.parse::<i64>().map(|number| number.to_string());
    number.or_else(|_| plain.parse::<u64>().map(|number| number.to_string())).ok()
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

/// The types that a schema allows, in the order in which they are tried: what is more special
/// comes first.
fn types(schema: &Value) -> Vec<Type> {
    let mut found = Vec::new();
    collect(schema, &mut found, 8);
    found.sort_unstable();
    found.dedup();
    found
}

fn collect(schema: &Value, found: &mut Vec<Type>, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match schema.get("type") {
        Some(Value::String(name)) => found.extend(by_name(name)),
        Some(Value::Array(names)) => {
            found.extend(names.iter().filter_map(Value::as_str).filter_map(by_name));
        }
        _ => {}
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        let branches = schema.get(key).and_then(Value::as_array);
        for branch in branches.into_iter().flatten() {
            collect(branch, found, depth);
        }
    }
    if schema.get("type").is_none() {
        let choices = schema.get("enum").and_then(Value::as_array);
        found.extend(choices.into_iter().flatten().chain(schema.get("const")).map(of_value));
        if schema.get("properties").is_some() {
            found.push(Type::Object);
        }
        if schema.get("items").is_some() {
            found.push(Type::Array);
        }
    }
}

fn of_value(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Boolean,
        Value::Number(number) => {
            if number.is_f64() {
                Type::Number
            } else {
                Type::Integer
            }
        }
        Value::String(_) => Type::String,
        Value::Array(_) => Type::Array,
        Value::Object(_) => Type::Object,
    }
}

fn by_name(name: &str) -> Option<Type> {
    let name = name.trim().to_ascii_lowercase();
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    if name == "null" {
        Some(Type::Null)
    } else if begins(&["bool", "binary"]) {
        Some(Type::Boolean)
    } else if begins(&["int", "uint", "long", "short", "unsigned"]) {
        Some(Type::Integer)
    } else if begins(&["num", "float", "double", "decimal"]) {
        Some(Type::Number)
    } else if begins(&["arr", "list", "tuple"]) {
        Some(Type::Array)
    } else if begins(&["obj", "dict", "map"]) {
        Some(Type::Object)
    } else if begins(&["str", "text", "varchar", "char", "enum"]) {
        Some(Type::String)
    } else {
        None
    }
}
