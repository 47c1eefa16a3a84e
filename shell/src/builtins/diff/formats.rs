//! The output formats of `diff`: commands of an editor, with context, or unified.

use super::{
    super::{calendar::stamp, options::ParsedArguments},
    lines::{LineChange, split},
};
use std::{ops::Range, time::SystemTime};

/// The number of lines that are shown around a change by default.
const CONTEXT: usize = 3;

/// The maximum number of bytes of a function's line that are shown.
const FUNCTION: usize = 40;

/// The number of bytes at the start of a file that are searched for a NUL, which no text has.
const BINARY: usize = 4096;

/// A file, and the name under which it is shown.
pub(super) struct DiffInput {
    pub(super) name: String,
    pub(super) label: Option<String>,
    pub(super) modified: SystemTime,
    pub(super) bytes: Vec<u8>,
}

/// The format and its settings.
pub(super) struct DiffFormat {
    kind: DiffStyle,
    context: usize,
    has_function: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DiffStyle {
    Normal,
    Context,
    Unified,
}

impl DiffInput {
    /// Returns whether it is not text.
    pub(super) fn is_binary(&self) -> bool {
        self.bytes.iter().take(BINARY).any(|byte| *byte == 0)
    }

    fn header(&self) -> String {
        match &self.label {
            Some(label) => label.clone(),
            None => format!("{}\t{}", self.name, stamp(self.modified)),
        }
    }
}

impl DiffFormat {
    /// Returns the format that the options ask for.
    pub(super) fn of(given: &ParsedArguments) -> Self {
        let kind = match given.last("uUcCn") {
            Some('u' | 'U') => DiffStyle::Unified,
            Some('c' | 'C') => DiffStyle::Context,
            _ if given.has('p') => DiffStyle::Context,
            _ => DiffStyle::Normal,
        };
        let context = given.value('U').or(given.value('C')).and_then(|lines| lines.parse().ok());
        Self { kind, context: context.unwrap_or(CONTEXT), has_function: given.has('p') }
    }

    /// Returns the differences as text.
    pub(super) fn tell(&self, old: &DiffInput, new: &DiffInput, changes: &[LineChange]) -> Vec<u8> {
        let (old_lines, new_lines) = (split(&old.bytes), split(&new.bytes));
        let mut told = DiffWriter { old: &old_lines, new: &new_lines, out: Vec::new() };
        match self.kind {
            DiffStyle::Normal => changes.iter().for_each(|change| told.normal(change)),
            DiffStyle::Unified => {
                told.line(&format!("--- {}\n+++ {}\n", old.header(), new.header()));
                for group in self.groups(changes) {
                    let (old, new) = self.around(group, &told);
                    told.unified(group, old, new, self.has_function);
                }
            }
            DiffStyle::Context => {
                told.line(&format!("*** {}\n--- {}\n", old.header(), new.header()));
                for group in self.groups(changes) {
                    let (old, new) = self.around(group, &told);
                    told.context(group, old, new, self.has_function);
                }
            }
        }
        told.out
    }

    /// Returns the groups of changes whose contexts touch.
    fn groups<'a>(
        &self,
        changes: &'a [LineChange],
    ) -> impl Iterator<Item = &'a [LineChange]> + use<'a> {
        let most = 2 * self.context;
        changes.chunk_by(move |above, below| below.old.start - above.old.end <= most)
    }

    fn around(&self, group: &[LineChange], told: &DiffWriter<'_>) -> (Range<usize>, Range<usize>) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return (0..0, 0..0) };
        let before = first.old.start.min(self.context);
        let after = (told.old.len() - last.old.end).min(self.context);
        (
            first.old.start - before..last.old.end + after,
            first.new.start - before..last.new.end + after,
        )
    }
}

/// The writer of the output.
struct DiffWriter<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    out: Vec<u8>,
}

impl DiffWriter<'_> {
    fn line(&mut self, text: &str) {
        self.out.extend(text.bytes());
    }

    fn lines(&mut self, mark: &str, lines: &[&[u8]], range: Range<usize>) {
        for line in lines.get(range).unwrap_or_default() {
            self.out.extend(mark.bytes());
            self.out.extend(*line);
            if !line.ends_with(b"\n") {
                self.line("\n\\ No newline at end of file\n");
            }
        }
    }

    fn normal(&mut self, change: &LineChange) {
        let span = |range: &Range<usize>| match range.len() {
            // An empty range is named by the line before it, which counted from 1 is its start.
            0 => range.start.to_string(),
            1 => range.end.to_string(),
            _ => format!("{},{}", range.start + 1, range.end),
        };
        let letter = match (change.old.is_empty(), change.new.is_empty()) {
            (true, _) => 'a',
            (_, true) => 'd',
            _ => 'c',
        };
        self.line(&format!("{}{letter}{}\n", span(&change.old), span(&change.new)));
        self.lines("< ", self.old, change.old.clone());
        if letter == 'c' {
            self.line("---\n");
        }
        self.lines("> ", self.new, change.new.clone());
    }

    fn unified(&mut self, group: &[LineChange], old: Range<usize>, new: Range<usize>, named: bool) {
        let span = |range: &Range<usize>| match range.len() {
            0 => format!("{},0", range.start),
            1 => range.end.to_string(),
            len => format!("{},{len}", range.start + 1),
        };
        let function = if named { self.function(old.start) } else { String::new() };
        self.line(&format!("@@ -{} +{} @@{function}\n", span(&old), span(&new)));
        let mut at = old.start;
        for change in group {
            self.lines(" ", self.old, at..change.old.start);
            self.lines("-", self.old, change.old.clone());
            self.lines("+", self.new, change.new.clone());
            at = change.old.end;
        }
        self.lines(" ", self.old, at..old.end);
    }

    fn context(&mut self, group: &[LineChange], old: Range<usize>, new: Range<usize>, named: bool) {
        let span = |range: &Range<usize>| match range.len() {
            0 | 1 => range.end.to_string(),
            _ => format!("{},{}", range.start + 1, range.end),
        };
        let function = if named { self.function(old.start) } else { String::new() };
        self.line(&format!("***************{function}\n*** {} ****\n", span(&old)));
        let mark = |change: &LineChange, alone| {
            if change.old.is_empty() || change.new.is_empty() { alone } else { "! " }
        };
        if group.iter().any(|change| !change.old.is_empty()) {
            let mut at = old.start;
            for change in group {
                self.lines("  ", self.old, at..change.old.start);
                self.lines(mark(change, "- "), self.old, change.old.clone());
                at = change.old.end;
            }
            self.lines("  ", self.old, at..old.end);
        }
        self.line(&format!("--- {} ----\n", span(&new)));
        if group.iter().any(|change| !change.new.is_empty()) {
            let mut at = new.start;
            for change in group {
                self.lines("  ", self.new, at..change.new.start);
                self.lines(mark(change, "+ "), self.new, change.new.clone());
                at = change.new.end;
            }
            self.lines("  ", self.new, at..new.end);
        }
    }

    /// Returns the last line above that looks like the beginning of a function.
    fn function(&self, before: usize) -> String {
        let begins = |line: &&&[u8]| {
            line.first()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
        };
        let found = self.old.iter().take(before).rev().find(begins);
        found.map_or_else(String::new, |line| {
            let line = line.get(..FUNCTION).unwrap_or(line);
            format!(" {}", String::from_utf8_lossy(line).trim_end())
        })
    }
}
