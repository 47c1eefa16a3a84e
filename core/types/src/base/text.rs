//! Text helpers: cutting at character borders, characters of words, and numbers for people.
//! Characters are Unicode scalar values everywhere; no cut splits one.

use alloc::{
    format,
    string::{String, ToString},
};

/// Returns the longest prefix of `text` that has at most `max` bytes and ends on a character
/// border.
#[must_use]
pub fn prefix(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Returns the byte offset of the `n`th character, counted from 0, or the text's length if it has
/// fewer.
#[must_use]
pub fn nth_char(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// Returns the byte offset at which the last `n` characters begin, or 0 if the text has fewer.
#[must_use]
pub fn nth_char_back(text: &str, n: usize) -> usize {
    match n.checked_sub(1) {
        // The last 0 characters begin at the end. `nth(n - 1)` alone would have no answer for them.
        None => text.len(),
        Some(skip) => text.char_indices().rev().nth(skip).map_or(0, |(at, _)| at),
    }
}

/// Returns a count with its noun, for example `1 file` or `1,234 files`.
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// Returns the number with a comma between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the entries of a list that is written as one string, `one|another`.
// A table of texts takes a pointer and a length for each entry, which hardly compress in the page's
// module (`docs/decisions.md#the-pages-module`).
pub fn listed(list: &'static str) -> core::str::Split<'static, char> {
    list.split('|')
}

/// Returns whether `c` continues a word: a letter, a digit or an underscore. Beyond ASCII every
/// character counts as a letter, except spaces and punctuation.
#[must_use]
// The standard library's `is_alphanumeric` would be exact, and brings Unicode tables into the
// page's module that no caller needs.
pub const fn is_word(c: char) -> bool {
    // Of Latin, of all scripts, of Chinese and Japanese, and full-width.
    let is_mark = matches!(c,
        '\u{80}'..='\u{bf}'
        | '\u{2000}'..='\u{206f}'
        | '\u{3000}'..='\u{303f}'
        | '\u{ff00}'..='\u{ff0f}'
        | '\u{ff1a}'..='\u{ff20}');
    c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && !is_mark)
}

#[cfg(test)]
mod tests {
    use super::is_word;

    #[test]
    fn letters_of_all_scripts_continue_a_word_and_marks_end_it() {
        assert!("aZ0_éßжλ中あ한אé".chars().all(is_word));
        assert!(!" .,;-\u{a0}«»¿…—’“”\u{2009}。、「」！（：？".chars().any(is_word));
    }
}
