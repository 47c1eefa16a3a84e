//! Writing JSON without white space, with the bytes that `serde_json` writes.

use crate::{
    number::{Number, push_f64},
    strings::push_string,
};
use alloc::string::String;

/// JSON text while it is written.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    out: String,
    /// The tag and name that the next object begins with.
    pub(crate) tag: Option<(&'static str, &'static str)>,
    /// Whether the next object's fields belong to the one around it.
    pub(crate) is_flattened: bool,
}

impl Writer {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { out: String::new(), tag: None, is_flattened: false }
    }

    /// What is written.
    #[must_use]
    pub fn finish(self) -> String {
        self.out
    }

    /// What is written so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.out
    }

    /// Writes text that is JSON.
    pub fn raw(&mut self, json: &str) {
        self.out.push_str(json);
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.raw("null");
    }

    /// Writes `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Writes a number.
    pub fn number(&mut self, number: impl Into<Number>) {
        number.into().push_to(&mut self.out);
    }

    /// Writes a floating number; `null` for one that is not finite.
    pub fn f64(&mut self, number: f64) {
        push_f64(&mut self.out, number);
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        push_string(&mut self.out, text);
    }

    /// Begins an object.
    pub fn object(&mut self) {
        self.out.push('{');
    }

    /// Writes a key; its value comes next.
    pub fn key(&mut self, name: &str) {
        self.element();
        self.string(name);
        self.out.push(':');
    }

    /// Ends an object.
    pub fn end_object(&mut self) {
        self.out.push('}');
    }

    /// Begins an array.
    pub fn array(&mut self) {
        self.out.push('[');
    }

    /// Writes what stands before the next element, which comes next.
    pub fn element(&mut self) {
        // No value ends with an opening bracket.
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
    }

    /// Ends an array.
    pub fn end_array(&mut self) {
        self.out.push(']');
    }
}
