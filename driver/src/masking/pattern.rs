//! The search for a key, or a piece of it, in bytes. Every few bytes, a word of the text is looked
//! up in the key; if the key has it, text and key are compared to both sides of it. All that goes
//! into a session is searched, so the time must grow only with the length of the text.

use alloc::{string::String, vec::Vec};
use core::ops::Range;
use innerloop_core::secret::mask_key;

/// The number of bytes of a word, which are looked up at once. No piece is shorter.
const WORD: usize = 8;
/// The minimum length of a piece that is masked; a shorter key is masked only as a whole. The
/// prefix that all keys of a kind share, such as `sk-ant-api03-`, is shorter.
const PIECE: usize = 14;

/// A slash in the escaped form that some writers of JSON use.
const ESCAPED_SLASH: &str = "\\/";

/// A key in one way of writing it, prepared for the search.
pub(super) struct KeyPattern {
    text: String,
    /// True if its slashes are escaped: then a piece counts only if it has an escaped slash.
    is_escaped: bool,
    /// The number of bytes of the key that count as a piece of it.
    piece: usize,
    /// A set of hashes of the key's words, with a bit for each hash.
    words: [u64; 16],
}

impl KeyPattern {
    /// Adds a key, and before it its escaped form if that is another: longer ones come first.
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
        // At least a word: `find` looks at words only, and its step must not be less than 1.
        let piece = text.len().clamp(WORD, PIECE);
        Self { text, is_escaped, piece, words }
    }

    /// Returns `text` with masks in place of the key and its pieces; `None` if it holds none.
    pub(super) fn masked(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        while let Some(found) = self.find(text.as_bytes(), done) {
            out.push_str(text.get(done..found.start).unwrap_or_default());
            out.push_str(&mask_key(text.as_bytes().get(found.clone()).unwrap_or_default()));
            done = found.end;
        }
        (done > 0).then(|| {
            out.push_str(text.get(done..).unwrap_or_default());
            out
        })
    }

    /// Returns the first piece of the key in `text` that begins at `from` or later, at its full
    /// length. The time grows with the length of the text: each byte is compared at most as often
    /// as its word stands in the key.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let mut at = from;
        // A piece has `step` words in a row, so that looking at every `step`-th place misses none.
        let step = self.piece - WORD + 1;
        while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let (index, bit) = hash(word);
            // Hashes of two words may be equal. `around` compares bytes, so that costs time only.
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
        // Without an escaped slash it may be part of a longer piece in the plain form, which is
        // searched for after this one. Masked here, the rest of that piece could be too short to be
        // found.
        let found = text.get(found.clone()).unwrap_or_default();
        let mut pairs = found.windows(ESCAPED_SLASH.len());
        !self.is_escaped || pairs.any(|pair| pair == ESCAPED_SLASH.as_bytes())
    }

    /// Returns the longest piece of the key that holds the word of the text at `at` and does not
    /// begin before `from`; it is empty if the key does not have the word.
    fn around(&self, text: &[u8], from: usize, at: usize) -> Range<usize> {
        let (before, rest) = text.get(from..).unwrap_or_default().split_at(at - from);
        let word = rest.get(..WORD).unwrap_or_default();
        let key = self.text.as_bytes();
        // At every place where the key has the word, since keys repeat themselves: the first place
        // may give a shorter piece, and the rest of the key would be shown.
        let places = key.windows(WORD).enumerate().filter(|(_, window)| *window == word);
        let pieces = places.map(|(place, _)| {
            let (key_before, key_rest) = key.split_at(place);
            let start = at - alike(before.iter().rev(), key_before.iter().rev());
            start..at + alike(rest.iter(), key_rest.iter())
        });
        pieces.max_by_key(Range::len).unwrap_or(at..at)
    }

    /// Returns the number of bytes of `text` before its longest end that more bytes may turn into a
    /// piece of the key.
    pub(super) fn begins_before(&self, text: &[u8]) -> usize {
        let key = self.text.as_bytes();
        let ends = (1..=key.len()).filter_map(|end| key.get(..end));
        // The cheap test first: this runs with every chunk, and of most keys no end fits.
        let ends = ends.filter(|key| key.last() == text.last());
        let held = ends.map(|key| alike(text.iter().rev(), key.iter().rev())).max();
        text.len() - held.unwrap_or(0)
    }
}

/// Returns how many bytes are the same from the first on.
fn alike<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// Returns the index and the bit of a word in the set of hashes.
fn hash(word: &[u8; WORD]) -> (usize, u64) {
    // Fibonacci hashing: the topmost ten bits of the product depend on all bits of the word. Six
    // of them name the bit, four the index.
    let hash = u64::from_le_bytes(*word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}
