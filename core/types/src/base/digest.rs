//! A short digest of bytes (FNV-1a, 64 bits): the same on every host, good against damage, not
//! against malice.

use alloc::{format, string::String};

/// A digest while it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestBuilder(pub u64);

impl DigestBuilder {
    /// Of nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut digest = Self::new();
        bytes.iter().for_each(|&byte| digest.byte(byte));
        digest
    }

    /// 16 hexadecimal digits.
    #[must_use]
    pub fn text(self) -> String {
        format!("{:016x}", self.0)
    }

    /// Takes a further byte.
    pub const fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

impl Default for DigestBuilder {
    fn default() -> Self {
        Self::new()
    }
}
