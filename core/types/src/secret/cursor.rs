//! The text that is searched, byte by byte. It may be cut before its end.
//!
//! A rule that looks at a byte behind the cut has decided nothing, whatever it returns. So it need
//! not tell: the text notes it, and the place is looked at again when more has come.

use core::{cell::Cell, ops::Range};

/// A secret in a text.
#[derive(Clone, Debug)]
pub(super) struct FoundSecret {
    /// The range of its bytes.
    pub(super) range: Range<usize>,
    /// The name of its kind.
    pub(super) kind: &'static str,
}

/// The text that is searched, with what came before it.
pub(super) struct ScanText<'t> {
    before: &'t [u8],
    bytes: &'t [u8],
    /// True if nothing comes after these bytes.
    pub(super) is_end: bool,
    /// True if a byte behind the cut was looked at.
    is_over: Cell<bool>,
}

impl<'t> ScanText<'t> {
    pub(super) const fn new(before: &'t [u8], bytes: &'t [u8], is_end: bool) -> Self {
        Self { before, bytes, is_end, is_over: Cell::new(false) }
    }

    /// Returns a text that is whole.
    pub(super) const fn whole(text: &'t str) -> Self {
        Self::new(&[], text.as_bytes(), true)
    }

    /// Returns the number of bytes.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether a byte behind the cut was looked at since the last call.
    pub(super) fn was_cut(&self) -> bool {
        self.is_over.replace(false) && !self.is_end
    }

    /// Returns the place behind the literal, which begins at `at`.
    pub(super) fn literal(&self, at: usize, literal: &[u8]) -> Option<usize> {
        let mut bytes = (at..).zip(literal);
        bytes.all(|(at, byte)| self.peek(at) == *byte).then_some(at + literal.len())
    }

    /// Returns the byte at a place; 0 at the end of the text.
    // Rules call it wherever they go, and seldom run: one copy is enough.
    #[inline(never)]
    pub(super) fn peek(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_else(|| {
            self.is_over.set(true);
            0
        })
    }

    /// Returns the byte that stands `count` bytes before a place; 0 if the text begins later.
    #[inline(never)]
    pub(super) fn back(&self, at: usize, count: usize) -> u8 {
        let byte = match at.checked_sub(count) {
            Some(at) => self.bytes.get(at),
            None => (self.before.len() + at).checked_sub(count).and_then(|at| self.before.get(at)),
        };
        byte.copied().unwrap_or(0)
    }

    /// Returns the bytes of a range.
    pub(super) fn part(&self, range: Range<usize>) -> &'t [u8] {
        self.bytes.get(range).unwrap_or_default()
    }
}

/// Returns the first place of `needle` in the bytes, at `from` or later.
// By hand, as each search of `str` for another kind of needle brings kilobytes of its own.
pub(super) fn position(bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| byte == first)? + 1;
        if bytes.get(at..)?.starts_with(rest) {
            return Some(at - 1);
        }
    }
}
