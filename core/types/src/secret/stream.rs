//! The masking of a stream that is cut anywhere. It holds back the end of what has come while that
//! may be the beginning of a secret; everything else goes through at once.

use super::{cursor::ScanText, scan::CONTEXT, scanner::SecretScanner};
use alloc::vec::Vec;
use core::{fmt, mem};

/// The maximum number of bytes that are held back. Only a private key can be longer.
const MAX_HELD: usize = 16 * 1024;

/// A masker of a stream of bytes: its pieces come out as the whole text would, however it is cut.
///
/// What looks like a private key of more than 16 KiB is the exception: no real one is that long,
/// and it is masked up to there.
#[derive(Clone, Default)]
pub struct SecretStream {
    /// The settings; without them the stream goes through.
    scanner: Option<SecretScanner>,
    held: Vec<u8>,
    /// The last bytes that came before those that are held.
    before: Vec<u8>,
    /// The length of the held bytes at which it is worth looking at them again.
    next_look: usize,
}

impl SecretStream {
    /// Makes the masker of a stream that begins.
    #[must_use]
    pub fn new(scanner: &SecretScanner) -> Self {
        Self { scanner: Some(scanner.clone()), ..Self::default() }
    }

    /// Takes the next piece of the stream and returns the bytes that are decided by it.
    #[must_use]
    pub fn push(&mut self, piece: Vec<u8>) -> Vec<u8> {
        if self.held.is_empty() {
            // Nearly always: the piece goes through without being copied.
            return self.advance(piece, false);
        }
        self.held.extend(piece);
        if self.held.len() < self.next_look {
            return Vec::new();
        }
        let bytes = mem::take(&mut self.held);
        self.advance(bytes, false)
    }

    /// Returns the bytes that were held back, masked; call it when no more come.
    #[must_use]
    pub fn end(&mut self) -> Vec<u8> {
        let bytes = mem::take(&mut self.held);
        let out = self.advance(bytes, true);
        // As at the beginning, for the next stream.
        self.before.clear();
        out
    }

    fn advance(&mut self, mut bytes: Vec<u8>, is_end: bool) -> Vec<u8> {
        let Some(scanner) = &self.scanner else { return bytes };
        let mut out = Vec::new();
        let text = ScanText::new(&self.before, &bytes, is_end);
        let (mut done, mut end) = scanner.mask_into(&text, &mut out, &mut Vec::new());
        if bytes.len() - end > MAX_HELD {
            out.clear();
            let text = ScanText::new(&self.before, &bytes, true);
            (done, end) = scanner.mask_into(&text, &mut out, &mut Vec::new());
        }
        let (gone, rest) = bytes.split_at(end);
        self.held = rest.to_vec();
        // Not with every byte that comes: a stream of single bytes would be read again and again.
        self.next_look = rest.len() + rest.len() / 8;
        self.before
            .extend_from_slice(gone.get(gone.len().saturating_sub(CONTEXT)..).unwrap_or(&[]));
        self.before.drain(..self.before.len().saturating_sub(CONTEXT));
        bytes.truncate(end);
        if done == 0 {
            return bytes;
        }
        out.extend_from_slice(bytes.get(done..).unwrap_or_default());
        out
    }
}

impl fmt::Debug for SecretStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretStream")
    }
}
