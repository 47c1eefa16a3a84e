//! The masks, as they stand in text: `‹secret:github:3f9a2c›`.

use super::{cursor::position, digest::SaltedDigest};
use alloc::{borrow::Cow, string::String};
use core::ops::Range;

/// The beginning and the end of every mask. The signs are rare, so that a mask is not mistaken for
/// anything else, and survive what models and shells do to quotes and brackets.
const OPEN: &str = "‹secret:";
const CLOSE: char = '›';
/// The number of hexadecimal digits of a mask's digest.
const DIGITS: usize = 6;
/// The maximum length of a kind's name.
const LONGEST_KIND: usize = 24;
/// A length that no key has which is searched for.
const LONGEST_KEY: usize = 1_000;
/// The kind of a key that is known by its text; its length follows.
const KEY: &str = "key";

/// Returns whether the text may hold a mask.
#[must_use]
pub fn has_mask(text: &str) -> bool {
    position(text.as_bytes(), OPEN.as_bytes(), 0).is_some()
}

/// Returns the mask of a secret of that kind with that digest.
pub(super) fn mask(kind: &str, digest: u32) -> String {
    let mut mask = String::from(OPEN);
    mask.push_str(kind);
    mask.push(':');
    for place in (0..DIGITS).rev() {
        mask.extend(char::from_digit(digest >> (4 * place) & 15, 16));
    }
    mask.push(CLOSE);
    mask
}

/// Returns the mask of a key that is known by its text and may have no shape. It bears the length,
/// by which the key is found in a file, and needs no salt: such keys are long and random.
#[must_use]
pub fn mask_key(key: &[u8]) -> String {
    key_mask(key.len(), SaltedDigest::of_keys().of(key))
}

/// Returns the mask of a key of that length with that digest.
pub(super) fn key_mask(len: usize, digest: u32) -> String {
    let mut kind = String::from(KEY);
    add_number(len, &mut kind);
    mask(&kind, digest)
}

fn add_number(number: usize, out: &mut String) {
    if number >= 10 {
        add_number(number / 10, out);
    }
    out.extend(u32::try_from(number % 10).ok().and_then(|digit| char::from_digit(digit, 10)));
}

/// Returns the text with masks that name their kinds only, which are alike in all sessions.
#[must_use]
pub fn without_digests(text: &str) -> Cow<'_, str> {
    replaced(text, &mut |mask| {
        let end = mask.len().checked_sub(CLOSE.len_utf8() + DIGITS + 1)?;
        let mut named = String::from(mask.get(..end)?);
        named.push(CLOSE);
        Some(named)
    })
}

/// Returns the text with others in the place of its masks, where `other` returns one.
pub(super) fn replaced<'a>(
    text: &'a str,
    other: &mut dyn FnMut(&str) -> Option<String>,
) -> Cow<'a, str> {
    let mut out = String::new();
    let mut done = 0;
    each(text, &mut |range| {
        if let Some(other) = text.get(range.clone()).and_then(&mut *other) {
            out.push_str(text.get(done..range.start).unwrap_or_default());
            out.push_str(&other);
            done = range.end;
        }
    });
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Calls `see` with the range of each mask of the text, in order.
pub(super) fn each(text: &str, see: &mut dyn FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(start) = position(text.as_bytes(), OPEN.as_bytes(), at) {
        at = start + OPEN.len();
        if let Some(len) = text.get(at..).and_then(rest_of_mask) {
            at += len;
            see(start..at);
        }
    }
}

/// Returns the length of what follows the beginning of a mask, if it is one.
fn rest_of_mask(rest: &str) -> Option<usize> {
    let is_name = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    // At most one more than a name has, lest texts that are full of beginnings take long.
    let kind = rest.bytes().take(LONGEST_KIND + 1).take_while(is_name).count();
    let end = kind + 1 + DIGITS;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_mask = kind > 0
        && rest.get(kind..)?.starts_with(':')
        && rest.get(kind + 1..end)?.bytes().all(is_digit)
        && rest.get(end..)?.starts_with(CLOSE);
    is_mask.then_some(end + CLOSE.len_utf8())
}

/// Returns the length in the mask of a key that is known by its text, and the digest; `None` for
/// other masks.
pub(super) fn key_of(mask: &str) -> Option<(usize, u32)> {
    let rest = mask.as_bytes().strip_prefix(OPEN.as_bytes())?.strip_prefix(KEY.as_bytes())?;
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (len, digits) = rest.split_at_checked(len)?;
    let len = len.iter().fold(0, |len: usize, digit| {
        // At most a length that no key has, so that nothing overflows.
        len.min(LONGEST_KEY) * 10 + usize::from(digit & 15)
    });
    let value = |digit: u8| match digit {
        b'a'.. => u32::from(digit - b'a') + 10,
        _ => u32::from(digit & 15),
    };
    let digits = digits.get(1..=DIGITS)?;
    Some((len, digits.iter().fold(0, |digest, digit| digest << 4 | value(*digit))))
}
