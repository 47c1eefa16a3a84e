//! Finding a key, or a piece of it, in bytes. Every few bytes a word of the text is looked up in
//! the key; where it stands there, text and key are compared to both sides of it.

use crate::secret_key::MASK;
use alloc::{string::String, vec::Vec};
use core::ops::Range;

/// The number of bytes that are looked up at once. No piece is shorter.
const WORD: usize = 8;
/// A piece of this length counts as the key; of a shorter key, only the whole. What keys of one
/// kind have in common, such as `sk-ant-api03-`, is shorter.
const PIECE: usize = 14;

/// A slash as some writers of JSON escape it.
const ESCAPED_SLASH: &str = "\\/";

/// A key to be found.
pub(super) struct KeyPattern {
    text: String,
    /// True if its slashes are escaped: it is found only where that makes a difference.
    is_escaped: bool,
    /// The number of bytes of the key that count as a piece of it.
    piece: usize,
    /// A bit for each hash of a word of the key.
    words: [u64; 16],
}

impl KeyPattern {
    /// Adds a key, and the form in which it is escaped, if that is another; longer ones first.
    pub(super) fn add(key: &str, patterns: &mut Vec<Self>) {
        if key.contains('/') {
            patterns.push(Self::new(key.replace('/', ESCAPED_SLASH), true));
        }
        patterns.push(Self::new(key.into(), false));
    }

    fn new(text: String, is_escaped: bool) -> Self {
        let mut words = [0; 16];
        for word in text.as_bytes().windows(WORD).filter_map(<[u8]>::first_chunk) {
            let (index, bit) = hash(word);
            if let Some(bits) = words.get_mut(index) {
                *bits |= bit;
            }
        }
        let piece = text.len().clamp(WORD, PIECE);
        Self { text, is_escaped, piece, words }
    }

    /// `text` with [`MASK`] for the key and its pieces; nothing if it holds none.
    pub(super) fn masked(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        while let Some(found) = self.find(text.as_bytes(), done) {
            out.push_str(text.get(done..found.start).unwrap_or_default());
            out.push_str(MASK);
            done = found.end;
        }
        (done > 0).then(|| {
            out.push_str(text.get(done..).unwrap_or_default());
            out
        })
    }

    /// The first piece of the key in `text` that begins at `from` or later, as long as it goes.
    /// Takes a time that grows with the text: each byte of it is compared at most as often as its
    /// word stands in the key.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let mut at = from;
        // A piece holds a word at one of any `step` places that follow each other.
        let step = self.piece - WORD + 1;
        while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let (index, bit) = hash(word);
            if self.words.get(index).is_some_and(|bits| bits & bit != 0) {
                let found = self.around(text, from, at);
                if found.len() >= self.piece && self.counts(text, &found) {
                    return Some(found);
                }
            }
            at += step;
        }
        None
    }

    fn counts(&self, text: &[u8], found: &Range<usize>) -> bool {
        let found = text.get(found.clone()).unwrap_or_default();
        let mut pairs = found.windows(ESCAPED_SLASH.len());
        !self.is_escaped || pairs.any(|pair| pair == ESCAPED_SLASH.as_bytes())
    }

    /// The longest piece of the key that holds the word of the text at `at` and does not begin
    /// before `from`.
    fn around(&self, text: &[u8], from: usize, at: usize) -> Range<usize> {
        let (before, rest) = text.get(from..).unwrap_or_default().split_at(at - from);
        let word = rest.get(..WORD).unwrap_or_default();
        let key = self.text.as_bytes();
        let places = key.windows(WORD).enumerate().filter(|(_, window)| *window == word);
        let pieces = places.map(|(place, _)| {
            let (key_before, key_rest) = key.split_at(place);
            let start = at - alike(before.iter().rev(), key_before.iter().rev());
            start..at + alike(rest.iter(), key_rest.iter())
        });
        pieces.max_by_key(Range::len).unwrap_or(at..at)
    }

    /// Returns how much of `text` comes before an end of it that more bytes may make a piece of the
    /// key.
    pub(super) fn begins_before(&self, text: &[u8]) -> usize {
        let key = self.text.as_bytes();
        let ends = (1..=key.len()).filter_map(|end| key.get(..end));
        let ends = ends.filter(|key| key.last() == text.last());
        let held = ends.map(|key| alike(text.iter().rev(), key.iter().rev())).max();
        text.len() - held.unwrap_or(0)
    }
}

/// Returns how many bytes are the same from the beginning on.
fn alike<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// Returns where the bit of a word stands.
fn hash(word: &[u8; WORD]) -> (usize, u64) {
    let hash = u64::from_le_bytes(*word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}
