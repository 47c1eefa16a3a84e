//! Opaque JSON: text that is known to be one JSON value and is otherwise left alone.

use alloc::{borrow::ToOwned, boxed::Box, string::String};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One JSON value, kept as its text: numbers, key order and white space stay as they came.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Checks that `text` is one JSON value and keeps it.
    ///
    /// # Errors
    /// What `serde_json` says about the text, with line and column.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// The value's text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl Default for Json {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json {}
