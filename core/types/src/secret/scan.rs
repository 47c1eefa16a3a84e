//! The search for secrets in bytes, which may be cut before their end. Where the first byte of a
//! secret may stand, the kinds of the table and the other rules are tried. No rule goes back, so
//! that the time grows with the length of the text: a rule that fails late begins where no other
//! can begin before it ends, or has a bounded length.

use super::{
    assignment,
    cursor::{FoundSecret, ScanText},
    kinds, pem,
    shape::kind_at,
    url,
};

/// The number of bytes before a place that rules look at: a stream keeps so many.
pub(super) const CONTEXT: usize = 48;

/// The length of the longest escape behind which a secret may begin, `\u003c`.
const LONGEST_ESCAPE: usize = 6;

/// A step of the search.
pub(super) enum ScanStep {
    Found(FoundSecret),
    /// There are no more secrets before this place; behind it nothing is decided until more of the
    /// text comes.
    Finished(usize),
}

/// Returns the first secret that begins at `from` or later.
pub(super) fn find(text: &ScanText<'_>, from: usize) -> ScanStep {
    let mut before = text.back(from, 1);
    // The number of bytes from here on of which an escape may end before one.
    let mut escaped = LONGEST_ESCAPE;
    for (at, byte) in (from..).zip(text.part(from..text.len()).iter().copied()) {
        // Most bytes are those of a word behind its first, where no secret begins.
        let goes_on = escaped == 0 && kinds::bits(before) & kinds::WORD != 0;
        let may_begin = match byte {
            b':' | b'=' | b'-' | b'.' | b'Q' => true,
            _ => !goes_on && kinds::is_lead(byte),
        };
        if may_begin {
            let found = secret_at(text, at);
            if text.was_cut() {
                return ScanStep::Finished(at);
            }
            if let Some(found) = found {
                return ScanStep::Found(found);
            }
        }
        escaped = if matches!(byte, b'\\' | b'%') { LONGEST_ESCAPE } else { escaped.max(1) - 1 };
        before = byte;
    }
    ScanStep::Finished(text.len())
}

fn secret_at(text: &ScanText<'_>, at: usize) -> Option<FoundSecret> {
    let of_kind = kind_at(text, at);
    match text.peek(at) {
        _ if of_kind.is_some() => of_kind,
        b'-' => pem::body(text, at),
        b':' => url::password(text, at).or_else(|| assignment::value(text, at)),
        b'=' => assignment::value(text, at),
        _ => None,
    }
}
