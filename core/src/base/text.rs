//! Cutting text on character borders, and the characters of words.

/// The longest prefix of `text` that has at most `max` bytes and ends on a character border.
#[must_use]
pub fn prefix(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The byte offset of the `n`th character, or the text's length if it has fewer.
#[must_use]
pub fn nth_char(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// The byte offset at which the last `n` characters begin, or 0 if the text has fewer.
#[must_use]
pub fn nth_char_back(text: &str, n: usize) -> usize {
    match n.checked_sub(1) {
        None => text.len(),
        Some(skip) => text.char_indices().rev().nth(skip).map_or(0, |(at, _)| at),
    }
}

/// The entries of a list that is written as one text, `one|another`: a table would take a pointer
/// for each of them.
pub(crate) fn listed(list: &'static str) -> core::str::Split<'static, char> {
    list.split('|')
}

/// Whether a word goes on with `c`: a letter, a digit or an underscore. Beyond ASCII every
/// character counts as a letter, which takes no tables.
#[must_use]
pub const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}
