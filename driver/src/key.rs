//! A key: the one value that may never show itself.

use alloc::{borrow::ToOwned, format, string::String};
use core::fmt;

pub use innerloop_core::action::MASK;

/// A key. Its `Debug` and `Display` show [`MASK`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Keeps `key`, without the white space around it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the one header that it belongs in.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is sent for the key: `prefix` and the key.
    pub(crate) fn behind(&self, prefix: &str) -> Self {
        Self(format!("{prefix}{}", self.0))
    }

    /// Whether it can stand in a header as it is.
    pub(crate) fn fits_header(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
