//! A file's text as lines, and its text with some of them changed: line ends, the byte order mark
//! and the state of the last line stay as they are.

use memchr::memchr_iter;

/// The byte order mark.
const MARK: &str = "\u{feff}";

/// A text cut into lines.
pub(crate) struct TextLines<'a> {
    /// The text without a byte order mark.
    text: &'a str,
    mark: &'static str,
    /// The lines without their ends.
    pub(crate) lines: Vec<&'a str>,
    /// The offset at which each line begins in the text, and the offset at which the text ends.
    starts: Vec<usize>,
    /// The line end for new lines that no other line decides: that of most lines.
    end: &'static str,
    /// True if the last line has no end.
    is_open: bool,
}

/// Lines to be removed at one place, and lines to be inserted there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineEdit {
    /// The index of the first line to be removed, or of the line before which others are inserted.
    pub(crate) at: usize,
    pub(crate) removed: usize,
    pub(crate) added: Vec<String>,
}

impl<'a> TextLines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let (text, mark) = match text.strip_prefix(MARK) {
            Some(rest) => (rest, MARK),
            None => (text, ""),
        };
        let mut lines = Vec::new();
        let mut starts = Vec::new();
        let (mut start, mut returns) = (0, 0);
        let ends = memchr_iter(b'\n', text.as_bytes());
        let open = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
        for end in ends.chain(open) {
            let line = text.get(start..end).unwrap_or_default();
            let bare = if open == Some(end) { line } else { without_return(line) };
            returns += usize::from(bare.len() < line.len());
            lines.push(bare);
            starts.push(start);
            start = end + 1;
        }
        starts.push(text.len());
        let end = if returns * 2 > lines.len() { "\r\n" } else { "\n" };
        Self { text, mark, lines, starts, end, is_open: open.is_some() }
    }

    /// Returns the text with the runs applied, which must be in order and not overlap.
    pub(crate) fn rebuilt(&self, runs: &[LineEdit]) -> String {
        let added: usize = runs.iter().flat_map(|run| &run.added).map(|line| line.len() + 2).sum();
        let mut out = String::with_capacity(MARK.len() + self.text.len() + added);
        out.push_str(self.mark);
        let mut next = 0;
        for run in runs {
            self.copy(next, run.at, &mut out);
            for (number, line) in run.added.iter().enumerate() {
                let end = self.end_of(run, number);
                // The line above is the file's last and has no end, so it gets one.
                if out.len() > self.mark.len() && !out.ends_with('\n') {
                    out.push_str(end);
                }
                out.push_str(line);
                out.push_str(end);
            }
            next = next.max(run.at + run.removed);
        }
        self.copy(next, self.lines.len(), &mut out);
        // A file that ended without a line feed still does, whichever line is the last now.
        if self.is_open
            && let Some(rest) = out.strip_suffix('\n')
        {
            let length = without_return(rest).len();
            out.truncate(length);
        }
        out
    }

    /// Returns the end of a new line of a run: that of the line in whose place it comes, or else of
    /// the line before it.
    fn end_of(&self, run: &LineEdit, number: usize) -> &'static str {
        let place = match run.removed {
            0 => run.at.checked_sub(1).unwrap_or(run.at),
            removed => run.at + number.min(removed - 1),
        };
        // A last line without an end decides nothing, so the one before it is asked.
        [Some(place), place.checked_sub(1)]
            .into_iter()
            .flatten()
            .find_map(|line| {
                let (start, end) = (self.starts.get(line)?, self.starts.get(line + 1)?);
                let rest = self.text.get(*start..*end)?.strip_suffix('\n')?;
                Some(if rest.ends_with('\r') { "\r\n" } else { "\n" })
            })
            .unwrap_or(self.end)
    }

    /// Appends the lines from `from` up to `to` with their ends.
    fn copy(&self, from: usize, to: usize, out: &mut String) {
        if let (Some(start), Some(end)) = (self.starts.get(from), self.starts.get(to))
            && start < end
        {
            out.push_str(self.text.get(*start..*end).unwrap_or_default());
        }
    }
}

fn without_return(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}
