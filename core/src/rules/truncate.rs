//! Cuts of a tool's output to what the model reads: characters first, then lines. Both gaps are
//! found in the original and merged, so that the markers' counts are true; searches keep their
//! beginning (`docs/decisions.md#output-limits`).

use alloc::{format, string::String};
use innerloop_types::text::{nth_char, nth_char_back};

/// The part that stays of an output that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncateMode {
    /// The beginning and the end.
    HeadTail,
    /// The beginning; the rest is left out.
    Head,
    /// The end; what comes before is left out.
    Tail,
}

/// The limits on how much of a tool's output the model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimit {
    /// Most characters (Unicode scalar values).
    pub max_chars: usize,
    /// Most lines, if lines are limited.
    pub max_lines: Option<usize>,
    /// The part that stays.
    pub keep: TruncateMode,
}

impl OutputLimit {
    /// The limit of tools of which nothing else is known.
    pub const DEFAULT: Self =
        Self { max_chars: 30_000, max_lines: None, keep: TruncateMode::HeadTail };
}

/// Returns `text` cut to `limit`, or `None` if it is within it already. A marker at the gap says
/// how much is missing.
#[must_use]
pub fn truncate(text: &str, limit: &OutputLimit) -> Option<String> {
    let by_chars = char_gap(text, limit);
    // The gap of the lines is never smaller than that of the characters, so that it stands for both
    // where both are needed.
    let by_lines = limit.max_lines.and_then(|max| line_gap(text, by_chars, max, limit.keep));
    let gap = by_lines.or(by_chars)?;
    let (head, tail) = (text.get(..gap.start)?, text.get(gap.end..)?);
    let missing = text.get(gap.start..gap.end)?;
    let mut out = String::with_capacity(head.len() + tail.len() + 300);
    out.push_str(head);
    if by_chars.is_some() {
        out.push_str(&char_marker(missing.chars().count(), head.is_empty(), tail.is_empty()));
    }
    if by_lines.is_some() {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&format!("[... {} lines omitted ...]\n", line_count(missing)));
    }
    out.push_str(tail);
    Some(out)
}

/// The range of bytes of a text that is left out.
#[derive(Clone, Copy)]
struct OmittedRange {
    start: usize,
    end: usize,
}

/// Returns the parts of `max` units that stay at the beginning and at the end.
const fn shares(max: usize, keep: TruncateMode) -> (usize, usize) {
    match keep {
        // The end gets the odd one: with two equal halves a character would be lost that no marker
        // counts.
        TruncateMode::HeadTail => (max / 2, max - max / 2),
        TruncateMode::Head => (max, 0),
        TruncateMode::Tail => (0, max),
    }
}

fn char_gap(text: &str, limit: &OutputLimit) -> Option<OmittedRange> {
    let max = limit.max_chars;
    // A text with no more bytes than allowed has no more characters either.
    if text.len() <= max || nth_char(text, max) == text.len() {
        return None;
    }
    let (head, tail) = shares(max, limit.keep);
    Some(OmittedRange { start: nth_char(text, head), end: nth_char_back(text, tail) })
}

/// Returns the gap that leaves `max` lines and is no smaller than that of the characters; `None` if
/// that one leaves no more lines anyway.
fn line_gap(
    text: &str,
    chars: Option<OmittedRange>,
    max: usize,
    keep: TruncateMode,
) -> Option<OmittedRange> {
    let inner = chars.unwrap_or(OmittedRange { start: text.len(), end: text.len() });
    if line_count(text.get(..inner.start)?) + line_count(text.get(inner.end..)?) <= max {
        return None;
    }
    let (head, tail) = shares(max, keep);
    let (start, end) = (nth_line(text, head), nth_line_back(text, tail));
    Some(match chars {
        None => OmittedRange { start, end },
        Some(gap) => OmittedRange { start: start.min(gap.start), end: end.max(gap.end) },
    })
}

/// Returns the marker, in the specification's words.
fn char_marker(removed: usize, no_head: bool, no_tail: bool) -> String {
    let full = "The full output is available in the event stream.";
    match (no_head, no_tail) {
        (true, _) => format!(
            "[WARNING: Tool output was truncated. First {removed} characters were removed. \
             {full}]\n\n"
        ),
        (false, true) => format!(
            "\n\n[WARNING: Tool output was truncated. Last {removed} characters were removed. \
             {full}]"
        ),
        (false, false) => format!(
            "\n\n[WARNING: Tool output was truncated. {removed} characters were removed from the \
             middle. {full} If you need to see specific parts, re-run the tool with more \
             targeted parameters.]\n\n"
        ),
    }
}

fn line_count(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Returns the offset behind the first `n` lines.
fn nth_line(text: &str, n: usize) -> usize {
    match n.checked_sub(1) {
        None => 0,
        Some(skip) => {
            memchr::memchr_iter(b'\n', text.as_bytes()).nth(skip).map_or(text.len(), |at| at + 1)
        }
    }
}

/// Returns the offset at which the last `n` lines begin.
fn nth_line_back(text: &str, n: usize) -> usize {
    if n == 0 {
        return text.len();
    }
    // The line feed at the very end ends the last line and begins none.
    let body = text.strip_suffix('\n').unwrap_or(text);
    memchr::memrchr_iter(b'\n', body.as_bytes()).nth(n - 1).map_or(0, |at| at + 1)
}
