//! What a derive says of a type: one text, which the reading and the writing functions share. A
//! table of names would take a pointer for each of them.
//!
//! A struct is its name and its fields, `Point:!x,y=old_y,+more,..`: behind `!` stands a field that
//! must be there, behind `+` one whose own fields stand in its place, behind `=` a further name
//! that is read. Without `..` at the end an unknown field is an error; else it is passed over.
//!
//! An enum is its form and its variants, `type|stop|text=|read=Read:!path,limit`. A variant with
//! `=` holds a value, and a struct's text behind it says that it is fields. The form is the field
//! that names the variant beside its own fields; without one the variant's name is the key of an
//! object around them, and with `{}` also where there are none; with `*` the content alone is
//! written.

use alloc::{format, string::String};

/// The fields of a variant that has none.
pub(crate) const EMPTY: &str = ":..";

/// A struct's fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The type's name.
    pub(crate) name: &'static str,
    fields: &'static str,
}

/// An enum's variants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variants {
    form: &'static str,
    variants: &'static str,
}

/// The entries of a list that are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entries {
    rest: &'static str,
    separator: u8,
    place: usize,
}

/// A field or a variant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Which it is.
    pub(crate) place: usize,
    mark: u8,
    pub(crate) name: &'static str,
    /// A field's further names; what a variant holds, and none if that is nothing.
    pub(crate) more: Option<&'static str>,
}

impl Shape {
    pub(crate) fn of(text: &'static str) -> Self {
        let (name, fields) = cut(text, b':');
        Self { name, fields: fields.unwrap_or_default() }
    }

    /// The fields, in order.
    pub(crate) const fn fields(self) -> Entries {
        Entries { rest: self.fields, separator: b',', place: 0 }
    }

    /// Whether an unknown field is an error.
    pub(crate) fn is_closed(self) -> bool {
        !self.fields.ends_with("..")
    }

    /// The place of the field `name`, looked for among `next` first: mostly fields come in their
    /// order.
    pub(crate) fn find(self, name: &str, next: &mut Entries) -> Option<usize> {
        let found = next.find(|field| field.is(name)).or_else(|| {
            *next = self.fields();
            next.find(|field| field.is(name))
        });
        found.map(|field| field.place)
    }

    /// Why the field `name` is refused.
    pub(crate) fn unknown(self, name: &str) -> String {
        if self.fields.is_empty() {
            return format!("unknown field `{name}`, there are no fields");
        }
        format!("unknown field `{name}`, expected {}", one_of(self.fields()))
    }
}

impl Variants {
    pub(crate) fn of(text: &'static str) -> Self {
        let (form, variants) = cut(text, b'|');
        Self { form, variants: variants.unwrap_or_default() }
    }

    /// The variant that begins at `start` in an enum's text. Its place is not told.
    pub(crate) fn at(text: &'static str, start: usize) -> Option<Entry> {
        Self { form: "", variants: text.get(start..)? }.entries().next()
    }

    /// The variants, in order.
    pub(crate) const fn entries(self) -> Entries {
        Entries { rest: self.variants, separator: b'|', place: 0 }
    }

    /// The field that names the variant, beside its own fields; empty where the variant's name is
    /// the key of an object around it.
    pub(crate) fn tag(self) -> &'static str {
        if self.is_keyed() || self.is_untagged() { "" } else { self.form }
    }

    /// Whether a variant without content is written as an object, too.
    pub(crate) fn is_keyed(self) -> bool {
        self.form == "{}"
    }

    /// Whether the content alone is written.
    pub(crate) fn is_untagged(self) -> bool {
        self.form == "*"
    }

    /// What is expected.
    pub(crate) fn expected(self) -> String {
        one_of(self.entries())
    }
}

impl Iterator for Entries {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.rest.is_empty() {
            return None;
        }
        let (text, rest) = cut(self.rest, self.separator);
        let place = self.place;
        self.rest = rest.unwrap_or_default();
        self.place += 1;
        let mark = text.bytes().next().unwrap_or_default();
        let name =
            if matches!(mark, b'!' | b'+') { text.get(1..).unwrap_or_default() } else { text };
        let (name, more) = cut(name, b'=');
        Some(Entry { place, mark, name, more })
    }
}

impl Entry {
    /// Whether the field is read under that name.
    fn is(self, name: &str) -> bool {
        self.name == name || self.more.is_some_and(|more| more.split('=').any(|more| more == name))
    }

    /// Whether the field must be there.
    pub(crate) fn is_required(self) -> bool {
        self.mark == b'!'
    }

    /// Whether the field's own fields stand in its place.
    pub(crate) fn is_flattened(self) -> bool {
        self.mark == b'+'
    }
}

/// What stands before the first `separator`, and what behind it.
fn cut(text: &'static str, separator: u8) -> (&'static str, Option<&'static str>) {
    match text.bytes().position(|byte| byte == separator) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    }
}

/// `` `a` ``, `` `a` or `b` ``, or `` one of `a`, `b`, `c` ``.
fn one_of(entries: Entries) -> String {
    let count = entries.count();
    let mut text = String::from(if count > 2 { "one of " } else { "" });
    for entry in entries {
        text.push_str(match (entry.place, count) {
            (0, _) => "",
            (_, 2) => " or ",
            _ => ", ",
        });
        text.push('`');
        text.push_str(entry.name);
        text.push('`');
    }
    text
}
