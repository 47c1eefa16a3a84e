//! A scan that passes over a value at the speed of its bytes and finds the places of its parts. It
//! only tells where a valid value ends; if there is none, the reader finds out step by step what is
//! wrong.

use crate::strings::{code_unit, plain_len};
use alloc::vec::Vec;

/// The maximum depth of nested arrays and objects: hostile text is refused before the stack
/// overflows.
// The scan keeps a bit for each open level in a `u128`.
pub const MAX_DEPTH: u8 = 127;

/// The place of a value or a key in a text. There may be one for every second byte of a text, so it
/// takes only eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The place where it begins, with a bit that is set if it contains escapes.
    from: u32,
    /// For an array or object, the number of the token behind all that is in it; for anything else,
    /// the place where it ends.
    link: u32,
}

/// The longest text of which tokens are made, in bytes.
pub const MAX_TEXT: usize = 0x7fff_ffff;

/// The bit of a token's beginning that is set if it contains escapes.
const ESCAPES: u32 = 0x8000_0000;

/// The number of bytes from which on the tokens are counted before they are made, so that they take
/// no more memory than they need.
const LONG: usize = 16_384;

impl Token {
    /// Returns the place where it begins.
    #[must_use]
    pub const fn from(self) -> usize {
        (self.from & !ESCAPES) as usize
    }

    /// Returns whether it is a string that contains escapes.
    #[must_use]
    pub const fn has_escapes(self) -> bool {
        self.from & ESCAPES != 0
    }

    /// Returns the place where it ends, if it is neither an array nor an object; for those, see
    /// [`Self::next`].
    #[must_use]
    pub const fn to(self) -> usize {
        self.link as usize
    }

    /// Returns the number of the token behind it and all that is in it, if it is an array or
    /// object; for anything else, see [`Self::to`].
    #[must_use]
    pub const fn next(self) -> usize {
        self.link as usize
    }
}

/// Shortens a place in a text or a number of tokens: neither exceeds [`MAX_TEXT`].
#[expect(clippy::cast_possible_truncation, reason = "checked before")]
const fn short(place: usize) -> u32 {
    place as u32
}

/// The tokens of a value in their order: itself, then what is in it; in an object, each key before
/// its value.
#[derive(Debug)]
pub struct TokenIndex<'t> {
    tokens: &'t mut Vec<Token>,
    /// The innermost array or object that is open. Until it ends, its link is the one around it.
    // The tokens themselves are the stack of open values, so that depth needs no memory.
    open: u32,
}

impl<'t> TokenIndex<'t> {
    /// Creates an index for the value that is passed over next, which is in `text`.
    pub fn new(tokens: &'t mut Vec<Token>, text: &[u8]) -> Self {
        let count = if text.len() < LONG { 32 } else { most_tokens(text) };
        tokens.reserve_exact(count);
        Self { tokens, open: 0 }
    }

    fn push(&mut self, from: usize, to: usize, has_escapes: bool) {
        let escapes = if has_escapes { ESCAPES } else { 0 };
        self.tokens.push(Token { from: short(from) | escapes, link: short(to) });
    }

    fn enter(&mut self, from: usize) {
        let at = short(self.tokens.len());
        self.tokens.push(Token { from: short(from), link: self.open });
        self.open = at;
    }

    fn leave(&mut self) {
        let end = short(self.tokens.len());
        if let Some(token) = self.tokens.get_mut(self.open as usize) {
            self.open = core::mem::replace(&mut token.link, end);
        }
    }
}

/// Returns the largest number of tokens that a text can have: each but the first follows one of
/// these bytes. A text that is nested too deep has no tokens, so that counting ends there.
fn most_tokens(text: &[u8]) -> usize {
    let (mut at, mut count, mut depth) = (0, 1, 0_u8);
    while let Some(byte) = text.get(at).filter(|_| depth <= MAX_DEPTH) {
        count += usize::from(matches!(byte, b',' | b':' | b'[' | b'{'));
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at = match byte {
            // A broken string ends the count; the scan itself finds out what is wrong with it.
            b'"' => string_end(text, at).map_or(text.len(), |(end, _)| end),
            _ => at + 1,
        };
    }
    count
}

/// Returns the end of the value at `at`, which white space may precede, within `outside` arrays and
/// objects; `None` if it is not valid or nested too deep. Its parts go to `index`.
pub fn value_end(
    bytes: &[u8],
    at: usize,
    outside: u8,
    mut index: Option<TokenIndex<'_>>,
) -> Option<usize> {
    let (mut at, mut depth) = (at, outside);
    // A bit for each open array or object, set if it is an object. The innermost is the lowest.
    let mut objects = 0_u128;
    loop {
        at = blank_end(bytes, at);
        if objects & 1 == 1 {
            at = key_end(bytes, at, index.as_mut())?;
        }
        let first = *bytes.get(at)?;
        if let b'{' | b'[' = first {
            if depth == MAX_DEPTH {
                return None;
            }
            depth += 1;
            objects = objects << 1 | u128::from(first == b'{');
            if let Some(index) = &mut index {
                index.enter(at);
            }
            at = blank_end(bytes, at + 1);
            // In ASCII each closing bracket stands two behind its opening one.
            if *bytes.get(at)? != first + 2 {
                continue;
            }
        } else {
            let (end, has_escapes) = match first {
                b'"' => string_end(bytes, at)?,
                _ => (plain_end(bytes, at, first)?, false),
            };
            if let Some(index) = &mut index {
                index.push(at, end, has_escapes);
            }
            at = end;
        }
        loop {
            if depth == outside {
                return Some(at);
            }
            at = blank_end(bytes, at);
            match (*bytes.get(at)?, objects & 1) {
                (b',', _) => {
                    at += 1;
                    break;
                }
                (b'}', 1) | (b']', 0) => {}
                _ => return None,
            }
            at += 1;
            depth -= 1;
            objects >>= 1;
            if let Some(index) = &mut index {
                index.leave();
            }
        }
    }
}

/// Returns the end of the number, truth value or null at `at`, which begins with `first`.
fn plain_end(bytes: &[u8], at: usize, first: u8) -> Option<usize> {
    match first {
        b'-' | b'0'..=b'9' => number_end(bytes, at),
        b't' => word_end(bytes, at, b"true"),
        b'f' => word_end(bytes, at, b"false"),
        b'n' => word_end(bytes, at, b"null"),
        _ => None,
    }
}

fn blank_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the beginning of the value whose key is at `at`.
fn key_end(bytes: &[u8], at: usize, index: Option<&mut TokenIndex<'_>>) -> Option<usize> {
    let (end, has_escapes) = string_end(bytes, at)?;
    if let Some(index) = index {
        index.push(at, end, has_escapes);
    }
    let colon = blank_end(bytes, end);
    (*bytes.get(colon)? == b':').then(|| blank_end(bytes, colon + 1))
}

/// Returns the end of the string at `at`, and whether it contains escapes.
fn string_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let (mut at, mut has_escapes) = (at + 1, false);
    loop {
        at += plain_len(bytes.get(at..)?);
        match *bytes.get(at)? {
            b'"' => return Some((at + 1, has_escapes)),
            b'\\' => has_escapes = true,
            _ => return None,
        }
        at += match *bytes.get(at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => code_unit(bytes.get(at + 2..)?).map(|_| 6)?,
            _ => return None,
        };
    }
}

fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let at = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = match *bytes.get(at)? {
        b'0' => at + 1,
        _ => digits_end(bytes, at)?,
    };
    if let (b'0', Some(b'0'..=b'9')) = (*bytes.get(at)?, bytes.get(end)) {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits_end(bytes, end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let is_signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits_end(bytes, end + 1 + usize::from(is_signed))?;
    }
    Some(end)
}

/// Returns the end of the digits at `at`, of which there is at least one.
fn digits_end(bytes: &[u8], at: usize) -> Option<usize> {
    let count = bytes.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(at + count)
}

fn word_end(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}
