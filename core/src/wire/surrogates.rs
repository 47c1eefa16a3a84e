//! Characters outside the basic plane that a provider cut in two: JSON writes them as a pair of
//! escapes, and a stream may carry one half in each of two pieces.

use crate::base::json::without_lone_surrogates;
use alloc::{borrow::Cow, format, string::String};
use serde_json::value::RawValue;

/// The first half of a pair that waits for its second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Half(Option<u16>);

/// The text of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Joined<'a> {
    /// The text, with U+FFFD for each half without its other.
    pub(super) text: Cow<'a, str>,
    /// Whether there was none.
    pub(super) is_whole: bool,
}

impl Half {
    /// The text of a string: what was left over from the piece before stands in front, and half
    /// a pair at its end is kept for the next. What is no string has no text.
    pub(super) fn join<'a>(&mut self, raw: &'a RawValue) -> Joined<'a> {
        let json = raw.get();
        let inner = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        let Some(inner) = inner else {
            return Joined { text: Cow::Borrowed(""), is_whole: true };
        };
        if self.0.is_none() && !inner.contains('\\') {
            return Joined { text: Cow::Borrowed(inner), is_whole: true };
        }
        // With escapes, but without half a pair among them.
        if self.0.is_none()
            && let Ok(text) = serde_json::from_str::<String>(json)
        {
            return Joined { text: Cow::Owned(text), is_whole: true };
        }
        self.join_escaped(inner)
    }

    fn join_escaped(&mut self, mut rest: &str) -> Joined<'static> {
        let mut text = String::new();
        let mut is_whole = true;
        if let Some(first) = self.0.take() {
            let second = unit(rest).filter(|unit| (0xdc00..=0xdfff).contains(unit));
            let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
            is_whole = pair.is_some();
            text.push(pair.unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = rest.get(if is_whole { 6 } else { 0 }..).unwrap_or_default();
        }
        let last = rest.len().checked_sub(6).and_then(|at| rest.split_at_checked(at));
        if let Some((before, last)) = last {
            let escapes = before.bytes().rev().take_while(|&byte| byte == b'\\').count();
            let first = unit(last).filter(|unit| (0xd800..=0xdbff).contains(unit));
            if escapes.is_multiple_of(2) && first.is_some() {
                self.0 = first;
                rest = before;
            }
        }
        let mended = without_lone_surrogates(rest);
        is_whole &= mended == rest;
        match serde_json::from_str::<String>(&format!("\"{mended}\"")) {
            Ok(more) => text.push_str(&more),
            Err(_) => is_whole = false,
        }
        Joined { text: Cow::Owned(text), is_whole }
    }

    /// Whether a half waits, which is then given up.
    pub(super) const fn give_up(&mut self) -> bool {
        self.0.take().is_some()
    }
}

/// The code unit of the escape at the start of `text`.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
