//! The settings that decide which texts are secrets and which masks they get, and the masking of
//! whole texts.

use super::{
    cursor::{FoundSecret, ScanText, position},
    digest::SaltedDigest,
    mask::mask,
    pem,
    scan::{ScanStep, find},
};
use alloc::{borrow::Cow, string::String, sync::Arc, vec::Vec};
use core::fmt;

/// The settings that decide which texts are secrets and which masks they get. Clones share them.
#[derive(Clone, Default)]
pub struct SecretScanner {
    salt: u64,
    allow: Arc<[String]>,
}

impl SecretScanner {
    /// Makes a scanner whose masks depend on `salt`, which must not be shown. A secret that
    /// contains one of the texts in `allow` is left alone.
    #[must_use]
    pub fn new(salt: u64, allow: &[String]) -> Self {
        Self { salt, allow: allow.into() }
    }

    /// Returns the salt.
    #[must_use]
    pub const fn salt(&self) -> u64 {
        self.salt
    }

    /// Returns `text` with masks in the places of its secrets, and adds their kinds to `kinds`,
    /// each once.
    #[must_use]
    pub fn masked<'a>(&self, text: &'a str, kinds: &mut Vec<&'static str>) -> Cow<'a, str> {
        let mut out = Vec::new();
        let scanned = ScanText::whole(text);
        let (done, end) = self.mask_into(&scanned, &mut out, kinds);
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.extend_from_slice(scanned.part(done..end));
        // Secrets begin and end between characters. Were it otherwise, no text would be better
        // than a secret.
        Cow::Owned(String::from_utf8(out).unwrap_or_default())
    }

    pub(super) fn digest(&self) -> SaltedDigest {
        SaltedDigest::new(self.salt)
    }

    /// Adds the text to `out` up to its last secret, with masks in the places of secrets. Returns
    /// how many bytes that was, and how many more are decided and hold none.
    pub(super) fn mask_into(
        &self,
        text: &ScanText<'_>,
        out: &mut Vec<u8>,
        kinds: &mut Vec<&'static str>,
    ) -> (usize, usize) {
        let mut done = 0;
        let end = self.each(text, &mut |FoundSecret { range, kind }| {
            out.extend_from_slice(text.part(done..range.start));
            let secret = text.part(range.clone());
            out.extend_from_slice(mask(kind, self.digest().of(secret)).as_bytes());
            done = range.end;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        });
        (done, end)
    }

    /// Calls `see` with each part of the text that gets a mask, and returns how many bytes of the
    /// text are decided.
    // One copy of the search for all that use it, hence not generic.
    pub(super) fn each(&self, text: &ScanText<'_>, see: &mut dyn FnMut(FoundSecret)) -> usize {
        let mut at = 0;
        loop {
            match find(text, at) {
                ScanStep::Finished(end) => return end,
                ScanStep::Found(found) => {
                    at = found.range.end;
                    if !self.masks(text.part(found.range.clone())) {
                        continue;
                    }
                    match found.kind {
                        pem::KIND => pem::lines(text, found.range, see),
                        _ => see(found),
                    }
                }
            }
        }
    }

    /// Returns whether a secret that was found is masked.
    fn masks(&self, secret: &[u8]) -> bool {
        // An empty text, which all contain, would allow everything.
        let mut allowed = self.allow.iter().filter(|text| !text.is_empty());
        !allowed.any(|text| position(secret, text.as_bytes(), 0).is_some())
    }
}

impl fmt::Debug for SecretScanner {
    // Who knows the salt can try texts until one has a mask's digest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretScanner")
    }
}
