//! A key: the one value that may never show itself.

use alloc::{borrow::ToOwned, format, string::String};
use core::fmt;

pub use innerloop_core::action::MASK;

/// A shorter key could be part of ordinary text.
const SHORTEST: usize = 12;

/// A key. Its `Debug` and `Display` show [`MASK`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Keeps `key`, without the white space around it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Returns whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether it is too simple to be taken out of text: shorter than 12 characters, or of
    /// letters, `-`, `_`, `.` and spaces alone. People give such keys, `placeholder` or
    /// `not-needed`, to servers that want none; they stand in ordinary text and in the names of
    /// files.
    #[must_use]
    pub fn is_simple(&self) -> bool {
        let is_of_word = |c: char| c.is_alphabetic() || matches!(c, '-' | '_' | '.' | ' ');
        self.0.len() < SHORTEST || self.0.chars().all(is_of_word)
    }

    /// The key itself, for the one header that it belongs in.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns what is sent for the key: `prefix` and the key.
    pub(crate) fn behind(&self, prefix: &str) -> Self {
        Self(format!("{prefix}{}", self.0))
    }

    /// Returns whether it can stand in a header as it is.
    pub(crate) fn fits_header(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
