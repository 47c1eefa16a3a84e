//! The secrets that have a shape, by the table of kinds. Runs are greedy, and no rule goes back.

use super::{
    cursor::{FoundSecret, ScanText},
    kinds,
};

/// Returns the secret of a kind of the table at a place.
pub(super) fn kind_at(text: &ScanText<'_>, at: usize) -> Option<FoundSecret> {
    let (lead, before) = (text.peek(at), text.back(at, 1));
    let may_begin = match lead {
        // The parts before these are public, or too short to matter, and stay.
        b':' | b'Q' => before.is_ascii_digit(),
        b'.' => before.is_ascii_alphanumeric(),
        _ => is_border(text, at),
    };
    let fits = |line| fits(text, at, line);
    may_begin.then(|| kinds::first_of(lead, text.peek(at + 1), fits)).flatten()
}

/// Returns whether no word goes on over the place.
fn is_border(text: &ScanText<'_>, at: usize) -> bool {
    let before = text.back(at, 1);
    kinds::bits(before) & kinds::WORD == 0
        // In JSON and in source, the end of `\n` is a letter, and that of `\u003c` may be one;
        // in an address, that of `%3D`.
        || (matches!(before, b'n' | b'r' | b't') && text.back(at, 2) == b'\\')
        || (text.back(at, 5) == b'u' && text.back(at, 6) == b'\\')
        || text.back(at, 3) == b'%'
}

/// Returns the secret at `at` if it has the shape of the line.
fn fits(text: &ScanText<'_>, at: usize, line: &'static str) -> Option<FoundSecret> {
    let (lead, parts) = word(line);
    let mut end = text.literal(at, lead.as_bytes())?;
    let (kind, mut parts) = word(parts);
    // The sign that leads to a secret is not part of it.
    let mut start = at + usize::from(matches!(text.peek(at), b':' | b'.'));
    let mut last = kinds::ALNUM;
    while let Some((sign, _)) = parts.as_bytes().split_first() {
        let (part, rest) = word(parts);
        parts = rest;
        let part = part.as_bytes().get(1..)?;
        match sign {
            b'|' => start = end,
            b'\'' => {
                end = text.literal(end, part)?;
                last = kinds::ALNUM;
            }
            class => {
                last = kinds::class(*class);
                let (min, max) = counts(part);
                let run = run(text, end, last, max);
                if run < min {
                    return None;
                }
                end += run;
            }
        }
    }
    let goes_on = kinds::bits(text.peek(end)) & (last | kinds::ALNUM) != 0;
    (!goes_on).then_some(FoundSecret { range: start..end, kind })
}

/// Returns the number of bytes of a class at a place, at most `max`.
fn run(text: &ScanText<'_>, at: usize, class: u8, max: usize) -> usize {
    let in_class = |at: &usize| kinds::bits(text.peek(*at)) & class != 0;
    (at..at + max).take_while(in_class).count()
}

/// Returns the first word of a line of the table, and what follows it.
fn word(line: &'static str) -> (&'static str, &'static str) {
    let end = line.bytes().take_while(|byte| *byte != b' ').count();
    (line.get(..end).unwrap_or_default(), line.get(end + 1..).unwrap_or_default())
}

/// Returns the counts of `20-300`, or of `20`, which is the minimum and the maximum.
fn counts(part: &[u8]) -> (usize, usize) {
    let (mut min, mut max) = (None, 0);
    for byte in part {
        if *byte == b'-' {
            min = Some(core::mem::take(&mut max));
        } else {
            max = max * 10 + usize::from(byte & 15);
        }
    }
    (min.unwrap_or(max), max)
}
