//! Ids of calls and names of tools in the form that a provider takes. What fits stays as it is, and
//! the same input always gives the same output: a call and its result must match, and earlier turns
//! must keep their bytes.

use alloc::{borrow::Cow, format, string::String};
use innerloop_types::digest::DigestBuilder;

/// The length of an id's digest, with the underscore before it.
const DIGEST_BYTES: usize = 17;

/// Returns a call's id in at most `max` letters, digits, `_` and `-`. One that does not fit keeps
/// its beginning and gets a digest of the whole, so that different ids stay different.
pub(super) fn sendable_id(id: &str, max: usize) -> Cow<'_, str> {
    if (1..=max).contains(&id.len()) && id.chars().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let kept = spelled(id, is_plain, max.saturating_sub(DIGEST_BYTES));
    Cow::Owned(format!("{kept}_{:016x}", DigestBuilder::of(id.as_bytes()).0))
}

/// Returns nine letters and digits made from an id. The same id always gives the same nine.
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

/// Returns a tool's name in the characters that every provider takes, at most 64 of them.
pub(super) fn sendable_name(name: &str) -> String {
    let name = spelled(name, is_plain, 64);
    // A model may call a tool by an empty name; the call still goes back with its result.
    if name.is_empty() { String::from("unknown") } else { name }
}

/// Returns the first `max` characters of a text, with `_` in place of those that do not fit.
pub(super) fn spelled(text: &str, fits: impl Fn(char) -> bool, max: usize) -> String {
    text.chars().map(|c| if fits(c) { c } else { '_' }).take(max).collect()
}

const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
