//! A short digest of bytes (FNV-1a, 64 bits), for snapshots, signatures of calls and files that the
//! model knows. It is the same on every host. It detects damage, not tampering.

use alloc::{format, string::String};

/// A digest of the bytes that were added so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// The standard library's hashers are no alternative: their results may differ between versions, and
// this one is stored in snapshots and handed to hosts and tools.
pub struct DigestBuilder(pub u64);

impl DigestBuilder {
    /// Creates the digest of no bytes.
    #[must_use]
    pub const fn new() -> Self {
        // The offset basis of FNV-1a for 64 bits; the factor below is its prime.
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Returns the digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut digest = Self::new();
        bytes.iter().for_each(|&byte| digest.byte(byte));
        digest
    }

    /// Returns the digest as 16 hexadecimal digits.
    #[must_use]
    pub fn text(self) -> String {
        // Leading zeros stay, so that digests compare as texts.
        format!("{:016x}", self.0)
    }

    /// Adds a byte to the digest.
    pub const fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

impl Default for DigestBuilder {
    fn default() -> Self {
        Self::new()
    }
}
