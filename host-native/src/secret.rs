//! Keys: a type that never shows itself, and the removal of a key from whatever comes in. What
//! the host hands to the core ends in logs, recordings and events, so a key that an endpoint
//! echoes, or that stands in a file of the workspace, is taken out before.

use std::fmt;

/// What stands where a key stood.
pub const MASK: &str = "***";

/// A shorter key could be part of ordinary text, and is no secret worth the name.
const SHORTEST: usize = 8;

/// A key. Its `Debug` and `Display` show [`MASK`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Keeps `key`, without the white space around it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the one header it belongs in.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the key, or `None` if the key is not in it.
    #[must_use]
    pub fn masked(&self, text: &str) -> Option<String> {
        let there = self.0.len() >= SHORTEST && text.contains(&self.0);
        there.then(|| text.replace(&self.0, MASK))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// Masks a key in bytes that come in pieces, also where it is split over pieces.
#[derive(Debug)]
pub struct Masking {
    key: Key,
    held: Vec<u8>,
}

impl Masking {
    /// A masking of `key`.
    #[must_use]
    pub const fn new(key: Key) -> Self {
        Self { key, held: Vec::new() }
    }

    /// The bytes that may go on after `piece` has come; the start of a key is held back.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let key = self.key.0.as_bytes();
        if key.len() < SHORTEST {
            return piece.to_vec();
        }
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(piece);
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Some(at) = rest.windows(key.len()).position(|window| window == key) {
            let (before, after) = rest.split_at(at);
            out.extend_from_slice(before);
            out.extend_from_slice(MASK.as_bytes());
            rest = after.get(key.len()..).unwrap_or_default();
        }
        let longest = rest.len().min(key.len() - 1);
        let held = (1..=longest).rev().find(|n| rest.ends_with(key.get(..*n).unwrap_or(key)));
        let (go, hold) = rest.split_at(rest.len() - held.unwrap_or(0));
        out.extend_from_slice(go);
        self.held = hold.to_vec();
        out
    }

    /// The bytes that were held back, when no more come.
    pub fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-0123456789";

    #[test]
    fn a_key_shows_itself_nowhere() {
        let key = Key::new(&format!(" {KEY}\n"));
        assert_eq!(format!("{key} {key:?}"), "*** ***");
        assert_eq!(key.expose(), KEY);
        assert_eq!(key.masked("no key here"), None);
        assert_eq!(key.masked(&format!("a {KEY} b")).as_deref(), Some("a *** b"));
    }

    #[test]
    fn a_key_is_masked_wherever_it_is_split() {
        let text = format!("sk-ant {KEY}{KEY} and sk-an{KEY} sk-ant-01");
        let want = "sk-ant ****** and sk-an*** sk-ant-01";
        for size in 1..=text.len() {
            let mut masking = Masking::new(Key::new(KEY));
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                out.extend(masking.push(piece));
            }
            out.extend(masking.end());
            assert_eq!(String::from_utf8(out).unwrap(), want, "pieces of {size}");
        }
    }

    #[test]
    fn a_short_key_masks_nothing() {
        let mut masking = Masking::new(Key::new("test"));
        assert_eq!(masking.push(b"a test"), b"a test");
        assert_eq!(Key::new("test").masked("a test"), None);
    }
}
