//! Shapes: the text with which a derive describes a type, shared by the functions that read and
//! write. A table of names would take a pointer for each of them.
//!
//! A struct is its fields, `..,"x":!,"y":=old_y,"more":+`: behind a field stands `!` if it must be
//! there, `+` if its own fields stand in its place, and behind each `=` a further name that is
//! read. With `.` at the start an unknown field is an error; with `..` it is passed over.
//!
//! An enum is its form and its variants, `type|"stop":|"text":=|"read":=.,"path":!,"limit":`. A
//! variant with `=` holds a value, and a struct's text behind it says that it is fields. The form
//! is the field that names the variant beside its own fields; without one the variant's name is the
//! key of an object around them, and with `{}` also where there are none; with `*` the content
//! alone is written.

use crate::list::IntoList;
use alloc::vec::Vec;

/// The fields of a variant that has none.
pub(crate) const EMPTY: &str = "..";

/// The fields of a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StructShape {
    /// The marks before the fields; `..` if unknown fields are passed over.
    head: &'static str,
    fields: &'static str,
}

/// The variants of an enum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnumShape {
    form: &'static str,
    variants: &'static str,
}

/// The entries of a list that are still to come, each behind the list's separator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeEntries {
    rest: &'static str,
    place: usize,
}

/// A field or a variant in a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeEntry {
    /// The number of the field or variant.
    pub(crate) place: usize,
    /// The separator, the name in quotes, and a colon.
    start: &'static str,
    more: &'static str,
}

impl StructShape {
    pub(crate) fn of(text: &'static str) -> Self {
        let (head, fields) = cut(text, b',', 0);
        Self { head, fields }
    }

    /// Returns the fields in order.
    pub(crate) const fn fields(self) -> ShapeEntries {
        ShapeEntries { rest: self.fields, place: 0 }
    }

    /// Returns whether an unknown field is an error.
    pub(crate) fn is_closed(self) -> bool {
        self.head != ".."
    }

    /// Returns the place of the field `name`. It is looked for among `next` first, as fields mostly
    /// come in their order.
    pub(crate) fn find(self, name: &str, next: &mut ShapeEntries) -> Option<usize> {
        let found = next.find(|field| field.is(name)).or_else(|| {
            *next = self.fields();
            next.find(|field| field.is(name))
        });
        found.map(|field| field.place)
    }

    /// Returns the names of the fields.
    pub(crate) fn names(self) -> Vec<&'static str> {
        self.fields().names()
    }
}

impl EnumShape {
    pub(crate) fn of(text: &'static str) -> Self {
        let (form, variants) = cut(text, b'|', 0);
        Self { form, variants }
    }

    /// Returns the variant that begins at `start` in an enum's text. Its place is always 0.
    pub(crate) fn at(text: &'static str, start: usize) -> Option<ShapeEntry> {
        Self { form: "", variants: text.get(start..)? }.entries().next()
    }

    /// Returns the variants in order.
    pub(crate) const fn entries(self) -> ShapeEntries {
        ShapeEntries { rest: self.variants, place: 0 }
    }

    /// Returns the field that names the variant, beside its own fields; empty if the variant's name
    /// is the key of an object around it.
    pub(crate) fn tag(self) -> &'static str {
        if self.is_keyed() || self.is_untagged() { "" } else { self.form }
    }

    /// Returns whether a variant without content is written as an object, too.
    pub(crate) fn is_keyed(self) -> bool {
        self.form == "{}"
    }

    /// Returns whether the content alone is written.
    pub(crate) fn is_untagged(self) -> bool {
        self.form == "*"
    }

    /// Returns the names of the variants.
    pub(crate) fn names(self) -> Vec<&'static str> {
        self.entries().names()
    }
}

impl ShapeEntries {
    fn names(self) -> Vec<&'static str> {
        self.map(ShapeEntry::name).into_list()
    }
}

impl Iterator for ShapeEntries {
    type Item = ShapeEntry;

    fn next(&mut self) -> Option<ShapeEntry> {
        let separator = *self.rest.as_bytes().first()?;
        let (start, behind) = cut(self.rest, b':', 1);
        let (more, rest) = cut(behind, separator, 0);
        let place = self.place;
        self.rest = rest;
        self.place += 1;
        Some(ShapeEntry { place, start, more })
    }
}

impl ShapeEntry {
    /// Returns the name of the field or variant.
    pub(crate) fn name(self) -> &'static str {
        self.start.get(2..self.start.len().saturating_sub(2)).unwrap_or_default()
    }

    /// Returns a field as JSON writes it behind another one: a comma, its name in quotes, and a
    /// colon.
    pub(crate) const fn key(self) -> &'static str {
        self.start
    }

    /// Returns the content of a variant: a struct's text, or an empty one for a value.
    pub(crate) fn content(self) -> Option<&'static str> {
        self.more.strip_prefix('=')
    }

    /// Returns whether the field is read under that name.
    fn is(self, name: &str) -> bool {
        self.name() == name || self.more.split('=').skip(1).any(|more| more == name)
    }

    /// Returns whether the field must be there.
    pub(crate) fn is_required(self) -> bool {
        self.more.starts_with('!')
    }

    /// Returns whether the field's own fields stand in its place.
    pub(crate) fn is_flattened(self) -> bool {
        self.more.starts_with('+')
    }
}

/// Splits a text at the first `byte`, or `more` bytes behind that.
fn cut(text: &'static str, byte: u8, more: usize) -> (&'static str, &'static str) {
    let at = text.bytes().position(|other| other == byte);
    let at = at.map_or(text.len(), |at| at + more);
    text.split_at_checked(at).unwrap_or_default()
}
