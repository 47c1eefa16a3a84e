//! Taking keys out of text: whole, as a stream that is cut anywhere, and inside JSON. What goes
//! into a session ends in events, logs, snapshots and requests, so keys are taken out before.

use crate::key::{Key, MASK};
use alloc::{borrow::Cow, string::String, sync::Arc, vec, vec::Vec};
use core::fmt;
use innerloop_core::json::{from_str, to_string};

/// A shorter key could be part of ordinary text, and is no secret worth the name.
const SHORTEST: usize = 8;

/// All keys that must not be seen. Clones share them.
#[derive(Clone, Default)]
pub struct Keys(Arc<[Pattern]>);

/// A text to be found, with the table of the algorithm of Knuth, Morris and Pratt.
struct Pattern {
    text: String,
    /// For each length of a match, that of the longest shorter match that ends in the same place.
    shorter: Vec<usize>,
}

impl Keys {
    /// These keys; those of fewer than 8 characters are left out.
    #[must_use]
    pub fn new<'a>(keys: impl Iterator<Item = &'a Key>) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for key in keys.map(Key::expose).filter(|key| key.len() >= SHORTEST) {
            // Some writers of JSON escape the slash.
            for text in [String::from(key), key.replace('/', "\\/")] {
                if !texts.contains(&text) {
                    // A key that is part of another must not break it up before it is found.
                    let place = texts.partition_point(|known| known.len() > text.len());
                    texts.insert(place, text);
                }
            }
        }
        Self(texts.into_iter().map(Pattern::new).collect())
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `text` with [`MASK`] for each key.
    #[must_use]
    pub fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, pattern| {
            if text.contains(&pattern.text) {
                Cow::Owned(text.replace(&pattern.text, MASK))
            } else {
                text
            }
        })
    }

    /// Masks `text` in its place.
    pub fn mask(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.masked(text) {
            *text = masked;
        }
    }

    /// JSON text with the keys masked in its strings, however they are escaped; nothing if no key
    /// is there.
    #[must_use]
    pub fn masked_json(&self, json: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut out = String::new();
        let (mut done, mut rest) = (0, json);
        while let Some(open) = rest.find('"') {
            let start = json.len() - rest.len() + open;
            let literal = literal(json.get(start..).unwrap_or_default());
            if let Some(masked) = self.masked_literal(literal) {
                out.push_str(json.get(done..start).unwrap_or_default());
                out.push_str(&masked);
                done = start + literal.len();
            }
            rest = json.get(start + literal.len()..).unwrap_or_default();
        }
        (done > 0).then(|| {
            out.push_str(json.get(done..).unwrap_or_default());
            out
        })
    }

    /// A string of JSON, in its quotes, without the keys that it holds; nothing if it holds none.
    fn masked_literal(&self, literal: &str) -> Option<String> {
        if !literal.contains('\\') {
            return owned(self.masked(literal));
        }
        match from_str::<String>(literal) {
            Ok(text) => owned(self.masked(&text)).map(|text| to_string(&text)),
            Err(_) => owned(self.masked(literal)),
        }
    }
}

fn owned(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// The string that `json` begins with, quotes included; all of it if its end is missing.
fn literal(json: &str) -> &str {
    let mut escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.and_then(|end| json.get(..end + 2)).unwrap_or(json)
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Pattern {
    fn new(text: String) -> Self {
        let bytes = text.as_bytes();
        let mut shorter = vec![0; bytes.len() + 1];
        let mut length = 0;
        for (at, byte) in bytes.iter().enumerate().skip(1) {
            while length > 0 && bytes.get(length) != Some(byte) {
                length = shorter.get(length).copied().unwrap_or(0);
            }
            length += usize::from(bytes.get(length) == Some(byte));
            if let Some(entry) = shorter.get_mut(at + 1) {
                *entry = length;
            }
        }
        Self { text, shorter }
    }

    /// Appends to `out` what is known not to belong to a match, with [`MASK`] for each match.
    /// `matched` is how much of the pattern the bytes so far end with.
    fn mask(&self, matched: &mut usize, bytes: &[u8], out: &mut Vec<u8>) {
        let pattern = self.text.as_bytes();
        for byte in bytes {
            while *matched > 0 && pattern.get(*matched) != Some(byte) {
                let shorter = self.shorter.get(*matched).copied().unwrap_or(0);
                out.extend(pattern.iter().take(*matched - shorter));
                *matched = shorter;
            }
            if pattern.get(*matched) == Some(byte) {
                *matched += 1;
            } else {
                out.push(*byte);
            }
            if *matched == pattern.len() {
                out.extend_from_slice(MASK.as_bytes());
                *matched = 0;
            }
        }
    }
}

/// Masks a stream of bytes, wherever it is cut: what may be the beginning of a key is held back.
#[derive(Clone, Default)]
pub struct Masking {
    keys: Keys,
    /// For each key, how much of it the stream ends with so far.
    matched: Vec<usize>,
}

impl Masking {
    /// The masking of a stream that begins.
    #[must_use]
    pub fn new(keys: &Keys) -> Self {
        Self { keys: keys.clone(), matched: vec![0; keys.0.len()] }
    }

    /// The bytes that may go on after `piece` has come.
    #[must_use]
    pub fn push(&mut self, piece: Vec<u8>) -> Vec<u8> {
        let patterns = self.keys.0.iter().zip(&mut self.matched);
        patterns.fold(piece, |piece, (pattern, matched)| {
            let mut out = Vec::with_capacity(piece.len());
            pattern.mask(matched, &piece, &mut out);
            out
        })
    }

    /// As [`Masking::push`] for text, which stays text: a key begins and ends between characters.
    #[must_use]
    pub fn push_text(&mut self, piece: String) -> String {
        text(self.push(piece.into_bytes()))
    }

    /// The bytes that were held back, when no more come.
    #[must_use]
    pub fn end(&mut self) -> Vec<u8> {
        let mut held = Vec::new();
        for (pattern, matched) in self.keys.0.iter().zip(&mut self.matched) {
            // What the keys before held back goes through this one.
            let mut out = Vec::new();
            pattern.mask(matched, &held, &mut out);
            out.extend(pattern.text.bytes().take(core::mem::take(matched)));
            held = out;
        }
        held
    }

    /// As [`Masking::end`] for text.
    #[must_use]
    pub fn end_text(&mut self) -> String {
        text(self.end())
    }
}

impl fmt::Debug for Masking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Masking")
    }
}

fn text(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}
