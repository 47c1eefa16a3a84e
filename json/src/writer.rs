//! A writer of JSON without white space, with the bytes that `serde_json` writes.

use crate::number::{Number, push_f64};
use alloc::string::String;
use innerloop_json_scan::push_string;

/// JSON text that is being written.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    out: String,
    /// The tag and name that the next object begins with.
    pub(crate) tag: Option<(&'static str, &'static str)>,
    /// True if the next object's fields belong to the one around it.
    pub(crate) is_flattened: bool,
}

impl Writer {
    /// Creates a writer with an empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self { out: String::new(), tag: None, is_flattened: false }
    }

    /// Returns the whole text.
    #[must_use]
    pub fn finish(self) -> String {
        self.out
    }

    /// Returns the text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.out
    }

    /// Appends text that is JSON.
    pub fn raw(&mut self, json: &str) {
        self.out.push_str(json);
    }

    /// Writes the value `null`.
    pub fn null(&mut self) {
        self.raw("null");
    }

    /// Writes `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Writes a number in its shortest form.
    pub fn number(&mut self, number: impl Into<Number>) {
        number.into().push_to(&mut self.out);
    }

    /// Writes a floating number; `null` if it is not finite.
    pub fn f64(&mut self, number: f64) {
        push_f64(&mut self.out, number);
    }

    /// Writes a string with its quotes.
    pub fn string(&mut self, text: &str) {
        push_string(&mut self.out, text);
    }

    /// Begins an object with its bracket.
    pub fn object(&mut self) {
        self.raw("{");
    }

    /// Writes a key; its value comes next.
    pub fn key(&mut self, name: &str) {
        self.element();
        self.string(name);
        self.raw(":");
    }

    /// Writes the key of a field, given with the comma that it has behind another one.
    pub(crate) fn field(&mut self, key: &str) {
        self.raw(if self.is_behind() { key } else { key.get(1..).unwrap_or_default() });
    }

    /// Ends an object with its bracket.
    pub fn end_object(&mut self) {
        self.raw("}");
    }

    /// Begins an array with its bracket.
    pub fn array(&mut self) {
        self.raw("[");
    }

    /// Writes the comma before the next element, if one is needed.
    pub fn element(&mut self) {
        if self.is_behind() {
            self.raw(",");
        }
    }

    /// Returns whether an element comes before the next one.
    fn is_behind(&self) -> bool {
        // The text itself tells it: no value ends with an opening bracket. So nested values need no
        // stack.
        !matches!(self.out.as_bytes().last(), Some(b'{' | b'['))
    }

    /// Ends an array with its bracket.
    pub fn end_array(&mut self) {
        self.raw("]");
    }
}
