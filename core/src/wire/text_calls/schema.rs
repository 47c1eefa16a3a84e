//! What a tool's schema says about its arguments, as far as text must be turned to JSON by it.

use super::super::lenient::{Document, Raw};
use crate::base::{json::Json, text::listed};
use alloc::vec::Vec;
use innerloop_json::Map;

/// How deep choices within a property's schema are looked into.
const DEPTH: u32 = 8;

/// The types that each of a tool's arguments may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Schema(Option<Map<Vec<Type>>>);

/// What a schema's type may be, under any of the names that schemas use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    Array,
    Object,
    String,
}

impl Type {
    /// What is more special comes first.
    const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::Integer,
        Self::Number,
        Self::Array,
        Self::Object,
        Self::String,
    ];
}

impl Schema {
    /// Reads a schema.
    pub(super) fn of(schema: &Json) -> Self {
        let schema = Document::of(schema.text());
        let properties = schema.root().field("properties");
        let mut known = Map::new();
        for (name, property) in properties.entries() {
            let mut types = Vec::new();
            collect(property, &mut types, DEPTH);
            let in_order = Type::ALL.into_iter().filter(|kind| types.contains(kind));
            known.insert(name.into_owned(), in_order.collect());
        }
        Self((!properties.is_null()).then_some(known))
    }

    /// Whether it says which properties there are.
    pub(super) const fn has_properties(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it has a property of that name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|known| known.contains_key(name))
    }

    /// The types of a property, in the order in which they are tried.
    pub(super) fn types(&self, name: &str) -> &[Type] {
        self.0.as_ref().and_then(|known| known.get(name)).map(Vec::as_slice).unwrap_or_default()
    }
}

fn collect(schema: Raw<'_>, found: &mut Vec<Type>, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    const NAMES: [&str; 8] =
        ["type", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items"];
    let [kind, any, one, all, choices, only, properties, items] = schema.fields(&NAMES);
    let names = kind.items().filter_map(Raw::string);
    found.extend(names.filter_map(|name| by_name(&name)));
    for branch in [any, one, all].into_iter().flat_map(Raw::elements) {
        collect(branch, found, depth);
    }
    if kind.is_null() {
        let values = choices.elements().chain(only.some());
        found.extend(values.map(of_value));
        found.extend((!properties.is_null()).then_some(Type::Object));
        found.extend((!items.is_null()).then_some(Type::Array));
    }
}

fn of_value(value: Raw<'_>) -> Type {
    match value.json().as_bytes().first() {
        Some(b'n') => Type::Null,
        Some(b't' | b'f') => Type::Boolean,
        Some(b'"') => Type::String,
        Some(b'[') => Type::Array,
        Some(b'{') => Type::Object,
        _ if value.json().contains(['.', 'e', 'E']) => Type::Number,
        _ => Type::Integer,
    }
}

fn by_name(name: &str) -> Option<Type> {
    const BEGINNINGS: [(&str, Type); 6] = [
        ("bool|binary", Type::Boolean),
        ("int|uint|long|short|unsigned", Type::Integer),
        ("num|float|double|decimal", Type::Number),
        ("arr|list|tuple", Type::Array),
        ("obj|dict|map", Type::Object),
        ("str|text|varchar|char|enum", Type::String),
    ];
    let name = name.trim().to_ascii_lowercase();
    if name == "null" {
        return Some(Type::Null);
    }
    let begins = |words| listed(words).any(|word| name.starts_with(word));
    BEGINNINGS.iter().find(|(words, _)| begins(words)).map(|&(_, kind)| kind)
}
