//! Taking keys, and pieces of keys, out of text: at once, as a stream that is cut anywhere, and
//! inside JSON. What goes into a session ends in events, logs, snapshots and requests, so keys are
//! taken out before.

mod pattern;

use crate::secret_key::{ApiKey, MASK};
use alloc::{borrow::Cow, string::String, sync::Arc, vec, vec::Vec};
use core::fmt;
use innerloop_core::json::{from_str, to_string};
use pattern::KeyPattern;

/// All keys that must not be seen. Clones share them.
#[derive(Clone, Default)]
pub struct SecretKeys(Arc<[KeyPattern]>);

impl SecretKeys {
    /// These keys, but for those that are [simple](ApiKey::is_simple).
    #[must_use]
    pub fn new<'a>(keys: impl Iterator<Item = &'a ApiKey>) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        for text in keys.filter(|key| !key.is_simple()).map(ApiKey::expose) {
            if !texts.contains(&text) {
                // A key that is part of another must not break it up before it is found.
                let place = texts.partition_point(|known| known.len() > text.len());
                texts.insert(place, text);
            }
        }
        let mut patterns = Vec::new();
        texts.iter().for_each(|text| KeyPattern::add(text, &mut patterns));
        Self(patterns.into())
    }

    /// Returns whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `text` with [`MASK`] for each key, and for each piece of 14 characters or more: what a tool
    /// or a server has cut somewhere within a key.
    #[must_use]
    pub fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, pattern| match pattern.masked(&text) {
            Some(masked) => Cow::Owned(masked),
            None => text,
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

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// Masks a stream of bytes, wherever it is cut: what may be the beginning of a key's piece is held
/// back.
#[derive(Clone, Default)]
pub struct StreamMasker {
    keys: SecretKeys,
    /// For each key, the end of the stream that is not decided.
    held: Vec<PendingTail>,
}

/// The end of a stream, which is part of a key.
#[derive(Clone, Default)]
struct PendingTail {
    bytes: Vec<u8>,
    /// True if [`MASK`] stands for it already.
    is_masked: bool,
}

impl StreamMasker {
    /// The masking of a stream that begins.
    #[must_use]
    pub fn new(keys: &SecretKeys) -> Self {
        Self { keys: keys.clone(), held: vec![PendingTail::default(); keys.0.len()] }
    }

    /// The bytes that may go on after `piece` has come.
    #[must_use]
    pub fn push(&mut self, piece: Vec<u8>) -> Vec<u8> {
        let patterns = self.keys.0.iter().zip(&mut self.held);
        patterns.fold(piece, |piece, (pattern, held)| held.push(pattern, piece))
    }

    /// As [`StreamMasker::push`] for text, which stays text: a key begins and ends between
    /// characters.
    #[must_use]
    pub fn push_text(&mut self, piece: String) -> String {
        text(self.push(piece.into_bytes()))
    }

    /// The bytes that were held back, when no more come.
    #[must_use]
    pub fn end(&mut self) -> Vec<u8> {
        let patterns = self.keys.0.iter().zip(&mut self.held);
        patterns.fold(Vec::new(), |before, (pattern, held)| {
            // What the keys before held back goes through this one.
            let mut out = held.push(pattern, before);
            let PendingTail { bytes, is_masked } = core::mem::take(held);
            out.extend(bytes.into_iter().filter(|_| !is_masked));
            out
        })
    }

    /// As [`StreamMasker::end`] for text.
    #[must_use]
    pub fn end_text(&mut self) -> String {
        text(self.end())
    }
}

impl PendingTail {
    fn push(&mut self, pattern: &KeyPattern, piece: Vec<u8>) -> Vec<u8> {
        let Self { mut bytes, is_masked } = core::mem::take(self);
        if bytes.is_empty() {
            bytes = piece;
        } else {
            bytes.extend(piece);
        }
        let mut out = Vec::new();
        let mut done = 0;
        while let Some(found) = pattern.find(&bytes, done) {
            out.extend_from_slice(bytes.get(done..found.start).unwrap_or_default());
            if found.start > 0 || !is_masked {
                out.extend_from_slice(MASK.as_bytes());
            }
            done = found.end;
            if done == bytes.len() {
                // It may go on.
                *self = Self { bytes: bytes.split_off(found.start), is_masked: true };
                return out;
            }
        }
        let end = done + pattern.begins_before(bytes.get(done..).unwrap_or_default());
        *self = Self { bytes: bytes.split_off(end), is_masked: false };
        if done == 0 {
            return bytes;
        }
        out.extend_from_slice(bytes.get(done..).unwrap_or_default());
        out
    }
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
