//! The search for the lines of one file that a regular expression matches: first for texts that
//! such a line must contain, then by the expression itself. A match that may span lines is looked
//! for in the whole text at once. [`LineMatcher`] lets a host bring a faster engine.

use crate::{
    encoding::as_utf8,
    literals::RequiredLiterals,
    read::unmarked,
    regex::{Regex, RegexFlags, escaped},
};
use innerloop_json::IntoList;
use innerloop_types::action::GrepQuery;
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use std::{
    borrow::Cow,
    cell::Cell,
    ops::{ControlFlow, Range},
    str,
};

/// The maximum number of bytes of a text that are compared at one place, so that the search stays
/// linear.
const MAX_COMPARED_BYTES: usize = 64;

/// The engine that finds what a search looks for in the lines of a text.
pub trait LineMatcher {
    /// Returns the bytes that are searched in place of a file's: those of [`searched`], and only
    /// UTF-8 if matches may span lines.
    fn searched<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]>;

    /// Returns whether matches may span lines, so that only texts are searched.
    fn is_multiline(&self) -> bool;

    /// Returns a function that finds places in lines that may match, each at or after the one that
    /// it is given. No line that matches is passed over.
    fn candidates<'b>(&'b self, bytes: &'b [u8]) -> impl FnMut(usize) -> Option<usize> + 'b;

    /// Returns where in a line the first match begins; `place` is that of the candidate.
    fn find(&self, line: &str, place: usize) -> Option<usize>;

    /// Returns whether a line is left out although it matches.
    fn excludes(&self, line: &str) -> bool;

    /// Returns the matches in a text, one after the other.
    fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't;
}

/// The matcher of the page's module, which has no room for a larger one.
#[derive(Debug)]
pub struct SmallMatcher {
    regex: Regex,
    /// Excludes lines that match it.
    unless: Option<Regex>,
    multiline: bool,
    finders: Option<Vec<LiteralFinder>>,
    /// True if a line that contains what the finders look for needs no further check.
    sufficient: bool,
}

/// A line that matches, or the lines that a match spans.
pub(crate) struct SearchHit<'a> {
    /// The line without its line end; of several, the last line's.
    pub(crate) line: Cow<'a, str>,
    /// The offset in the line at which the match begins, in bytes.
    pub(crate) at: usize,
    /// The offset in the file at which the line begins, in bytes.
    pub(crate) start: usize,
    /// The offset of its line feed, or of the file's end.
    pub(crate) end: usize,
    counter: &'a LineCounter<'a>,
}

impl SearchHit<'_> {
    /// Returns the first line's number, counted from 1.
    pub(crate) fn number(&self) -> usize {
        self.counter.number(self.start)
    }
}

/// A counter of lines that counts only as far as it is asked, and never goes back.
struct LineCounter<'a> {
    bytes: &'a [u8],
    counted: Cell<usize>,
    line: Cell<usize>,
}

impl LineCounter<'_> {
    fn number(&self, start: usize) -> usize {
        let passed = self.bytes.get(self.counted.get()..start).unwrap_or_default();
        self.line.set(self.line.get() + memchr_iter(b'\n', passed).count());
        self.counted.set(start);
        self.line.get()
    }
}

impl SmallMatcher {
    /// Compiles the search, or returns the expression that is not valid, and why.
    pub(crate) fn new(grep: &GrepQuery) -> Result<Self, (String, String)> {
        let GrepQuery { ignore_case, multiline, .. } = *grep;
        let pattern = match grep.literal {
            true => Cow::Owned(escaped(&grep.pattern)),
            false => Cow::Borrowed(grep.pattern.as_str()),
        };
        let flags = RegexFlags {
            ignore_case,
            multi_line: multiline,
            dot_matches_all: multiline,
            ..RegexFlags::default()
        };
        let build = |pattern: &str| {
            Regex::new(pattern, flags).map_err(|why| (pattern.to_owned(), why.to_owned()))
        };
        let regex = build(&pattern)?;
        let unless = grep.unless.as_deref().map(build).transpose()?;
        let plain = Self { regex, unless, multiline, finders: None, sufficient: false };
        // Only within a line: a match over several lines may have these texts in any of them.
        let Some(needles) = RequiredLiterals::of(&pattern).filter(|_| !multiline) else {
            return Ok(plain);
        };
        let caseless = ignore_case || needles.ignores_case;
        let longest = needles.texts.iter().map(String::len).max().unwrap_or(0);
        // Of a longer text only the beginning is compared, which proves nothing yet.
        let sufficient = needles.sufficient && longest <= MAX_COMPARED_BYTES;
        let finders =
            needles.texts.iter().map(|text| LiteralFinder::new(text, caseless)).into_list();
        Ok(Self { finders: Some(finders), sufficient, ..plain })
    }
}

impl LineMatcher for SmallMatcher {
    fn searched<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let bytes = searched(bytes);
        if !self.multiline || str::from_utf8(&bytes).is_ok() {
            return bytes;
        }
        Cow::Owned(text(&bytes).into_owned().into_bytes())
    }

    fn is_multiline(&self) -> bool {
        self.multiline
    }

    fn candidates<'b>(&'b self, bytes: &'b [u8]) -> impl FnMut(usize) -> Option<usize> + 'b {
        let mut candidates = CandidateFinder::new(bytes, self.finders.as_deref());
        move |from| candidates.next(from)
    }

    fn find(&self, line: &str, place: usize) -> Option<usize> {
        if self.sufficient {
            Some(place)
        } else {
            self.regex.find(line, 0).map(|found| found.start)
        }
    }

    fn excludes(&self, line: &str) -> bool {
        self.unless.as_ref().is_some_and(|unless| unless.is_match(line))
    }

    fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        self.regex.matches(text)
    }
}

/// Returns the bytes of a file as they are searched: in UTF-8 if the encoding is known, and without
/// a byte order mark, so that `^` finds what stands behind it.
#[must_use]
pub fn searched(bytes: &[u8]) -> Cow<'_, [u8]> {
    match as_utf8(bytes) {
        Cow::Borrowed(bytes) => Cow::Borrowed(unmarked(bytes)),
        Cow::Owned(bytes) => Cow::Owned(unmarked(&bytes).to_vec()),
    }
}

/// Returns how many lines of a text match, or runs of lines. Counting stops at `most`.
#[must_use]
pub fn hits(matcher: &impl LineMatcher, bytes: &[u8], most: u64) -> u64 {
    let mut count = 0;
    let _ = each_hit(matcher, bytes, &mut |_| {
        count += 1;
        if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    count
}

/// Calls `visit` for each line that matches, or each run of lines, until it breaks.
pub(crate) fn each_hit(
    matcher: &impl LineMatcher,
    bytes: &[u8],
    visit: &mut dyn FnMut(&SearchHit<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let visit: &mut dyn FnMut(&SearchHit<'_>) -> ControlFlow<()> = &mut |hit| {
        if matcher.excludes(&hit.line) { ControlFlow::Continue(()) } else { visit(hit) }
    };
    match str::from_utf8(bytes) {
        Ok(text) if matcher.is_multiline() => each_run(matcher, text, visit),
        _ => each_line(matcher, bytes, visit),
    }
}

/// Calls `visit` for each run of lines that a match spans.
fn each_run(
    matcher: &impl LineMatcher,
    text: &str,
    visit: &mut dyn FnMut(&SearchHit<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let bytes = text.as_bytes();
    let counter = LineCounter { bytes, counted: Cell::new(0), line: Cell::new(1) };
    // Lines before this belong to a run that has been visited.
    let mut from = 0;
    for found in matcher.matches(text) {
        let last = found.end.max(found.start + 1) - 1;
        // There is no line after the last line feed.
        if last < from || (last == bytes.len() && (last == 0 || text.ends_with('\n'))) {
            continue;
        }
        let line_start = bytes.get(..found.start).and_then(|b| memrchr(b'\n', b));
        let start = line_start.map_or(0, |at| at + 1).max(from);
        let rest = bytes.get(last..).unwrap_or_default();
        let end = last + memchr(b'\n', rest).unwrap_or(rest.len());
        let run = text.get(start..end).unwrap_or_default();
        let line = Cow::Borrowed(run.strip_suffix('\r').unwrap_or(run));
        let at = found.start.saturating_sub(start);
        from = end + 1;
        visit(&SearchHit { line, at, start, end, counter: &counter })?;
    }
    ControlFlow::Continue(())
}

/// Calls `visit` for each line that matches.
fn each_line(
    matcher: &impl LineMatcher,
    bytes: &[u8],
    visit: &mut dyn FnMut(&SearchHit<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let counter = LineCounter { bytes, counted: Cell::new(0), line: Cell::new(1) };
    let mut candidates = matcher.candidates(bytes);
    let mut from = 0;
    while let Some(place) = candidates(from) {
        let start = bytes.get(..place).and_then(|b| memrchr(b'\n', b)).map_or(0, |at| at + 1);
        let rest = bytes.get(start..).unwrap_or_default();
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        from = start + length + 1;
        let line = rest.get(..length).unwrap_or_default();
        let line = text(line.strip_suffix(b"\r").unwrap_or(line));
        if let Some(at) = matcher.find(&line, place - start) {
            visit(&SearchHit { line, at, start, end: start + length, counter: &counter })?;
        }
    }
    ControlFlow::Continue(())
}

/// Returns the line as text, with U+FFFD for what is not UTF-8.
pub(crate) fn text(line: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(line) {
        Ok(line) => Cow::Borrowed(line),
        Err(_) => String::from_utf8_lossy(line),
    }
}

/// The places in a file at which a matching line may be.
struct CandidateFinder<'a> {
    bytes: &'a [u8],
    finders: Option<&'a [LiteralFinder]>,
    /// The next place of each finder.
    next: Vec<Option<usize>>,
}

impl<'a> CandidateFinder<'a> {
    fn new(bytes: &'a [u8], finders: Option<&'a [LiteralFinder]>) -> Self {
        let next = finders.unwrap_or_default().iter().map(|f| f.find(bytes, 0)).into_list();
        Self { bytes, finders, next }
    }

    /// Returns the first place at or after `from`.
    fn next(&mut self, from: usize) -> Option<usize> {
        let Some(finders) = self.finders else {
            return (from < self.bytes.len()).then_some(from);
        };
        for (finder, next) in finders.iter().zip(&mut self.next) {
            if next.is_some_and(|at| at < from) {
                *next = finder.find(self.bytes, from);
            }
        }
        self.next.iter().copied().flatten().min()
    }
}

/// A finder of one text, or of the beginning of a long one, by its rarest byte.
#[derive(Debug)]
struct LiteralFinder {
    text: Vec<u8>,
    rarest: usize,
    caseless: bool,
}

impl LiteralFinder {
    fn new(text: &str, caseless: bool) -> Self {
        let text: Vec<u8> = text.bytes().take(MAX_COMPARED_BYTES).into_list();
        // One byte of it is searched for instead of the whole: the search for substrings of the
        // same crate takes 2.8 KB of the page's module.
        let rarest = (0..text.len()).min_by_key(|at| text.get(*at).map(|b| frequency(*b)));
        Self { text, rarest: rarest.unwrap_or(0), caseless }
    }

    fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let Self { text, rarest, caseless } = self;
        let byte = *text.get(*rarest)?;
        let (lower, upper) = match caseless {
            true => (byte.to_ascii_lowercase(), byte.to_ascii_uppercase()),
            false => (byte, byte),
        };
        let mut place = from + rarest;
        loop {
            place += memchr2(lower, upper, bytes.get(place..)?)?;
            let start = place - rarest;
            let there = bytes.get(start..start + text.len())?;
            if there == text || (*caseless && there.eq_ignore_ascii_case(text)) {
                return Some(start);
            }
            place += 1;
        }
    }
}

/// Returns a rank for how often a byte occurs in source code, the rarest lowest.
fn frequency(byte: u8) -> usize {
    const RISING: &[u8] = b"zqjxkvwybghfmpudclsrnoiate ";
    let place = RISING.iter().position(|other| *other == byte.to_ascii_lowercase());
    place.map_or(5, |place| place + 1)
}
