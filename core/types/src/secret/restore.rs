//! The way back: secrets of a file in the places of their masks. The file is scanned as text is
//! when it is masked; keys that are known by their text are searched for by length and digest.

use super::{
    cursor::ScanText,
    digest::SaltedDigest,
    mask::{each, key_mask, key_of, mask, replaced},
    scanner::SecretScanner,
};
use alloc::{borrow::Cow, string::String, vec, vec::Vec};
use core::ops::RangeInclusive;
use innerloop_json::Map;

/// The lengths of keys that are searched for.
const LENGTHS: RangeInclusive<usize> = 8..=512;
/// The maximum number of lengths that are searched for: each takes a pass over the file.
const MAX_LENGTHS: usize = 8;
/// The number of bits of a digest by which places are passed over quickly.
const QUICK_BITS: u32 = 16;

/// The secrets of a file that masks in new texts stand for.
#[derive(Debug, Default)]
pub struct FileSecrets(
    /// The secret of each mask, if the file has one; an empty one if it has several.
    Map<Option<String>>,
);

impl FileSecrets {
    /// Looks in `file` for the secrets that the masks in `texts` stand for.
    #[must_use]
    pub fn find(
        scanner: &SecretScanner,
        file: &str,
        texts: &mut dyn Iterator<Item = &str>,
    ) -> Self {
        let mut secrets = Self::default();
        let mut lengths = Vec::new();
        for text in texts {
            each(text, &mut |range| {
                let mask = text.get(range).unwrap_or_default();
                let len = key_of(mask).map(|(len, _)| len).filter(|len| LENGTHS.contains(len));
                if let Some(len) = len.filter(|len| !lengths.contains(len))
                    && lengths.len() < MAX_LENGTHS
                {
                    lengths.push(len);
                }
                secrets.0.insert(mask.into(), None);
            });
        }
        // This is all that happens to nearly every text.
        if secrets.0.is_empty() {
            return secrets;
        }
        let digest = scanner.digest();
        scanner.each(&ScanText::whole(file), &mut |found| {
            let secret = file.get(found.range).unwrap_or_default();
            secrets.fill(&mask(found.kind, digest.of(secret.as_bytes())), secret);
        });
        lengths.into_iter().for_each(|len| secrets.find_keys(file, len));
        secrets
    }

    /// Looks for keys of that length.
    fn find_keys(&mut self, file: &str, len: usize) {
        let mut quick = vec![false; 1 << QUICK_BITS];
        let place = |digest: u32| usize::try_from(digest % (1 << QUICK_BITS)).unwrap_or(0);
        for (_, digest) in self.0.keys().filter_map(key_of).filter(|(of, _)| *of == len) {
            quick.get_mut(place(digest)).into_iter().for_each(|is_there| *is_there = true);
        }
        SaltedDigest::of_keys().windows(file.as_bytes(), len, &mut |start, digest| {
            // Between characters only: elsewhere it would be a piece of one.
            if quick.get(place(digest)) == Some(&true)
                && let Some(key) = file.get(start..start + len)
            {
                self.fill(&key_mask(len, digest), key);
            }
        });
    }

    /// Notes that a secret of the file has this mask.
    fn fill(&mut self, mask: &str, secret: &str) {
        match self.0.get_mut(mask) {
            Some(Some(known)) if known != secret => known.clear(),
            Some(known @ None) => *known = Some(secret.into()),
            _ => {}
        }
    }

    /// Returns the number of masks that stand for no secret of the file, or for several.
    #[must_use]
    pub fn unknown(&self) -> usize {
        let is_unknown = |secret: &&Option<String>| secret.as_deref().unwrap_or("").is_empty();
        self.0.values().filter(is_unknown).count()
    }

    /// Returns `text` with secrets in the places of their masks.
    #[must_use]
    pub fn unmasked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        replaced(text, &mut |mask| self.0.get(mask)?.clone().filter(|secret| !secret.is_empty()))
    }
}
