//! The search for the text that an edit replaces: exactly, or else line by line, with look-alike
//! characters treated as equal. The strictest pass that finds anything decides, and each is linear
//! in the file.

use crate::numbers::LineInterner;
use innerloop_json::IntoList;
use std::{borrow::Cow, ops::Range};

/// The places of the old text, and how it was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextMatches {
    /// The places in bytes, in order, without overlaps; at least one.
    pub(crate) spans: Vec<Range<usize>>,
    /// The pass that found them.
    pub(crate) pass: MatchStrictness,
}

impl TextMatches {
    /// Returns whether it was found exactly.
    pub(crate) fn is_exact(&self) -> bool {
        self.pass == MatchStrictness::Exact
    }
}

/// The strictness with which the old text is compared, from the strictest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchStrictness {
    /// Byte for byte.
    Exact,
    /// Line by line, ignoring white space at the ends of lines.
    TrailingSpace,
    /// Line by line, ignoring indentation and white space at the ends of lines.
    Indentation,
    /// Typographic quotes, dashes and spaces equal the plain ones.
    Punctuation,
    /// Both indentation and punctuation are treated so.
    IndentationAndPunctuation,
}

const FUZZY: [MatchStrictness; 4] = [
    MatchStrictness::TrailingSpace,
    MatchStrictness::Indentation,
    MatchStrictness::Punctuation,
    MatchStrictness::IndentationAndPunctuation,
];

impl MatchStrictness {
    /// Returns what was ignored, in words; `None` for an exact match.
    pub(crate) const fn leniency(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::TrailingSpace => Some("white space at line ends"),
            Self::Indentation => Some("indentation"),
            Self::Punctuation => Some("typographic punctuation"),
            Self::IndentationAndPunctuation => Some("indentation and typographic punctuation"),
        }
    }

    /// Returns whether the new text must take on the file's indentation.
    pub(crate) const fn reindents(self) -> bool {
        matches!(self, Self::Indentation | Self::IndentationAndPunctuation)
    }

    /// Returns the part of a line that this pass compares.
    pub(crate) fn key(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Exact | Self::Punctuation => Cow::Borrowed(line),
            Self::TrailingSpace => Cow::Borrowed(line.trim_end()),
            Self::Indentation => Cow::Borrowed(line.trim()),
            Self::IndentationAndPunctuation => match fold(line) {
                Cow::Borrowed(line) => Cow::Borrowed(line.trim()),
                Cow::Owned(line) => Cow::Owned(line.trim().to_owned()),
            },
        }
    }
}

/// Finds `old` in `text` by the strictest pass that finds it at all. Both must have `\n` as line
/// ends.
pub(crate) fn find(text: &str, old: &str) -> Option<TextMatches> {
    let spans = places(text, old);
    if !spans.is_empty() {
        return Some(TextMatches { spans, pass: MatchStrictness::Exact });
    }
    // Blank lines stand everywhere once white space is ignored, so they must match exactly.
    if old.trim().is_empty() {
        return None;
    }
    FUZZY.into_iter().find_map(|pass| {
        let spans = match pass {
            // Folding keeps indentation, so this pass need not take whole lines and also finds a
            // part of one.
            MatchStrictness::Punctuation => find_folded(text, old),
            _ => find_lines(text, old, pass),
        };
        (!spans.is_empty()).then_some(TextMatches { spans, pass })
    })
}

/// Returns where `old` is in `text`, byte for byte.
fn places(text: &str, old: &str) -> Vec<Range<usize>> {
    text.match_indices(old).map(|(at, _)| at..at + old.len()).into_list()
}

/// Returns the lines with the places at which they begin.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    })
}

/// Finds runs of whole lines that `pass` treats as equal to those of `old`.
fn find_lines(text: &str, old: &str, pass: MatchStrictness) -> Vec<Range<usize>> {
    let (wanted, ends_with_feed) = match old.strip_suffix('\n') {
        Some(rest) => (rest, true),
        None => (old, false),
    };
    let mut numbers = LineInterner::new();
    let needle: Vec<u32> = wanted.split('\n').map(|line| numbers.add(pass.key(line))).into_list();
    let hay: Vec<u32> = text.split('\n').map(|line| numbers.of(&pass.key(line))).into_list();
    let starts = find_runs(&hay, &needle);
    if starts.is_empty() {
        return Vec::new();
    }
    let lines: Vec<(usize, usize)> =
        lines(text).map(|(start, line)| (start, start + line.len())).into_list();
    let span = |first: usize| -> Option<Range<usize>> {
        let (start, _) = lines.get(first)?;
        let (_, end) = lines.get(first + needle.len() - 1)?;
        let feed = usize::from(ends_with_feed && *end < text.len());
        Some(*start..end + feed)
    };
    starts.into_iter().filter_map(span).into_list()
}

/// Returns where `needle` begins in `hay`, without overlaps (Knuth, Morris, Pratt), so that many
/// equal lines do not make it quadratic.
fn find_runs(hay: &[u32], needle: &[u32]) -> Vec<usize> {
    let at = |i: usize| needle.get(i).copied();
    // The length of the longest border of each prefix of the needle.
    let mut borders: Vec<usize> = vec![0];
    let border = |borders: &[usize], length: usize| {
        length.checked_sub(1).and_then(|i| borders.get(i)).copied().unwrap_or(0)
    };
    for id in needle.iter().skip(1) {
        let mut length = borders.last().copied().unwrap_or(0);
        while length > 0 && at(length) != Some(*id) {
            length = border(&borders, length);
        }
        borders.push(length + usize::from(at(length) == Some(*id)));
    }
    let mut starts = Vec::new();
    let mut length = 0;
    for (i, id) in hay.iter().enumerate() {
        while length > 0 && at(length) != Some(*id) {
            length = border(&borders, length);
        }
        length += usize::from(at(length) == Some(*id));
        if length == needle.len() {
            starts.push(i + 1 - length);
            length = 0;
        }
    }
    starts
}

/// Finds `old` anywhere, with typographic punctuation folded in both.
fn find_folded(text: &str, old: &str) -> Vec<Range<usize>> {
    let folded = fold(text);
    let needle = fold(old);
    // Nothing is folded in either, and the exact search has failed.
    if matches!((&folded, &needle), (Cow::Borrowed(_), Cow::Borrowed(_))) {
        return Vec::new();
    }
    let mut spans = places(&folded, &needle);
    // All that is folded to is ASCII, so the folded text is shorter and its places differ.
    if let Cow::Owned(_) = folded {
        let shortened = text.char_indices().filter(|(_, c)| !c.is_ascii());
        let mut dropped = shortened.map(|(at, c)| (at, c.len_utf8() - fold_char(c).len_utf8()));
        unshorten(&mut spans, &mut dropped);
    }
    spans
}

/// Maps sorted places in a shortened text to those in the text itself. `dropped` yields the places
/// in the text at which bytes were dropped, in order, and how many.
pub(crate) fn unshorten(
    spans: &mut [Range<usize>],
    dropped: &mut dyn Iterator<Item = (usize, usize)>,
) {
    let mut dropped = dropped.peekable();
    let mut shift = 0;
    for span in spans {
        for place in [&mut span.start, &mut span.end] {
            while let Some((_, bytes)) = dropped.next_if(|(at, _)| *at < *place + shift) {
                shift += bytes;
            }
            *place += shift;
        }
    }
}

/// Returns the text with plain quotes, dashes and spaces.
fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(fold_char).collect())
}

const fn fold_char(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        _ => c,
    }
}
