//! Private keys between the lines of PEM. Each line of the body gets a mask of its own, so that a
//! text keeps its lines, and tools may number them.

use super::{
    cursor::{FoundSecret, ScanText},
    kinds,
};
use core::ops::Range;

/// The name of their kind.
pub(super) const KIND: &str = "pem";
const DASHES: &[u8] = b"-----";
/// The maximum length of what `-----BEGIN ` and the dashes behind enclose.
const HEADER: usize = 48;
/// The minimum length of a line of the key, but for its last.
const LINE: usize = 32;
/// The minimum number of characters of the key.
const SHORTEST: usize = 64;
/// The minimum length of a run of the body that is masked: the digits before a line are shorter.
const MASKED: usize = 8;
/// The number of short runs in a row that no body has: two lines with the path of their file have
/// fewer.
const SHORTS: usize = 16;
/// The number of bytes in which the key's first line must begin: other headers may come before.
const HEADERS: usize = 1024;

/// Returns the body of the private key whose `-BEGIN ` is at `at`.
pub(super) fn body(text: &ScanText<'_>, at: usize) -> Option<FoundSecret> {
    let start = start(text, at)?;
    Some(FoundSecret { range: start..end(text, start)?, kind: KIND })
}

/// Returns where the body begins.
fn start(text: &ScanText<'_>, at: usize) -> Option<usize> {
    let from = text.literal(at, b"-BEGIN ")?;
    let is_name = |at: &usize| matches!(text.peek(*at), b'A'..=b'Z' | b'0'..=b'9' | b' ');
    let to = from + (from..from + HEADER).take_while(is_name).count();
    let name = text.part(from..to);
    let is_private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    let dashes = (1..DASHES.len()).all(|count| text.back(at, count) == b'-');
    if is_private && dashes { text.literal(to, DASHES) } else { None }
}

/// Returns whether a body may hold the byte. It holds more than base64: other headers, and, in
/// source, the quotes and signs around its lines. Templates and masks it does not hold.
fn may_hold(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~') && !b"<${".contains(&byte)
}

/// Calls `see` with each run of a body that is masked.
pub(super) fn lines(text: &ScanText<'_>, body: Range<usize>, see: &mut dyn FnMut(FoundSecret)) {
    let mut at = body.start;
    while at < body.end {
        let rest = text.part(at..body.end);
        // A plus before a line may be that of a patch, in which the line has its mask all the same.
        let is_added = rest.starts_with(b"+");
        let run = rest.iter().take_while(|byte| is_of_key(**byte) && !is_added).count();
        if run >= MASKED {
            see(FoundSecret { range: at..at + run, kind: KIND });
        }
        // The letter of `\n` is not of the next line.
        at += if text.peek(at) == b'\\' { 2 } else { run.max(1) };
    }
}

fn is_of_key(byte: u8) -> bool {
    kinds::bits(byte) & kinds::BASE64 != 0 && byte != b'.'
}

/// Returns where the body ends: at the next dashes if they begin an END line, and else, as the text
/// may have been cut, behind the line that is shorter than the others.
fn end(text: &ScanText<'_>, start: usize) -> Option<usize> {
    let (mut at, mut run, mut total, mut shorts) = (start, 0, 0, 0);
    let mut end = None;
    while end.is_some() || at - start < HEADERS || run >= LINE {
        let byte = text.peek(at);
        if is_of_key(byte) {
            (at, run) = (at + 1, run + 1);
            continue;
        }
        if run >= LINE {
            (end, shorts) = (Some(at), 0);
        } else if run > 0 && end.is_some() {
            shorts += 1;
            // The last line of a key, or of a block of PGP its sum, too, is short, and so is the
            // number before it. More are text, unless the key's END follows.
            match shorts {
                1 | 2 => end = Some(at),
                SHORTS => break,
                _ => {}
            }
        }
        total += run;
        run = 0;
        if let Some(behind) = text.literal(at, DASHES) {
            // Tools that search put a dash of their own before it.
            let name = behind + usize::from(text.peek(behind) == b'-');
            if end.is_some() && text.peek(name) == b'E' {
                end = Some(at);
            }
            break;
        }
        if !may_hold(byte) {
            break;
        }
        // The letter of `\n` would count as the key's.
        let is_escape = byte == b'\\' && matches!(text.peek(at + 1), b'n' | b'r' | b't');
        at += 1 + usize::from(is_escape);
    }
    end.filter(|_| total >= SHORTEST)
}
