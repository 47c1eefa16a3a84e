//! The text of JSON strings that hold escapes.

use alloc::string::String;
use innerloop_json_scan::code_unit;

/// Whether a text holds an escape that stands for half a surrogate pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoneSurrogate;

/// The text of a string's inside, whose escapes are known to be well formed. Half a surrogate pair
/// is U+FFFD if `is_lossy`.
///
/// # Errors
/// There is half a surrogate pair, and not `is_lossy`.
pub(crate) fn unescaped(inside: &str, is_lossy: bool) -> Result<String, LoneSurrogate> {
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

/// The character of `uXXXX` or `uXXXX\uXXXX`, and how many bytes it takes; none for a lone
/// surrogate.
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
