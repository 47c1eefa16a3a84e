//! A provider's key. Printing it shows a mask; only [`ApiKey::expose`] returns its text, for the
//! one header that it belongs in. Which keys are too simple to be masked in text is decided here,
//! too.

use alloc::{borrow::ToOwned, format, string::String};
use core::fmt;

/// The text that printing a key shows.
pub(crate) const MASK: &str = "***";

/// The minimum number of bytes of a key that is masked: a shorter one could be part of ordinary
/// text.
const SHORTEST: usize = 12;

/// A key of a provider. Its `Debug` and `Display` show three stars.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Makes a key of `key`, without the white space around it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        // Keys are read from files and pasted: a line feed at the end is no part of one, and would
        // make the header invalid.
        Self(key.trim().to_owned())
    }

    /// Returns whether the key is empty: the endpoint needs none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the key is too simple to be masked in text: shorter than 12 characters, or
    /// of letters, `-`, `_`, `.` and spaces alone. People give such keys, `placeholder` or
    /// `not-needed`, to servers that want none; the same words stand in ordinary text and in the
    /// names of files.
    #[must_use]
    pub fn is_simple(&self) -> bool {
        // The mask in place of a word can do harm: in `rm -rf cache/placeholder`, say
        // (`docs/decisions.md#keys`).
        // Beyond ASCII all counts as a letter: the tables of Unicode are long, and such a key fits
        // no header.
        let is_of_word = |c: char| {
            c.is_ascii_alphabetic() || !c.is_ascii() || matches!(c, '-' | '_' | '.' | ' ')
        };
        self.0.len() < SHORTEST || self.0.chars().all(is_of_word)
    }

    /// Returns the key's text, for the one header that it belongs in.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the header's value: `prefix` and the key.
    pub(crate) fn behind(&self, prefix: &str) -> Self {
        Self(format!("{prefix}{}", self.0))
    }

    /// Returns whether the key can stand in a header as it is.
    pub(crate) fn fits_header(&self) -> bool {
        // A line feed would begin another header. Quotes and backslashes are valid there, but
        // JSON escapes them, and masking looks for a key as it is, or with escaped slashes.
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
