//! The digest that masks bear. It rolls: the digest of each window of a text follows from that of
//! the window before, so that a key without a shape is found by its length and digest alone.

/// The modulus. It is a prime below half a word, so that products fit.
const PRIME: u64 = (1 << 31) - 1;

/// The digest with a salt. It is not cryptographic: it hides a secret because it keeps only 24 bits
/// of it, and its masks cannot be forged because the salt is not shown.
#[derive(Clone, Copy)]
pub(super) struct SaltedDigest {
    base: u64,
    salt: u64,
}

impl SaltedDigest {
    pub(super) fn new(salt: u64) -> Self {
        let salt = mixed(salt);
        // More than any byte, so that two texts of a few bytes differ.
        Self { base: salt % (PRIME - 512) + 512, salt: mixed(salt) }
    }

    /// Returns the digest of keys that are known by their text.
    pub(super) fn of_keys() -> Self {
        Self::new(0)
    }

    /// Returns the digest of the bytes, of 24 bits.
    pub(super) fn of(self, bytes: &[u8]) -> u32 {
        self.finished(bytes.iter().fold(0, |sum, byte| self.with(sum, *byte)), bytes.len())
    }

    /// Calls `see` with the start and the digest of each window of so many bytes.
    pub(super) fn windows(self, bytes: &[u8], len: usize, see: &mut dyn FnMut(usize, u32)) {
        // The weight of a window's first byte at the time when it leaves.
        let weight = (0..len).fold(1, |weight, _| times_plus(weight, self.base, 0));
        let mut sum = 0;
        for (end, byte) in (1_usize..).zip(bytes) {
            sum = self.with(sum, *byte);
            let leaving = end.checked_sub(len + 1).and_then(|at| bytes.get(at));
            if let Some(byte) = leaving {
                // Minus the weight is plus its complement.
                sum = times_plus(PRIME - weight, u64::from(*byte) + 1, sum);
            }
            if end >= len {
                see(end - len, self.finished(sum, len));
            }
        }
    }

    fn with(self, sum: u64, byte: u8) -> u64 {
        // One more, so that zeros at the start count.
        times_plus(sum, self.base, u64::from(byte) + 1)
    }

    fn finished(self, sum: u64, len: usize) -> u32 {
        // Texts of several lengths have one sum as seldom as those of one.
        let len = u64::try_from(len).unwrap_or(0);
        u32::try_from(mixed(sum ^ len << 48 ^ self.salt) >> 40).unwrap_or(0)
    }
}

/// Returns the product, and the sum with `plus`, modulo the prime.
const fn times_plus(one: u64, other: u64, plus: u64) -> u64 {
    (one * other + plus) % PRIME
}

/// Returns the bits in disorder: the last step of SplitMix64.
fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
