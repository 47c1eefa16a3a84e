//! The types that a tool's schema gives its arguments, as far as text must be converted to JSON by
//! them. What is not understood in a schema allows no type, and the text then stays a string.

use super::super::lenient::{JsonDocument, ValueRef};
use alloc::boxed::Box;
use innerloop_json::Map;
use innerloop_types::{json::Json, text::listed};

/// The maximum depth to which schemas are read: they come from outside, and reading them is
/// recursive.
const DEPTH: u32 = 16;

/// The types that a value may have, and those of its parts.
#[derive(Debug, Default)]
pub(super) struct ArgumentSchema {
    types: TypeSet,
    properties: Option<Map<Self>>,
    items: Option<Box<Self>>,
}

/// A type in a schema, under any of the names that schemas use. More special types come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaType {
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
pub(super) struct TypeSet(u8);

impl TypeSet {
    /// The types in the order in which they are tried.
    pub(super) fn iter(self) -> impl Iterator<Item = SchemaType> {
        use SchemaType::{Array, Boolean, Integer, Null, Number, Object, String};
        // The first type that fits the text is taken, so the string, which fits every text, is
        // last.
        let all = [Null, Boolean, Integer, Number, Array, Object, String];
        all.into_iter().filter(move |kind| self.has(*kind))
    }

    /// Returns whether that type is among them.
    pub(super) const fn has(self, kind: SchemaType) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Returns whether that type is the only one.
    pub(super) const fn is_only(self, kind: SchemaType) -> bool {
        self.0 == 1 << kind as u8
    }

    /// Returns whether nothing is known.
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn add(&mut self, kind: SchemaType) {
        self.0 |= 1 << kind as u8;
    }
}

impl ArgumentSchema {
    /// Reads the schema of a tool's arguments.
    pub(super) fn of(schema: &Json) -> Self {
        let mut found = Self::default();
        found.collect(JsonDocument::of(schema.text()).root(), DEPTH);
        found
    }

    fn collect(&mut self, schema: ValueRef<'_>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        const NAMES: [&str; 8] =
            ["type", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "items"];
        let [kind, any, one, all, choices, only, properties, items] = schema.fields(&NAMES);
        for name in kind.items().filter_map(ValueRef::string) {
            if let Some(kind) = by_name(&name) {
                self.types.add(kind);
            }
        }
        // A union for `allOf`, too: a type too many costs a try, a type too few leaves a number as
        // a string.
        for branches in [any, one, all] {
            for branch in branches.elements() {
                self.collect(branch, depth);
            }
        }
        // These only matter without a `type`: an integer with an `enum` is an integer, whatever the
        // values.
        if kind.is_null() {
            for value in choices.elements().chain(only.some()) {
                self.types.add(of_value(value));
            }
            if !properties.is_null() {
                self.types.add(SchemaType::Object);
            }
            if !items.is_null() {
                self.types.add(SchemaType::Array);
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

    /// Returns whether the schema says which properties there are.
    pub(super) const fn has_properties(&self) -> bool {
        self.properties.is_some()
    }

    /// Returns whether the schema has a property of that name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.property(name).is_some()
    }

    /// Returns the schema of a property.
    pub(super) fn property(&self, name: &str) -> Option<&Self> {
        self.properties.as_ref()?.get(name)
    }

    /// Returns the schema of a list's entries.
    pub(super) fn entry(&self) -> Option<&Self> {
        self.items.as_deref()
    }

    /// Returns the types of the value itself.
    pub(super) const fn own_types(&self) -> TypeSet {
        self.types
    }

    /// Returns the types of a property; none if it is not known.
    pub(super) fn types(&self, name: &str) -> TypeSet {
        self.property(name).map(Self::own_types).unwrap_or_default()
    }
}

fn of_value(value: ValueRef<'_>) -> SchemaType {
    match value.json().as_bytes().first() {
        Some(b'n') => SchemaType::Null,
        Some(b't' | b'f') => SchemaType::Boolean,
        Some(b'"') => SchemaType::String,
        Some(b'[') => SchemaType::Array,
        Some(b'{') => SchemaType::Object,
        _ if value.json().contains(['.', 'e', 'E']) => SchemaType::Number,
        _ => SchemaType::Integer,
    }
}

fn by_name(name: &str) -> Option<SchemaType> {
    // Schemas made for other languages say `int32`, `long` or `varchar(20)`, so a name only has to
    // begin like one of these.
    const BEGINNINGS: [(&str, SchemaType); 6] = [
        ("bool|binary", SchemaType::Boolean),
        ("int|uint|long|short|unsigned", SchemaType::Integer),
        ("num|float|double|decimal", SchemaType::Number),
        ("arr|list|tuple", SchemaType::Array),
        ("obj|dict|map", SchemaType::Object),
        ("str|text|varchar|char|enum", SchemaType::String),
    ];
    let name = name.trim().to_ascii_lowercase();
    if name == "null" {
        return Some(SchemaType::Null);
    }
    let begins = |words| listed(words).any(|word| name.starts_with(word));
    BEGINNINGS.iter().find(|(words, _)| begins(words)).map(|&(_, kind)| kind)
}
