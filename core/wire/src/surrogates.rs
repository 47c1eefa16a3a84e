//! The text of JSON strings. A character outside the basic plane is written as a pair of escapes,
//! which some servers cut in two: a stream then carries one surrogate in each of two strings. A
//! lone surrogate costs a text one character; in a call it would change what the call does, so
//! callers are told of it.

use alloc::{borrow::Cow, string::String};
use innerloop_types::steps;

/// The first surrogate of a pair, while it waits for the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PendingSurrogate(Option<u16>);

/// The text of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JoinedText<'a> {
    /// The text, with U+FFFD for each lone surrogate.
    pub(super) text: Cow<'a, str>,
    /// True if there was none.
    pub(super) is_whole: bool,
}

/// Returns the text of the JSON string `json` that stands alone. Any other value has no text.
pub(super) fn whole(json: &str) -> JoinedText<'_> {
    let mut surrogate = PendingSurrogate::default();
    let mut joined = surrogate.join(json);
    if surrogate.give_up() {
        joined.text.to_mut().push(char::REPLACEMENT_CHARACTER);
        joined.is_whole = false;
    }
    joined
}

impl PendingSurrogate {
    /// Returns the text of the JSON string `json` that goes on with the one before: what was left
    /// over from that one stands in front, and a surrogate at the end is kept for the next.
    pub(super) fn join<'a>(&mut self, json: &'a str) -> JoinedText<'a> {
        steps::count(json.len());
        let quoted = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        let inner = quoted.unwrap_or_default();
        // Most strings have no escape and are borrowed.
        if inner.is_empty() || (self.0.is_none() && !inner.contains('\\')) {
            return JoinedText { text: Cow::Borrowed(inner), is_whole: true };
        }
        let mut text = String::with_capacity(inner.len());
        let mut is_whole = true;
        let mut rest = inner;
        loop {
            let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
            let (plain, escape) = rest.split_at_checked(plain).unwrap_or((rest, ""));
            if !plain.is_empty() {
                is_whole &= self.end(&mut text);
                text.push_str(plain);
            }
            let Some((unit, behind)) = unit(escape) else { break };
            is_whole &= self.push(unit, &mut text);
            rest = behind;
        }
        JoinedText { text: Cow::Owned(text), is_whole }
    }

    /// Returns whether a surrogate waits.
    pub(super) const fn is_waiting(self) -> bool {
        self.0.is_some()
    }

    /// Returns whether a surrogate waits, which is then given up.
    pub(super) const fn give_up(&mut self) -> bool {
        self.0.take().is_some()
    }

    /// Appends a code unit. Returns whether no surrogate was lost.
    fn push(&mut self, unit: u16, text: &mut String) -> bool {
        if let Some(c) = self.0.and_then(|first| pair(first, unit)) {
            self.0 = None;
            text.push(c);
            return true;
        }
        let is_whole = self.end(text);
        if matches!(unit, 0xd800..=0xdbff) {
            self.0 = Some(unit);
            return is_whole;
        }
        let c = char::from_u32(u32::from(unit));
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        is_whole && c.is_some()
    }

    /// Gives up a surrogate that waits, with U+FFFD in its place. Returns whether there was none.
    fn end(&mut self, text: &mut String) -> bool {
        let is_lost = self.give_up();
        if is_lost {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        !is_lost
    }
}

/// Returns the character of two surrogates, if they form a pair.
pub(super) fn pair(first: u16, second: u16) -> Option<char> {
    let is_pair = matches!((first, second), (0xd800..=0xdbff, 0xdc00..=0xdfff));
    is_pair.then(|| char::decode_utf16([first, second]).next()?.ok()).flatten()
}

/// Returns the code unit of the escape at the start of `text`, and what stands behind it.
fn unit(text: &str) -> Option<(u16, &str)> {
    // The reader has checked the escapes of every string, so that none is invalid here.
    let mut chars = text.chars();
    chars.next()?;
    let unit = match chars.next()? {
        'u' => {
            let (digits, behind) = chars.as_str().split_at_checked(4)?;
            return Some((u16::from_str_radix(digits, 16).ok()?, behind));
        }
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'b' => 0x08,
        'f' => 0x0c,
        same => u8::try_from(same).ok()?,
    };
    Some((u16::from(unit), chars.as_str()))
}
