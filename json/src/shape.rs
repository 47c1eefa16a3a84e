//! What a derive says of a type, as tables that the reading and the writing functions share.

use alloc::{format, string::String};

/// A struct's fields.
#[derive(Debug)]
pub struct Shape {
    /// The type's name.
    pub name: &'static str,
    /// The fields' names, in order.
    pub fields: &'static [&'static str],
    /// Further names that are read, each with its field's place.
    pub aliases: &'static [(&'static str, usize)],
    /// A bit for each field that must be there.
    pub required: u64,
    /// A bit for each field whose own fields stand in its place.
    pub flattened: u64,
    /// Whether an unknown field is an error; else it is passed over.
    pub is_closed: bool,
}

/// An enum's variants.
#[derive(Debug)]
pub struct Variants {
    /// The field that names the variant, beside its own fields; empty where the variant's name is
    /// the key of an object around it.
    pub tag: &'static str,
    /// Whether a variant without content is written as an object, too.
    pub is_keyed: bool,
    /// Whether the content alone is written.
    pub is_untagged: bool,
    /// The variants, in order.
    pub variants: &'static [Variant],
}

/// A variant of an enum.
#[derive(Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub form: Form,
}

/// What a variant holds.
#[derive(Debug)]
pub enum Form {
    /// Nothing.
    Unit,
    /// One value.
    Newtype,
    /// Fields.
    Fields(&'static Shape),
}

impl Shape {
    /// No fields.
    pub(crate) const EMPTY: Self =
        Self { name: "", fields: &[], aliases: &[], required: 0, flattened: 0, is_closed: false };

    /// The place of the field `name`, looked for from the place `from` on: mostly fields come in
    /// their order.
    pub(crate) fn find(&self, name: &str, from: usize) -> Option<usize> {
        let order = (from..self.fields.len()).chain(0..from);
        let mut named = order.filter(|&at| self.fields.get(at).is_some_and(|field| *field == name));
        let alias = || self.aliases.iter().find(|(alias, _)| *alias == name).map(|(_, at)| *at);
        named.next().or_else(alias)
    }

    /// Why the field `name` is refused.
    pub(crate) fn unknown(&self, name: &str) -> String {
        match self.fields {
            [] => format!("unknown field `{name}`, there are no fields"),
            fields => {
                format!("unknown field `{name}`, expected {}", one_of(fields.iter().copied()))
            }
        }
    }
}

impl Variants {
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|variant| variant.name == name)
    }

    /// What is expected.
    pub(crate) fn expected(&self) -> String {
        one_of(self.variants.iter().map(|variant| variant.name))
    }
}

/// `` `a` ``, `` `a` or `b` ``, or `` one of `a`, `b`, `c` ``.
fn one_of<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = names.len();
    let mut text = String::from(if count > 2 { "one of " } else { "" });
    for (index, name) in names.enumerate() {
        text.push_str(match (index, count) {
            (0, _) => "",
            (_, 2) => " or ",
            _ => ", ",
        });
        text.push('`');
        text.push_str(name);
        text.push('`');
    }
    text
}
