//! The output of a program while it runs: its first lines are shown as they arrive; of the others,
//! only their number and the last ones, once the program has ended. Memory is bounded, whatever a
//! program prints.

use std::{collections::VecDeque, mem};

/// The lines that are shown as they arrive.
const FIRST: usize = 6;

/// The last lines that are kept. If more are hidden, the oldest of these is hidden, too, so that
/// the line about hidden ones never stands for a single line.
const LAST: usize = 4;

/// The most bytes of a line that are kept.
const LINE: usize = 1 << 10;

/// The output of one program so far.
#[derive(Debug, Default)]
pub(super) struct LiveOutput {
    /// The bytes so far.
    bytes: usize,
    /// The whole lines so far.
    lines: usize,
    /// The unfinished line.
    partial: String,
    /// True if the last character was a carriage return: a line feed may follow, or a text that
    /// overwrites the line.
    returned: bool,
    /// The last lines that were not shown.
    last: VecDeque<String>,
}

/// The rest of an output that is still to be shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutputTail {
    pub(super) left_out: usize,
    pub(super) lines: Vec<String>,
}

impl LiveOutput {
    /// Adds a piece of the output; returns the lines to show now.
    pub(super) fn add(&mut self, piece: &str) -> Vec<String> {
        self.bytes += piece.len();
        let mut shown = Vec::new();
        for c in piece.chars() {
            let returned = mem::replace(&mut self.returned, c == '\r');
            match c {
                '\r' => {}
                '\n' => shown.extend(self.end_line()),
                c => {
                    // A progress bar overwrites its line: only its last state counts.
                    if returned {
                        self.partial.clear();
                    }
                    if self.partial.len() < LINE {
                        self.partial.push(c);
                    }
                }
            }
        }
        shown
    }

    fn end_line(&mut self) -> Option<String> {
        let line = mem::take(&mut self.partial);
        self.lines += 1;
        if self.lines <= FIRST {
            return Some(line);
        }
        self.last.push_back(line);
        if self.last.len() > LAST {
            self.last.pop_front();
        }
        None
    }

    /// Returns whether a text of that many bytes is the whole output, as far as its length tells.
    pub(super) const fn is(&self, bytes: usize) -> bool {
        self.bytes == bytes
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns the newest line that is not shown.
    pub(super) fn newest(&self) -> Option<&str> {
        let partial = Some(self.partial.as_str()).filter(|line| !line.trim().is_empty());
        partial.or_else(|| self.last.back().map(String::as_str))
    }

    /// Returns the rest to show when the program has ended.
    pub(super) fn rest(mut self) -> OutputTail {
        let unended = if self.partial.is_empty() { None } else { self.end_line() };
        let hidden = self.lines.saturating_sub(FIRST);
        if hidden > LAST {
            self.last.pop_front();
        }
        let left_out = hidden.saturating_sub(self.last.len());
        OutputTail { left_out, lines: unended.into_iter().chain(self.last).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&str]) -> (Vec<String>, OutputTail) {
        let mut live = LiveOutput::default();
        let shown = pieces.iter().flat_map(|piece| live.add(piece)).collect();
        (shown, live.rest())
    }

    #[test]
    fn the_first_lines_come_at_once_and_the_last_ones_at_the_end() {
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        let (shown, rest) = all(&[&text]);
        assert_eq!(shown, ["line 1", "line 2", "line 3", "line 4", "line 5", "line 6"]);
        let lines = ["line 28", "line 29", "line 30"].map(str::to_owned).to_vec();
        assert_eq!(rest, OutputTail { left_out: 21, lines });
        let (shown, rest) = all(&["a\nb", "c\r", "\n\n", "10 %\r50 %", "\r99 %"]);
        assert_eq!(shown, ["a", "bc", ""]);
        assert_eq!(rest, OutputTail { left_out: 0, lines: vec!["99 %".to_owned()] });
        let text = "x\n".repeat(FIRST + LAST);
        assert_eq!(all(&[&text]).1, OutputTail { left_out: 0, lines: vec!["x".to_owned(); LAST] });
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let mut live = LiveOutput::default();
        (0..100_000).for_each(|_| assert!(live.add("é").is_empty()));
        assert!(live.partial.len() <= LINE + 1);
        assert!(live.is(200_000));
    }
}
