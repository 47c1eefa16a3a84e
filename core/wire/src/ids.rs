//! Ids of calls and names of tools in the form that a provider takes. What fits stays as it is.

use alloc::{borrow::Cow, format, string::String};
use innerloop_types::digest::DigestBuilder;

/// The length of an id's digest, with the underscore before it.
const DIGEST_BYTES: usize = 17;

/// A call's id in at most `max` letters, digits, `_` and `-`. One that does not fit keeps its
/// beginning and gets a digest of the whole, so that two ids stay two.
pub(super) fn sendable_id(id: &str, max: usize) -> Cow<'_, str> {
    if (1..=max).contains(&id.len()) && id.chars().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let kept = spelled(id, is_plain, max.saturating_sub(DIGEST_BYTES));
    Cow::Owned(format!("{kept}_{:016x}", DigestBuilder::of(id.as_bytes()).0))
}

/// Nine letters and digits made from an id, always the same for the same id.
pub(super) fn nine_letters(id: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = DigestBuilder::of(id.as_bytes()).0;
    let mut made = String::with_capacity(9);
    for _ in 0..9 {
        let letter = usize::try_from(rest % 62).ok().and_then(|at| LETTERS.get(at));
        made.push(letter.map_or('0', |&letter| char::from(letter)));
        rest /= 62;
    }
    made
}

/// A tool's name in the characters that every provider takes.
pub(super) fn sendable_name(name: &str) -> String {
    let name = spelled(name, is_plain, 64);
    if name.is_empty() { String::from("unknown") } else { name }
}

/// The first `max` characters of a text, with `_` in place of those that do not fit.
pub(super) fn spelled(text: &str, fits: impl Fn(char) -> bool, max: usize) -> String {
    text.chars().map(|c| if fits(c) { c } else { '_' }).take(max).collect()
}

const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
