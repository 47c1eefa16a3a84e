//! JSON that is written by hand, so that its bytes are ours.

use crate::{base::json::push_string, types::message::ToolCall};
use alloc::vec::Vec;
use serde_json::Value;

/// JSON text while it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    /// Nothing yet.
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// How many bytes are written.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Text as it is.
    pub(super) fn raw(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// A string, quotes and all.
    pub(super) fn string(&mut self, text: &str) -> &mut Self {
        push_string(&mut self.0, text);
        self
    }

    /// A number.
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.raw(&alloc::format!("{number}"))
    }
}

/// A call's arguments as a JSON object. What is none cannot be sent; the call's error result
/// tells the model that it was refused.
pub(super) fn arguments_object(call: &ToolCall) -> &str {
    // A raw value may hold what no string can, such as half a surrogate pair.
    let value = serde_json::from_str::<Value>(&call.arguments);
    if value.is_ok_and(|value| value.is_object()) { call.arguments.trim() } else { "{}" }
}
