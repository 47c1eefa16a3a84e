//! The findings of a search as the model reads them: lines with those around them, paths or counts.
//! It also decides when enough has been found, so that hosts with a search of their own stop at the
//! same result.

use crate::{
    ignore::TOO_MANY_RULES,
    path::WorkspacePath,
    search::{self, LineMatcher, SearchHit, each_hit, hits},
    walk::LeftOut,
};
use innerloop_json::IntoList;
use innerloop_types::action::{GrepLayout, GrepMode, GrepQuery, Outcome};
use memchr::{memchr, memrchr};
use std::{borrow::Cow, fmt::Write, ops::ControlFlow};

/// The maximum number of results, unless the query sets another.
pub const MAX_RESULTS: u32 = 100;
/// The maximum number of characters of a line that are shown.
const MAX_LINE_CHARS: usize = 500;
/// The number of characters before the match that are shown of a longer line.
const LEAD_CHARS: usize = 100;

const CONTINUE: ControlFlow<()> = ControlFlow::Continue(());

/// The results so far.
#[derive(Debug)]
pub struct GrepReport<'a> {
    grep: &'a GrepQuery,
    max_results: u32,
    passed_over: u32,
    results: u32,
    out: String,
    cut: bool,
    /// The number of files that could not be read.
    pub unreadable: u32,
}

/// The decision about one more result.
#[derive(PartialEq, Eq)]
enum ResultDisplay {
    Shown,
    PassedOver,
    Full,
}

/// The progress of showing a file's lines.
struct FileProgress<'a> {
    path: &'a WorkspacePath,
    bytes: &'a [u8],
    /// The offset of the first line that has not been shown.
    next: usize,
    /// Its number.
    number: usize,
    /// The number of lines behind the last match that are still to be shown.
    after: u32,
    results: u32,
}

impl<'a> GrepReport<'a> {
    /// Creates a report of nothing.
    #[must_use]
    pub fn new(grep: &'a GrepQuery) -> Self {
        let max_results = grep.max_results.unwrap_or(MAX_RESULTS);
        let (passed_over, results, unreadable) = (0, 0, 0);
        Self { grep, max_results, passed_over, results, out: String::new(), cut: false, unreadable }
    }

    /// Adds what is found in a file. Breaks if there is no room for more.
    pub fn add_file(
        &mut self,
        path: &WorkspacePath,
        bytes: &[u8],
        matcher: &impl LineMatcher,
    ) -> ControlFlow<()> {
        let bytes = &matcher.searched(bytes);
        match self.grep.mode {
            GrepMode::Content => self.add_lines(path, bytes, matcher),
            GrepMode::FilesWithMatches => {
                if hits(matcher, bytes, 1) > 0 && self.room() == ResultDisplay::Shown {
                    // Writing to a string cannot fail.
                    let _ = writeln!(self.out, "{path}");
                }
            }
            GrepMode::Count => {
                let count = hits(matcher, bytes, u64::MAX);
                if count > 0 && self.room() == ResultDisplay::Shown {
                    let _ = writeln!(self.out, "{path}:{count}");
                }
            }
        }
        if self.cut { ControlFlow::Break(()) } else { CONTINUE }
    }

    /// Counts one more result, and returns whether it is shown.
    fn room(&mut self) -> ResultDisplay {
        if self.passed_over < self.grep.offset {
            self.passed_over += 1;
            return ResultDisplay::PassedOver;
        }
        // Only the result after the last one shows that something is cut.
        if self.results == self.max_results {
            self.cut = true;
            return ResultDisplay::Full;
        }
        self.results += 1;
        ResultDisplay::Shown
    }

    fn add_lines(&mut self, path: &WorkspacePath, bytes: &[u8], matcher: &impl LineMatcher) {
        let mut shown = FileProgress { path, bytes, next: 0, number: 1, after: 0, results: 0 };
        let mut of_file = 0;
        let _ = each_hit(matcher, bytes, &mut |hit| {
            // Unlike the limit of all results, this one is not a cut: it was asked for.
            if self.grep.max_per_file == Some(of_file) {
                return ControlFlow::Break(());
            }
            of_file += 1;
            match self.room() {
                ResultDisplay::Shown => self.add_hit(&mut shown, hit, matcher),
                ResultDisplay::PassedOver => {}
                ResultDisplay::Full => return ControlFlow::Break(()),
            }
            CONTINUE
        });
        // The file has ended, so what still follows the last match is due now.
        self.add_after(&mut shown, bytes.len());
        if shown.results > 0 && self.grep.layout == GrepLayout::ByFile {
            self.out.push_str("---\n");
        }
    }

    fn add_hit(
        &mut self,
        shown: &mut FileProgress<'_>,
        hit: &SearchHit<'_>,
        matcher: &impl LineMatcher,
    ) {
        let GrepQuery { before, after, only_matching, layout, .. } = *self.grep;
        let number = hit.number();
        if shown.results == 0 && layout == GrepLayout::ByFile {
            let _ = writeln!(self.out, "File: {}", shown.path);
        }
        if only_matching {
            let found = matcher.matches(&hit.line).filter_map(|found| hit.line.get(found));
            for text in found.filter(|text| !text.is_empty()) {
                self.add_line(shown.path, number, text, Some(0));
            }
            shown.results += 1;
            return;
        }
        self.add_after(shown, hit.start);
        let first = lines_before(shown.bytes, shown.next, hit.start, before);
        let is_gap = first > shown.next || shown.results == 0;
        let has_context = before > 0 || after > 0;
        if is_gap && has_context && layout == GrepLayout::Lines && !self.out.is_empty() {
            self.out.push_str("--\n");
        }
        let block = shown.bytes.get(first..hit.start).unwrap_or_default();
        let lines: Vec<&[u8]> = block.split_inclusive(|byte| *byte == b'\n').into_list();
        for (line, number) in lines.iter().zip(number.saturating_sub(lines.len())..) {
            self.add_line(shown.path, number, &content(line), None);
        }
        let mut at = Some(hit.at);
        shown.next = hit.end + 1;
        shown.number = number;
        for line in hit.line.split('\n') {
            let line = line.strip_suffix('\r').unwrap_or(line);
            // The match begins in the first of its lines; the others are shown from their
            // beginning.
            self.add_line(shown.path, shown.number, line, Some(at.take().unwrap_or(0)));
            shown.number += 1;
        }
        shown.after = after;
        shown.results += 1;
    }

    /// Adds the lines behind the last match that are still to be shown, up to `end`.
    fn add_after(&mut self, shown: &mut FileProgress<'_>, end: usize) {
        while shown.after > 0 && shown.next < end {
            let rest = shown.bytes.get(shown.next..).unwrap_or_default();
            let length = memchr(b'\n', rest).unwrap_or(rest.len());
            let line = content(rest.get(..length).unwrap_or_default());
            self.add_line(shown.path, shown.number, &line, None);
            shown.next += length + 1;
            shown.number += 1;
            shown.after -= 1;
        }
    }

    /// Adds a line. `at` is where the match begins in it; a line of context has none.
    fn add_line(&mut self, path: &WorkspacePath, number: usize, line: &str, at: Option<usize>) {
        let mark = if at.is_some() { ':' } else { '-' };
        // Writing to a string cannot fail.
        let _ = match (self.grep.layout, self.grep.unnumbered) {
            (GrepLayout::Lines, false) => write!(self.out, "{path}{mark}{number}{mark}"),
            (GrepLayout::Lines, true) => write!(self.out, "{path}{mark}"),
            (GrepLayout::ByFile, _) => write!(self.out, "L{number}{mark} "),
        };
        push_around(line, at.unwrap_or(0), &mut self.out);
        self.out.push('\n');
    }

    /// Returns the outcome of the search.
    #[must_use]
    pub fn finish(mut self, left_out: LeftOut) -> Outcome {
        if self.results == 0 {
            let pattern = &self.grep.pattern;
            self.out.push_str("No matches found.");
            if !self.grep.multiline && (pattern.contains("\\n") || pattern.contains('\n')) {
                self.out.push_str(" Lines are searched one by one: \\n never matches.");
            }
            if left_out.ignored {
                self.out.push_str(" Files that .gitignore names are left out.");
            }
            self.out.push('\n');
        }
        // Writing to a string cannot fail.
        if self.cut {
            let max = self.max_results;
            let _ = writeln!(
                self.out,
                "[Cut at {max} results; there are more. Narrow the pattern, the path or the glob.]"
            );
        }
        let unreadable = self.unreadable.saturating_add(left_out.unreadable);
        if unreadable > 0 {
            let _ = writeln!(self.out, "[{unreadable} files or folders could not be read.]");
        }
        // Which names a search has met that was cut is chance where several threads search.
        if let Some(names) = left_out.names().filter(|_| !self.cut) {
            let _ = writeln!(self.out, "{names}");
        }
        if left_out.too_many_rules {
            let _ = writeln!(self.out, "{TOO_MANY_RULES}");
        }
        self.out.truncate(self.out.trim_end_matches('\n').len());
        let count = Some(self.results);
        Outcome { capped_at_source: self.cut, count, ..Outcome::text(self.out) }
    }
}

/// Returns where the `count` lines before the one at `start` begin, but not before `least`.
fn lines_before(bytes: &[u8], least: usize, start: usize, count: u32) -> usize {
    let mut first = start;
    for _ in 0..count {
        if first <= least {
            break;
        }
        // The byte before `first` is the line feed that ends the line above.
        let above = bytes.get(least..first - 1).unwrap_or_default();
        first = memrchr(b'\n', above).map_or(least, |at| least + at + 1);
    }
    first
}

/// Returns a line as text, without its line end.
fn content(line: &[u8]) -> Cow<'_, str> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    search::text(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Appends a line, or of a long one the part around the match.
fn push_around(line: &str, at: usize, out: &mut String) {
    // Bytes first: most lines are so short that their characters need not be counted.
    if line.len() <= MAX_LINE_CHARS || line.chars().nth(MAX_LINE_CHARS).is_none() {
        out.push_str(line);
        return;
    }
    let before = line.get(..at).unwrap_or_default();
    let lead = before.char_indices().rev().take(LEAD_CHARS).last();
    let fits = at < MAX_LINE_CHARS - LEAD_CHARS;
    let start = if fits { 0 } else { lead.map_or(0, |(at, _)| at) };
    let rest = line.get(start..).unwrap_or_default();
    let end = rest.char_indices().nth(MAX_LINE_CHARS).map(|(at, _)| at);
    if start > 0 {
        out.push_str("[…] ");
    }
    out.push_str(end.and_then(|end| rest.get(..end)).unwrap_or(rest));
    if end.is_some() {
        out.push_str(" […]");
    }
}
