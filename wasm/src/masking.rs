//! Takes the key out of what comes in: an endpoint may echo it, and what the core is told ends
//! in events and snapshots.

/// What stands where the key stood.
const MASK: &str = "***";

/// Shorter keys are left alone: they could be part of any text.
const SHORTEST: usize = 8;

/// Masks one key in a stream of bytes, wherever the pieces cut it.
#[derive(Debug)]
pub(crate) struct Masking<'a> {
    key: &'a str,
    /// The end of what came, as far as it is the beginning of the key.
    held: Vec<u8>,
}

impl<'a> Masking<'a> {
    /// A masking of `key`.
    pub(crate) const fn new(key: &'a str) -> Self {
        Self { key, held: Vec::new() }
    }

    /// What may be handed on now that `piece` has come.
    pub(crate) fn push(&mut self, piece: Vec<u8>) -> Vec<u8> {
        if self.key.len() < SHORTEST {
            return piece;
        }
        self.held.extend_from_slice(&piece);
        let mut out = Vec::with_capacity(self.held.len());
        for byte in core::mem::take(&mut self.held) {
            self.held.push(byte);
            while !self.key.as_bytes().starts_with(&self.held) {
                out.push(self.held.remove(0));
            }
            if self.held.len() == self.key.len() {
                out.extend_from_slice(MASK.as_bytes());
                self.held.clear();
            }
        }
        out
    }

    /// What was held back, when no more comes.
    pub(crate) fn end(self) -> Vec<u8> {
        self.held
    }
}

/// `text` without the key.
pub(crate) fn masked(key: &str, text: String) -> String {
    if key.len() < SHORTEST { text } else { text.replace(key, MASK) }
}
