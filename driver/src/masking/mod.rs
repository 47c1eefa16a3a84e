//! The masking of keys and of pieces of keys in text: in a whole text, in a stream that is cut
//! anywhere, and inside of JSON. What goes into a session comes out in events, logs, snapshots and
//! requests, so keys are masked before. A stream is masked as the whole text would be, however it
//! is cut.

mod pattern;

use crate::secret_key::{ApiKey, MASK};
use alloc::{borrow::Cow, string::String, sync::Arc, vec, vec::Vec};
use core::{fmt, mem, ops::Range};
use innerloop_core::{
    json::{from_str, to_string},
    secret::{SecretStream, mask_key},
};
use pattern::KeyPattern;

/// The set of keys that must not be shown. Clones share it.
#[derive(Clone, Default)]
pub struct SecretKeys(Arc<[KeyPattern]>);

impl SecretKeys {
    /// Makes the set of these keys, without those that are [simple](ApiKey::is_simple).
    #[must_use]
    pub fn new<'a>(keys: impl Iterator<Item = &'a ApiKey>) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        for text in keys.filter(|key| !key.is_simple()).map(ApiKey::expose) {
            if !texts.contains(&text) {
                // Longer keys first: one that is part of another would break that up, and the rest
                // of it would not be found.
                let place = texts.partition_point(|known| known.len() > text.len());
                texts.insert(place, text);
            }
        }
        let mut patterns = Vec::new();
        texts.iter().for_each(|text| KeyPattern::add(text, &mut patterns));
        Self(patterns.into())
    }

    /// Returns whether there are no keys to mask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `text` with a mask in place of each key, and of each piece of 14 characters or more:
    /// a tool or a server may have cut the text within a key.
    #[must_use]
    pub fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, pattern| match pattern.masked(&text) {
            Some(masked) => Cow::Owned(masked),
            None => text,
        })
    }

    /// Masks `text` in place.
    pub fn mask(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.masked(text) {
            *text = masked;
        }
    }

    /// Returns JSON text with the keys masked in its strings, however they are escaped; `None` if
    /// it holds no key.
    #[must_use]
    pub fn masked_json(&self, json: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        masked_strings(json, &mut |text| owned(self.masked(text)))
    }
}

/// Returns JSON text with its strings masked; `None` if none of them is changed. `masked` returns a
/// text as it is to be shown, or `None` if it stays.
pub(crate) fn masked_strings(
    json: &str,
    masked: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    // String by string, without parsing: everything between stays byte for byte, numbers of any
    // length and the order of fields included, and JSON that a model wrote badly is masked too.
    let mut out = String::new();
    let (mut done, mut rest) = (0, json);
    while let Some(open) = rest.find('"') {
        let start = json.len() - rest.len() + open;
        let literal = literal(json.get(start..).unwrap_or_default());
        if let Some(masked) = masked_literal(literal, masked) {
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

/// Returns a string of JSON, in its quotes, as it is to be shown; `None` if it stays.
fn masked_literal(literal: &str, masked: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    // A string without escapes is its own text, and most are: no copy is made of them.
    if !literal.contains('\\') {
        return masked(literal);
    }
    match from_str::<String>(literal) {
        Ok(text) => masked(&text).map(|text| to_string(&text)),
        // Its end is missing or an escape is wrong: masked as it is written, which misses no key
        // but one that is escaped.
        Err(_) => masked(literal),
    }
}

pub(crate) fn owned(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// Returns the string that `json` begins with, quotes included; all of `json` if its end is
/// missing.
fn literal(json: &str) -> &str {
    let mut escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.and_then(|end| json.get(..end + 2)).unwrap_or(json)
}

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// A masker of a stream of bytes that is cut anywhere: it holds back the end of what has come while
/// that may be the beginning of a key's piece, or of a secret.
#[derive(Clone, Default)]
pub struct StreamMasker {
    keys: SecretKeys,
    /// The end of the stream that is held back, for each key.
    held: Vec<Vec<u8>>,
    secrets: SecretStream,
}

impl StreamMasker {
    /// Makes the masker of a stream that begins.
    #[must_use]
    pub fn new(keys: &SecretKeys) -> Self {
        let (keys, held) = (keys.clone(), vec![Vec::new(); keys.0.len()]);
        Self { keys, held, secrets: SecretStream::default() }
    }

    /// Masks secrets, too, once keys are masked.
    pub(crate) fn with_secrets(self, secrets: SecretStream) -> Self {
        Self { secrets, ..self }
    }

    /// Takes the next piece of the stream and returns the bytes that are decided by it.
    #[must_use]
    pub fn push(&mut self, piece: Vec<u8>) -> Vec<u8> {
        // One key after the other, each with a tail of its own: what one lets through may still be
        // the beginning of the next.
        let patterns = self.keys.0.iter().zip(&mut self.held);
        let piece = patterns.fold(piece, |piece, (pattern, held)| push(pattern, held, piece));
        if cfg!(feature = "firewall") { self.secrets.push(piece) } else { piece }
    }

    /// As [`StreamMasker::push`] for text, which stays valid text: a key begins and ends between
    /// characters.
    #[must_use]
    pub fn push_text(&mut self, piece: String) -> String {
        text(self.push(piece.into_bytes()))
    }

    /// Returns the bytes that were held back; call it when no more come.
    #[must_use]
    pub fn end(&mut self) -> Vec<u8> {
        let patterns = self.keys.0.iter().zip(&mut self.held);
        let rest = patterns.fold(Vec::new(), |before, (pattern, held)| {
            // What the keys before held back goes through this one, too.
            let mut out = push(pattern, held, before);
            let rest = mem::take(held);
            // Held as a piece that could have become longer, or as less than a piece.
            match pattern.find(&rest, 0) {
                Some(found) => {
                    out.extend_from_slice(rest.get(..found.start).unwrap_or_default());
                    out.extend_from_slice(&masked_piece(&rest, &found));
                    out.extend_from_slice(rest.get(found.end..).unwrap_or_default());
                }
                None => out.extend(rest),
            }
            out
        });
        if !cfg!(feature = "firewall") {
            return rest;
        }
        let mut out = self.secrets.push(rest);
        out.extend(self.secrets.end());
        out
    }

    /// As [`StreamMasker::end`] for text.
    #[must_use]
    pub fn end_text(&mut self) -> String {
        text(self.end())
    }
}

/// Returns the bytes of a stream that a pattern lets through once `piece` has come, and keeps the
/// rest in `held`.
fn push(pattern: &KeyPattern, held: &mut Vec<u8>, piece: Vec<u8>) -> Vec<u8> {
    let mut bytes = mem::take(held);
    // Without a tail, which is nearly always, a piece goes through without being copied.
    if bytes.is_empty() {
        bytes = piece;
    } else {
        bytes.extend(piece);
    }
    let mut out = Vec::new();
    let mut done = 0;
    while let Some(found) = pattern.find(&bytes, done) {
        out.extend_from_slice(bytes.get(done..found.start).unwrap_or_default());
        if found.end == bytes.len() {
            // It may go on in what comes next, and its mask depends on all of it.
            *held = bytes.split_off(found.start);
            return out;
        }
        out.extend_from_slice(&masked_piece(&bytes, &found));
        done = found.end;
    }
    // Only behind the last match: a piece that begins within one would be masked twice.
    let end = done + pattern.begins_before(bytes.get(done..).unwrap_or_default());
    *held = bytes.split_off(end);
    if done == 0 {
        return bytes;
    }
    out.extend_from_slice(bytes.get(done..).unwrap_or_default());
    out
}

/// Returns the mask of the piece of a key that stands there.
fn masked_piece(bytes: &[u8], found: &Range<usize>) -> Vec<u8> {
    mask_key(bytes.get(found.clone()).unwrap_or_default()).into_bytes()
}

impl fmt::Debug for StreamMasker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamMasker")
    }
}

fn text(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}
