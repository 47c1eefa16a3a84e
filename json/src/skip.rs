//! Passing over a value at the speed of its bytes. It only says where the value ends: what is wrong
//! with one that is not valid, the reader finds out step by step.

use crate::strings::{code_unit, plain_len};

/// How deep arrays and objects may be nested: hostile text is refused before the stack ends.
pub const MAX_DEPTH: u8 = 127;

/// Where the value ends that stands at `at` or behind white space there, inside of so many arrays
/// and objects; nothing if it is not valid or nested too deep.
pub(crate) fn value_end(bytes: &[u8], at: usize, outside: u8) -> Option<usize> {
    let (mut at, mut depth) = (at, outside);
    // Of the arrays and objects that are open, a bit each: whether it is an object. The innermost
    // is the lowest.
    let mut objects = 0_u128;
    loop {
        at = blank_end(bytes, at);
        at = match *bytes.get(at)? {
            b'"' => string_end(bytes, at + 1)?,
            b'-' | b'0'..=b'9' => number_end(bytes, at)?,
            b't' => word_end(bytes, at, b"true")?,
            b'f' => word_end(bytes, at, b"false")?,
            b'n' => word_end(bytes, at, b"null")?,
            bracket @ (b'{' | b'[') if depth < MAX_DEPTH => {
                let is_object = bracket == b'{';
                at = blank_end(bytes, at + 1);
                // The closing brackets stand two behind the opening ones.
                if *bytes.get(at)? != bracket + 2 {
                    depth += 1;
                    objects = objects << 1 | u128::from(is_object);
                    at = if is_object { key_end(bytes, at)? } else { at };
                    continue;
                }
                at + 1
            }
            _ => return None,
        };
        loop {
            if depth == outside {
                return Some(at);
            }
            let is_object = objects & 1 == 1;
            at = blank_end(bytes, at);
            match *bytes.get(at)? {
                b',' if is_object => {
                    at = key_end(bytes, blank_end(bytes, at + 1))?;
                    break;
                }
                b',' => {
                    at += 1;
                    break;
                }
                b'}' if is_object => {}
                b']' if !is_object => {}
                _ => return None,
            }
            at += 1;
            depth -= 1;
            objects >>= 1;
        }
    }
}

fn blank_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Where the key at `at` ends, with its colon.
fn key_end(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let colon = blank_end(bytes, string_end(bytes, at + 1)?);
    (*bytes.get(colon)? == b':').then_some(colon + 1)
}

/// Where the string ends whose inside begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        at += plain_len(bytes.get(at..)?);
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => {}
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
