//! Passing over a value at the speed of its bytes, and finding what stands where in it. It only
//! says where the value ends: what is wrong with one that is not valid, the reader finds out step
//! by step.

use crate::strings::{code_unit, plain_len};
use alloc::vec::Vec;

/// How deep arrays and objects may be nested: hostile text is refused before the stack ends.
pub const MAX_DEPTH: u8 = 127;

/// Where a value or a key stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// The number of the token that stands behind it and all that is in it.
    pub next: usize,
    /// Whether it is a string with escapes in it.
    pub has_escapes: bool,
}

/// The tokens of a value in their order: itself, then what is in it; in an object, each key before
/// its value.
#[derive(Debug)]
pub struct Index<'t> {
    tokens: &'t mut Vec<Token>,
    /// The innermost array or object that has not ended. Its `next` is the one around it.
    open: usize,
}

impl<'t> Index<'t> {
    /// Of what is passed over next.
    pub const fn new(tokens: &'t mut Vec<Token>) -> Self {
        Self { tokens, open: 0 }
    }

    fn push(&mut self, from: usize, to: usize, has_escapes: bool) {
        let next = self.tokens.len() + 1;
        self.tokens.push(Token { from, to, next, has_escapes });
    }

    fn enter(&mut self, from: usize) {
        let at = self.tokens.len();
        self.tokens.push(Token { from, to: from, next: self.open, has_escapes: false });
        self.open = at;
    }

    fn leave(&mut self, to: usize) {
        let end = self.tokens.len();
        if let Some(token) = self.tokens.get_mut(self.open) {
            token.to = to;
            self.open = core::mem::replace(&mut token.next, end);
        }
    }
}

/// Where the value ends that stands at `at` or behind white space there, inside of so many arrays
/// and objects; nothing if it is not valid or nested too deep. What it consists of goes to `index`.
pub fn value_end(
    bytes: &[u8],
    at: usize,
    outside: u8,
    mut index: Option<Index<'_>>,
) -> Option<usize> {
    let (mut at, mut depth) = (at, outside);
    // Of the arrays and objects that are open, a bit each: whether it is an object. The innermost
    // is the lowest.
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
            // The closing brackets stand two behind the opening ones.
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
                index.leave(at);
            }
        }
    }
}

/// Where the number, truth value or null at `at` ends that begins with `first`.
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

/// Where the value begins whose key stands at `at`.
fn key_end(bytes: &[u8], at: usize, index: Option<&mut Index<'_>>) -> Option<usize> {
    let (end, has_escapes) = string_end(bytes, at)?;
    if let Some(index) = index {
        index.push(at, end, has_escapes);
    }
    let colon = blank_end(bytes, end);
    (*bytes.get(colon)? == b':').then(|| blank_end(bytes, colon + 1))
}

/// Where the string at `at` ends, and whether there are escapes in it.
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

/// Where the digits end of which at least one stands at `at`.
fn digits_end(bytes: &[u8], at: usize) -> Option<usize> {
    let count = bytes.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(at + count)
}

fn word_end(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}
