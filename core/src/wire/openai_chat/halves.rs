//! Surrogate pairs that a server has cut in two: `\ud83d` ends one delta's string and `\ude00`
//! begins the next one's.

use alloc::{format, string::String};

/// The first half of a pair at the end of a string of the JSON `text`: the text without it, and
/// the half as it stands there.
pub(super) fn split_off_first(text: &str) -> Option<(String, String)> {
    let at = find(text, |at| {
        let ends = text.get(at + 6..).is_some_and(|rest| rest.starts_with('"'));
        ends && matches!(unit(text, at), Some(0xd800..=0xdbff))
    })?;
    let (before, rest) = text.split_at_checked(at)?;
    let (half, after) = rest.split_at_checked(6)?;
    Some((format!("{before}{after}"), half.into()))
}

/// Puts the first half of a pair in front of the second at the beginning of a string of the JSON
/// `text`, if one is there.
pub(super) fn joined(half: &str, text: &str) -> Option<String> {
    let at = find(text, |at| {
        let begins = text.get(..at).is_some_and(|before| before.ends_with('"'));
        begins && matches!(unit(text, at), Some(0xdc00..=0xdfff))
    })?;
    let (before, after) = text.split_at_checked(at)?;
    Some(format!("{before}{half}{after}"))
}

/// The first escape that `fits`.
fn find(text: &str, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find('\\')?;
        if fits(at) {
            return Some(at);
        }
        from = at + 2;
    }
}

fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}
