//! The lines in which two texts differ. A change that can stand in several places stands where
//! GNU's `diff` puts it, so that patches look as people and models expect.

use super::super::options::ParsedArguments;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::{collections::HashMap, ops::Range};

/// The differences that are ignored.
pub(super) struct IgnoreOptions {
    case: bool,
    all_space: bool,
    space_change: bool,
    trailing_space: bool,
    trailing_cr: bool,
    blank_lines: bool,
}

/// Lines of the old text, and the lines of the new one in their place; counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineChange {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl IgnoreOptions {
    /// Returns the differences that the options ignore.
    pub(super) fn of(given: &ParsedArguments) -> Self {
        Self {
            case: given.has('i'),
            all_space: given.has('w'),
            space_change: given.has('b'),
            trailing_space: given.has('Z'),
            trailing_cr: given.has('R'),
            blank_lines: given.has('B'),
        }
    }

    /// Returns a line without what is ignored.
    fn key(&self, line: &[u8]) -> Vec<u8> {
        let mut key = line.to_vec();
        if self.trailing_cr && key.ends_with(b"\r\n") {
            key.truncate(key.len() - 2);
            key.push(b'\n');
        }
        if self.all_space {
            key.retain(|byte| !byte.is_ascii_whitespace());
        } else if self.space_change {
            let mut was_space = false;
            key = key.trim_ascii_end().to_vec();
            key.retain_mut(|byte| {
                let is_space = byte.is_ascii_whitespace();
                let keeps = !(is_space && was_space);
                was_space = is_space;
                if is_space {
                    *byte = b' ';
                }
                keeps
            });
        } else if self.trailing_space {
            key = key.trim_ascii_end().to_vec();
        }
        if self.case {
            key.make_ascii_lowercase();
        }
        key
    }
}

/// Returns the lines of a text, each with its end.
pub(super) fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the changes that lead from one text to the other, in order.
pub(super) fn changes(old: &[u8], new: &[u8], ignored: &IgnoreOptions) -> Vec<LineChange> {
    let (old_lines, new_lines) = (split(old), split(new));
    // Lines are compared as numbers: each is hashed once, and then no comparison depends on its
    // length.
    let mut numbers = HashMap::new();
    let mut side = |lines: &[&[u8]]| {
        let number = |line: &&[u8]| {
            let next = numbers.len();
            *numbers.entry(ignored.key(line)).or_insert(next)
        };
        DiffSide::new(lines.iter().map(number).collect())
    };
    let (mut old_side, mut new_side) = (side(&old_lines), side(&new_lines));
    for op in capture_diff_slices(Algorithm::Myers, &old_side.keys, &new_side.keys) {
        if op.tag() != DiffTag::Equal {
            old_side.mark(op.old_range());
            new_side.mark(op.new_range());
        }
    }
    old_side.shift(&new_side);
    new_side.shift(&old_side);
    let mut changes = runs(&old_side, &new_side);
    if ignored.blank_lines {
        let is_blank = |line: &&[u8]| line.trim_ascii().is_empty();
        changes.retain(|change| {
            let old = old_lines.iter().take(change.old.end).skip(change.old.start);
            let new = new_lines.iter().take(change.new.end).skip(change.new.start);
            !old.chain(new).all(is_blank)
        });
    }
    changes
}

/// One of the texts; equal lines have equal keys.
struct DiffSide {
    keys: Vec<usize>,
    changed: Vec<bool>,
}

impl DiffSide {
    fn new(keys: Vec<usize>) -> Self {
        let changed = vec![false; keys.len()];
        Self { keys, changed }
    }

    fn mark(&mut self, range: Range<usize>) {
        let count = range.len();
        self.changed.iter_mut().skip(range.start).take(count).for_each(|line| *line = true);
    }

    fn is_changed(&self, line: usize) -> bool {
        self.changed.get(line).copied().unwrap_or(false)
    }

    fn set(&mut self, line: usize, changed: bool) {
        if let Some(line) = self.changed.get_mut(line) {
            *line = changed;
        }
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        self.keys.get(a).is_some_and(|key| self.keys.get(b) == Some(key))
    }

    /// Moves each run of changed lines down as far as possible, together with the runs that it
    /// meets; but back up to where the other text has changed lines, if it passes such a place.
    fn shift(&mut self, other: &Self) {
        let end = self.keys.len();
        // `at` and `beside` are lines of the two texts that correspond.
        let (mut at, mut beside) = (0, 0);
        while at < end {
            if !self.is_changed(at) {
                while other.is_changed(beside) {
                    beside += 1;
                }
                beside += 1;
                at += 1;
                continue;
            }
            let mut start = at;
            while self.is_changed(at) {
                at += 1;
            }
            while other.is_changed(beside) {
                beside += 1;
            }
            let mut corresponding;
            // Runs that meet become one, which may move further, so that this is repeated until
            // none grows.
            loop {
                let len = at - start;
                while start > 0 && self.is_same(start - 1, at - 1) {
                    (start, at) = (start - 1, at - 1);
                    self.set(start, true);
                    self.set(at, false);
                    while start > 0 && self.is_changed(start - 1) {
                        start -= 1;
                    }
                    beside = above(other, beside);
                }
                let is_beside = beside > 0 && other.is_changed(beside - 1);
                corresponding = if is_beside { at } else { end };
                while at < end && self.is_same(start, at) {
                    self.set(start, false);
                    self.set(at, true);
                    (start, at) = (start + 1, at + 1);
                    while self.is_changed(at) {
                        at += 1;
                    }
                    beside += 1;
                    while other.is_changed(beside) {
                        corresponding = at;
                        beside += 1;
                    }
                }
                if len == at - start {
                    break;
                }
            }
            while corresponding < at {
                (start, at) = (start - 1, at - 1);
                self.set(start, true);
                self.set(at, false);
                beside = above(other, beside);
            }
        }
    }
}

/// Returns the line before an unchanged one, past those that are changed.
fn above(other: &DiffSide, line: usize) -> usize {
    let mut line = line.saturating_sub(1);
    while line > 0 && other.is_changed(line) {
        line -= 1;
    }
    line
}

fn runs(old: &DiffSide, new: &DiffSide) -> Vec<LineChange> {
    let mut changes = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    while at_old < old.keys.len() || at_new < new.keys.len() {
        let (from_old, from_new) = (at_old, at_new);
        while old.is_changed(at_old) {
            at_old += 1;
        }
        while new.is_changed(at_new) {
            at_new += 1;
        }
        if (from_old, from_new) != (at_old, at_new) {
            changes.push(LineChange { old: from_old..at_old, new: from_new..at_new });
        } else {
            (at_old, at_new) = (at_old + 1, at_new + 1);
        }
    }
    changes
}
