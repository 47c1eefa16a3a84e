//! The SHA-256 digest by which modules of the registry are pinned and files of the workspace are
//! compared. Its text is lower-case hexadecimal.

use sha2::{Digest as _, Sha256};
use std::{
    fmt,
    io::{self, Read},
};

/// A SHA-256 digest; shown in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Makes a digest of its bytes, which were computed before.
    pub const fn known(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Returns the digest of all that is left to read.
    ///
    /// # Errors
    /// The reader's, but for interruptions.
    pub fn of_rest(mut from: impl Read) -> io::Result<Self> {
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(Self(hash.finalize().into())),
                Ok(count) => hash.update(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the digest that a text shows; `None` if the text is not one.
    pub(crate) fn parse(shown: &str) -> Option<Self> {
        let mut digest = [0; 32];
        let (pairs, rest) = shown.as_bytes().as_chunks::<2>();
        if pairs.len() != digest.len() || !rest.is_empty() {
            return None;
        }
        for (byte, pair) in digest.iter_mut().zip(pairs) {
            // Rust's parser of numbers would take `+f` for a byte.
            let hex = str::from_utf8(pair).ok().filter(|hex| !hex.starts_with('+'))?;
            *byte = u8::from_str_radix(hex, 16).ok()?;
        }
        Some(Self(digest))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
