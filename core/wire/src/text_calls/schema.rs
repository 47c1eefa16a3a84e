//! What a tool's schema says about its arguments, as far as text must be turned to JSON by it.

use super::super::lenient::{Document, Raw};
use alloc::boxed::Box;
use innerloop_json::Map;
use innerloop_types::{json::Json, text::listed};

/// How deep schemas are looked into.
const DEPTH: u32 = 16;

/// The types that a value may have, and its parts.
#[derive(Debug, Default)]
pub(super) struct Schema {
    types: Types,
    properties: Option<Map<Self>>,
    items: Option<Box<Self>>,
}

/// What a schema's type may be, under any of the names that schemas use. What is more special
/// comes first.
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

/// Several types, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    /// The types in the order in which they are tried.
    pub(super) fn iter(self) -> impl Iterator<Item = Type> {
        use Type::{Array, Boolean, Integer, Null, Number, Object, String};
        let all = [Null, Boolean, Integer, Number, Array, Object, String];
        all.into_iter().filter(move |kind| self.has(*kind))
    }

    /// Whether that type is among them.
    pub(super) const fn has(self, kind: Type) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Whether that type is the only one.
    pub(super) const fn is_only(self, kind: Type) -> bool {
        self.0 == 1 << kind as u8
    }

    /// Whether nothing is known.
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn add(&mut self, kind: Type) {
        self.0 |= 1 << kind as u8;
    }
}

impl Schema {
    /// Reads a schema.
    pub(super) fn of(schema: &Json) -> Self {
        let mut found = Self::default();
        found.collect(Document::of(schema.text()).root(), DEPTH);
        found
    }

    fn collect(&mut self, schema: Raw<'_>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        const NAMES: [&str; 8] =
            ["type", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items"];
        let [kind, any, one, all, choices, only, properties, items] = schema.fields(&NAMES);
        for name in kind.items().filter_map(Raw::string) {
            if let Some(kind) = by_name(&name) {
                self.types.add(kind);
            }
        }
        for branch in [any, one, all].into_iter().flat_map(Raw::elements) {
            self.collect(branch, depth);
        }
        if kind.is_null() {
            for value in choices.elements().chain(only.some()) {
                self.types.add(of_value(value));
            }
            if !properties.is_null() {
                self.types.add(Type::Object);
            }
            if !items.is_null() {
                self.types.add(Type::Array);
            }
        }
        if !properties.is_null() {
            let known = self.properties.get_or_insert_default();
            for (name, property) in properties.entries() {
                let mut part = Self::default();
                part.collect(property, depth);
                known.insert(name.into_owned(), part);
            }
        }
        if items.is_object() {
            self.items.get_or_insert_default().collect(items, depth);
        }
    }

    /// Whether it says which properties there are.
    pub(super) const fn has_properties(&self) -> bool {
        self.properties.is_some()
    }

    /// Whether it has a property of that name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.property(name).is_some()
    }

    /// What a property may be.
    pub(super) fn property(&self, name: &str) -> Option<&Self> {
        self.properties.as_ref()?.get(name)
    }

    /// What an entry of a list may be.
    pub(super) fn entry(&self) -> Option<&Self> {
        self.items.as_deref()
    }

    /// The types of the value itself.
    pub(super) const fn own_types(&self) -> Types {
        self.types
    }

    /// The types of a property.
    pub(super) fn types(&self, name: &str) -> Types {
        self.property(name).map(Self::own_types).unwrap_or_default()
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
