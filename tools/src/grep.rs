//! Searching the lines of files.

use crate::{
    explain,
    files::{FileError, Files},
    path::WorkspacePath,
    pattern::Pattern,
    read,
    search::{Hit, Matcher},
    walk::{LeftOut, walk},
};
use innerloop_core::action::{GrepMode, Outcome, ToolError};
use std::{fmt::Write, ops::ControlFlow};

/// How many characters of a line are shown.
const MAX_LINE_CHARS: usize = 500;
/// How many characters before the match are shown of a longer line.
const LEAD_CHARS: usize = 100;

/// What to search for, and where.
pub(crate) struct Query<'a> {
    pub(crate) pattern: &'a str,
    pub(crate) path: Option<&'a str>,
    pub(crate) glob: Option<&'a str>,
    pub(crate) ignore_case: bool,
    pub(crate) mode: GrepMode,
    pub(crate) max_results: u32,
}

pub(crate) fn grep(files: &impl Files, query: &Query<'_>) -> Result<Outcome, Outcome> {
    let path = explain::any_path(query.path)?;
    let glob = query.glob.map(Pattern::parse).transpose()?;
    if query.max_results == 0 {
        let message = "The number of results is limited to 0. Allow at least 1.";
        return Err(explain::error(ToolError::InvalidArguments, message));
    }
    let matcher = matcher(query)?;
    let mut report = Report::new(query.mode, query.max_results);
    let searched = walk(files, &path, |file| {
        if glob.as_ref().is_some_and(|glob| !glob.matches(file, &path)) {
            return ControlFlow::Continue(());
        }
        match files.read(file) {
            Ok(bytes) if read::looks_binary(&bytes) => ControlFlow::Continue(()),
            Ok(bytes) => report.add_file(file, &bytes, &matcher),
            Err(_) => {
                report.unreadable += 1;
                ControlFlow::Continue(())
            }
        }
    });
    let left_out = match searched {
        Ok(left_out) => left_out,
        Err(FileError::NotFolder) => {
            grep_file(files, &path, &matcher, &mut report)?;
            LeftOut::default()
        }
        Err(error) => return Err(explain::failed(files, &path, &error)),
    };
    Ok(report.finish(query.pattern, left_out))
}

fn matcher(query: &Query<'_>) -> Result<Matcher, Outcome> {
    Matcher::new(query.pattern, query.ignore_case).map_err(|why| {
        explain::error(
            ToolError::InvalidArguments,
            format!(
                "The regular expression {:?} is invalid: {why}. To search for . * + ? ( ) [ ] \
                 {{ }} | ^ $ \\ themselves, put a backslash before each.",
                query.pattern
            ),
        )
    })
}

/// Searches a file that the model named, whether or not git ignores it.
fn grep_file(
    files: &impl Files,
    path: &WorkspacePath,
    matcher: &Matcher,
    report: &mut Report,
) -> Result<(), Outcome> {
    let bytes = files.read(path).map_err(|error| explain::failed(files, path, &error))?;
    if read::looks_binary(&bytes) {
        return Err(read::binary(path.as_str(), "it contains NUL bytes"));
    }
    // There is no next file to go on to.
    let _ = report.add_file(path, &bytes, matcher);
    Ok(())
}

/// The results so far.
struct Report {
    mode: GrepMode,
    max_results: u32,
    results: u32,
    out: String,
    cut: bool,
    unreadable: u32,
}

impl Report {
    const fn new(mode: GrepMode, max_results: u32) -> Self {
        Self { mode, max_results, results: 0, out: String::new(), cut: false, unreadable: 0 }
    }

    /// Adds what was found in a file; breaks when there is no room for more.
    fn add_file(
        &mut self,
        path: &WorkspacePath,
        bytes: &[u8],
        matcher: &Matcher,
    ) -> ControlFlow<()> {
        match self.mode {
            GrepMode::Content => {
                matcher.each_line(bytes, |hit| self.add(|out| push_line(path, hit, out)))
            }
            GrepMode::FilesWithMatches => {
                let mut found = false;
                let _ = matcher.each_line(bytes, |_| {
                    found = true;
                    ControlFlow::Break(())
                });
                if found { self.add(|out| out.push_str(path.as_str())) } else { CONTINUE }
            }
            GrepMode::Count => {
                let mut count = 0_u64;
                let _ = matcher.each_line(bytes, |_| {
                    count += 1;
                    CONTINUE
                });
                if count == 0 {
                    return CONTINUE;
                }
                self.add(|out| {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "{path}:{count}");
                })
            }
        }
    }

    /// Adds a result line, or breaks if there are as many as may be.
    fn add(&mut self, push: impl FnOnce(&mut String)) -> ControlFlow<()> {
        if self.results == self.max_results {
            self.cut = true;
            return ControlFlow::Break(());
        }
        self.results += 1;
        push(&mut self.out);
        self.out.push('\n');
        CONTINUE
    }

    fn finish(mut self, pattern: &str, left_out: LeftOut) -> Outcome {
        if self.results == 0 {
            self.out.push_str("No matches found.");
            if pattern.contains("\\n") || pattern.contains('\n') {
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
        self.out.truncate(self.out.trim_end_matches('\n').len());
        Outcome { capped_at_source: self.cut, ..Outcome::text(self.out) }
    }
}

const CONTINUE: ControlFlow<()> = ControlFlow::Continue(());

/// `path:line:text`, where the text of a long line is what stands around the match.
fn push_line(path: &WorkspacePath, hit: &Hit<'_>, out: &mut String) {
    let line = &hit.line;
    // Writing to a string cannot fail.
    let _ = write!(out, "{path}:{}:", hit.number());
    if line.len() <= MAX_LINE_CHARS || line.chars().nth(MAX_LINE_CHARS).is_none() {
        out.push_str(line);
        return;
    }
    let before = line.get(..hit.at).unwrap_or_default();
    let lead = before.char_indices().rev().take(LEAD_CHARS).last();
    let fits = hit.at < MAX_LINE_CHARS - LEAD_CHARS;
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
