//! The inside of JSON strings: the ends of plain text, escapes read and written. Plain text is
//! passed over eight bytes at a time.

use alloc::string::String;

const ONES: u64 = u64::MAX / 0xff;
const HIGHS: u64 = ONES << 7;

/// Returns the number of bytes before the first quote, backslash or control character.
pub fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let found = special(u64::from_le_bytes(*chunk));
        if found != 0 {
            // The bytes are loaded in little-endian order, so that the lowest mark is the first
            // special byte, and marks above it may be wrong.
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let is_special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    at + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Marks the high bit of each special byte. A borrow may also mark a byte above the first special
/// one, never below it.
const fn special(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGHS
}

/// Appends `text` as a JSON string, with its quotes.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, special) =
            rest.split_at_checked(plain_len(rest.as_bytes())).unwrap_or((rest, ""));
        out.push_str(plain);
        let Some(&byte) = special.as_bytes().first() else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            byte => {
                let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
                out.push_str("\\u00");
                out.push(digit(byte >> 4));
                out.push(digit(byte & 15));
            }
        }
        rest = special.get(1..).unwrap_or_default();
    }
    out.push('"');
}

/// Returns `text` as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_string(&mut out, text);
    out
}

/// Returns the code unit of the four hexadecimal digits behind `\u`.
pub fn code_unit(digits: &[u8]) -> Option<u32> {
    digits.first_chunk::<4>()?.iter().try_fold(0, |unit, &byte| {
        let digit = char::from(byte).to_digit(16)?;
        Some(unit << 4 | digit)
    })
}

/// The error of a text with an escape that stands for half a surrogate pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoneSurrogate;

/// Returns the text inside a string, whose escapes are known to be well formed. Half of a surrogate
/// pair becomes U+FFFD if `is_lossy`.
///
/// # Errors
/// There is half a surrogate pair, and not `is_lossy`.
pub fn unescaped(inside: &str, is_lossy: bool) -> Result<String, LoneSurrogate> {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut len = 1;
        match escape.as_bytes().first() {
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'n') => out.push('\n'),
            Some(b'r') => out.push('\r'),
            Some(b't') => out.push('\t'),
            Some(b'u') => {
                let (c, taken) = unicode(escape);
                len = taken;
                out.push(c.or(is_lossy.then_some('\u{fffd}')).ok_or(LoneSurrogate)?);
            }
            Some(&byte) => out.push(char::from(byte)),
            None => {}
        }
        rest = escape.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(out)
}

/// Returns the character of `uXXXX` or `uXXXX\uXXXX`, and its number of bytes; no character for a
/// lone surrogate.
fn unicode(escape: &str) -> (Option<char>, usize) {
    let bytes = escape.as_bytes();
    let unit = |at: usize| bytes.get(at..).and_then(code_unit);
    let high = unit(1).unwrap_or(0xfffd);
    if !(0xd800..0xdc00).contains(&high) {
        return (char::from_u32(high), 5);
    }
    let low = if escape.get(5..7) == Some("\\u") { unit(7) } else { None };
    match low {
        Some(low @ 0xdc00..=0xdfff) => {
            (char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)), 11)
        }
        _ => (None, 5),
    }
}
