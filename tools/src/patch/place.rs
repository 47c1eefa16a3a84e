//! The placement of a patch's hunks in a file: hints narrow the search, then the hunk's old lines
//! are looked for from where the hunk before it ended, and after that from the file's beginning
//! (`docs/decisions.md#the-v4a-patch-format`). A hunk that cannot be placed fails the whole patch.

use super::{
    lines::{LineEdit, TextLines},
    seek::{LineIndex, LineMatch},
};
use crate::{
    indent_shift::{IndentPair, IndentShift, IndentStyle, agrees, indentation, is_placed},
    replace::MatchStrictness,
};
use innerloop_json::IntoList;
use innerloop_types::action::{Hunk, HunkLine};
use std::{cell::OnceCell, ops::Range};

/// The changes that the hunks make to the file.
pub(crate) struct PatchPlacement {
    /// The changes, in the order of their places.
    pub(crate) runs: Vec<LineEdit>,
    /// The hunks that match only leniently.
    pub(crate) loose: Vec<LooseMatch>,
}

/// A hunk that was placed by a lenient match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LooseMatch {
    /// The line of the file, counted from 1.
    pub(crate) line: usize,
    /// The differences that the comparison ignored.
    pub(crate) aside: &'static str,
}

/// The reason why a hunk has no place.
pub(crate) enum PlacementError<'a> {
    /// A hint is not in the file.
    Hint(&'a str),
    /// The old lines are not where they must be.
    Lines(&'a Hunk),
    /// The old lines are at that line, but with other indentation, which the new lines cannot take
    /// on.
    Indentation(&'a Hunk, usize),
    /// The budget for comparisons was spent before this hunk had a place.
    Costly(&'a Hunk),
}

/// Finds a place for each hunk.
pub(crate) fn place<'a>(
    file: &TextLines<'_>,
    hunks: &'a [Hunk],
) -> Result<PatchPlacement, PlacementError<'a>> {
    let mut wanted = Vec::new();
    let mut sought = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let start = wanted.len();
        wanted.extend(hunk.hints.iter().map(String::as_str));
        let middle = wanted.len();
        wanted.extend(hunk.lines.iter().filter_map(HunkLine::old));
        sought.push(HunkQuery { hunk, hints: start..middle, old: middle..wanted.len() });
    }
    let mut placing = HunkPlacer {
        lines: &file.lines,
        index: LineIndex::new(&file.lines, &wanted),
        style: OnceCell::new(),
        blanks: file.lines.iter().rev().take_while(|line| line.trim().is_empty()).count(),
        removed: vec![false; file.lines.len()],
        cursor: 0,
        placed: PatchPlacement { runs: Vec::new(), loose: Vec::new() },
    };
    for one in &sought {
        // With the budget spent nothing is found any more, which looks like a hunk that is not
        // there.
        placing.place(one).map_err(|miss| match placing.index.is_spent() {
            true => PlacementError::Costly(one.hunk),
            false => miss,
        })?;
    }
    let mut placed = placing.placed;
    // Hunks may come in any order, and the file is rebuilt from top to bottom.
    innerloop_json::sort(&mut placed.runs, |a, b| a.at.cmp(&b.at));
    Ok(placed)
}

/// A hunk with the ranges of its lines among all that are looked for.
struct HunkQuery<'a> {
    hunk: &'a Hunk,
    hints: Range<usize>,
    old: Range<usize>,
}

/// The place of a hunk's old lines.
struct HunkMatch {
    at: usize,
    /// The wanted lines that are there: blank ones at the ends may be left out.
    old: Range<usize>,
    pass: MatchStrictness,
    is_at_end: bool,
}

struct HunkPlacer<'a> {
    lines: &'a [&'a str],
    index: LineIndex<'a>,
    /// The indentation of the file, which only lenient matches ask for.
    style: OnceCell<IndentStyle>,
    /// The number of blank lines that the file ends with.
    blanks: usize,
    /// True for each line that an earlier hunk removes.
    removed: Vec<bool>,
    /// The index of the line at which the hunk before this one ended.
    cursor: usize,
    placed: PatchPlacement,
}

impl HunkPlacer<'_> {
    fn place<'h>(&mut self, sought: &HunkQuery<'h>) -> Result<(), PlacementError<'h>> {
        let found = self.locate(sought)?;
        let aside = found.pass.leniency().or(if found.old != sought.old {
            Some("blank lines at the hunk's ends")
        } else if sought.hunk.end_of_file && !found.is_at_end {
            Some("the end of the file")
        } else {
            None
        });
        if let Some(aside) = aside {
            self.placed.loose.push(LooseMatch { line: found.at + 1, aside });
        }
        let shift = self.shift(sought, &found);
        let shift = shift.ok_or(PlacementError::Indentation(sought.hunk, found.at))?;
        self.add_runs(sought, &found, &shift);
        self.cursor = found.at + found.old.len();
        Ok(())
    }

    fn locate<'h>(&mut self, sought: &HunkQuery<'h>) -> Result<HunkMatch, PlacementError<'h>> {
        let cursor = self.cursor;
        let mut missing = None;
        for old in self.without_blanks(sought) {
            // First everything from the cursor on, then hints above the cursor, then hunks that are
            // out of order.
            for (hints_from, lines_from) in [(cursor, cursor), (0, cursor), (0, 0)] {
                // All three are the same search as long as no hunk has been placed.
                if (hints_from, lines_from) != (cursor, cursor) && cursor == 0 {
                    continue;
                }
                match self.above(&sought.hints, hints_from) {
                    Ok(hint) => {
                        let below = hint.map_or(0, |at| at + 1).max(lines_from);
                        let hint = hint.filter(|at| *at >= lines_from);
                        if let Some(found) = self.below(sought, &old, hint, below) {
                            return Ok(found);
                        }
                    }
                    Err(number) => missing = Some((hints_from, number)),
                }
            }
        }
        // A hint that occurs only above the cursor counts as found: then the lines are what is
        // missing.
        match missing {
            Some((0, number)) => {
                Err(PlacementError::Hint(sought.hunk.hints.get(number).map_or("", String::as_str)))
            }
            _ => Err(PlacementError::Lines(sought.hunk)),
        }
    }

    /// Returns the ranges to look for: all old lines, then those without blank context at the end,
    /// which may stand for the file's last line end, and at the beginning.
    fn without_blanks(&self, sought: &HunkQuery<'_>) -> Vec<Range<usize>> {
        let Range { start, end } = sought.old.clone();
        let is_blank = |line: &HunkLine| match line {
            HunkLine::Context(text) => text.trim().is_empty(),
            HunkLine::Removed(_) | HunkLine::Added(_) => false,
        };
        let old = || sought.hunk.lines.iter().filter(|line| line.old().is_some());
        let mut ranges = Vec::new();
        ranges.push(start..end);
        let last = old().rev().take_while(|line| is_blank(line)).count();
        let first = old().take_while(|line| is_blank(line)).count();
        if last > 0 && last < end - start {
            ranges.push(start..end - last);
        }
        if first > 0 && first + last < end - start {
            ranges.push(start + first..end - last);
        }
        ranges
    }

    /// Returns the line of the last hint, or the number of the hint that is missing.
    fn above(&mut self, hints: &Range<usize>, from: usize) -> Result<Option<usize>, usize> {
        let mut last = None;
        let mut from = from;
        for (number, hint) in hints.clone().enumerate() {
            let seen = self.index.find(&(hint..hint + 1), from, &|_| true).ok_or(number)?;
            from = seen.at + 1;
            last = Some(seen.at);
        }
        Ok(last)
    }

    /// Returns the place of the old lines from `from` on, which is below the hint.
    fn below(
        &mut self,
        sought: &HunkQuery<'_>,
        old: &Range<usize>,
        hint: Option<usize>,
        from: usize,
    ) -> Option<HunkMatch> {
        let end = self.lines.len();
        // A hunk without old lines only adds: behind its hint, or at the file's end.
        if old.is_empty() {
            let is_bound = hint.is_some() && !sought.hunk.end_of_file;
            let at = if is_bound { from } else { end };
            let is_free = hint.is_none_or(|hint| self.removed.get(hint) == Some(&false));
            let found = HunkMatch {
                at,
                old: old.clone(),
                pass: MatchStrictness::Exact,
                is_at_end: at == end,
            };
            return is_free.then_some(found);
        }
        let found = |seen: LineMatch, is_at_end| HunkMatch {
            at: seen.at,
            old: old.clone(),
            pass: seen.pass,
            is_at_end,
        };
        if sought.hunk.end_of_file {
            // The model may not have counted the blank lines that the file ends with.
            for end in [end, end - self.blanks] {
                let at = end.checked_sub(old.len()).filter(|at| *at >= from);
                let seen = at.and_then(|at| self.index.stands_at(old, at));
                if let Some(seen) = seen.filter(|seen| is_free(&self.removed, old, *seen)) {
                    return Some(found(seen, true));
                }
            }
        }
        let removed = &self.removed;
        let is_free = |seen: LineMatch| is_free(removed, old, seen);
        let below = self.index.find(old, from, &is_free);
        // Only if they are not below the hint, the hint may be the first of them itself: models
        // that know the format name as a hint what stands above the lines.
        let seen = below.or_else(|| {
            let seen = hint.and_then(|at| self.index.stands_at(old, at))?;
            is_free(seen).then_some(seen)
        })?;
        Some(found(seen, false))
    }

    fn add_runs(&mut self, sought: &HunkQuery<'_>, found: &HunkMatch, shift: &IndentShift) {
        let mut run: Option<LineEdit> = None;
        let (mut at, mut old) = (found.at, sought.old.start);
        for line in &sought.hunk.lines {
            if line.old().is_some() {
                let is_there = found.old.contains(&old);
                old += 1;
                // Blank context that was left out to find a place: the file's lines stay as they
                // are there.
                if !is_there {
                    continue;
                }
            }
            if matches!(line, HunkLine::Context(_)) {
                self.placed.runs.extend(run.take());
                at += 1;
                continue;
            }
            let run = run.get_or_insert(LineEdit { at, removed: 0, added: Vec::new() });
            match line {
                HunkLine::Added(text) => run.added.push(shift.apply(text)),
                HunkLine::Removed(_) | HunkLine::Context(_) => {
                    run.removed += 1;
                    if let Some(removed) = self.removed.get_mut(at) {
                        *removed = true;
                    }
                    at += 1;
                }
            }
        }
        self.placed.runs.extend(run);
    }

    /// Returns how new lines take on the file's indentation, if the hunk has another one; `None` if
    /// they cannot.
    fn shift(&self, sought: &HunkQuery<'_>, found: &HunkMatch) -> Option<IndentShift> {
        let lines = &sought.hunk.lines;
        let added = lines.iter().filter_map(|line| match line {
            HunkLine::Added(text) => indentation(text),
            HunkLine::Removed(_) | HunkLine::Context(_) => None,
        });
        let added: Vec<&str> = added.into_list();
        if !found.pass.reindents() || added.is_empty() {
            return Some(IndentShift::None);
        }
        let old = lines.iter().filter(|line| line.old().is_some()).zip(sought.old.clone());
        let old = old.filter(|(_, number)| found.old.contains(number)).zip(found.at..);
        let pairs: Vec<(bool, IndentPair<'_>)> = old
            .filter_map(|((line, _), at)| {
                let given = indentation(line.old()?)?;
                let there = indentation(self.lines.get(at)?)?;
                Some((matches!(line, HunkLine::Removed(_)), (given, there)))
            })
            .into_list();
        let removed = pairs.iter().find(|(is_removed, _)| *is_removed);
        let is_bare = pairs.iter().all(|(_, pair)| pair.0.is_empty() || agrees(pair));
        if removed
            .is_some_and(|(_, first)| (is_bare || !first.0.is_empty()) && is_placed(*first, &added))
        {
            return Some(IndentShift::None);
        }
        let pairs = without_slips(&pairs);
        if pairs.iter().all(agrees) {
            return Some(IndentShift::None);
        }
        let style = self.style.get_or_init(|| IndentStyle::of(self.lines.iter().copied()));
        IndentShift::of(&pairs, &added, style)
    }
}

/// Returns the old lines that say how a hunk is indented. A line of context that is one space short
/// lacks its mark, and a first or last line without any indentation was trimmed: those say nothing
/// about the others.
fn without_slips<'a>(pairs: &[(bool, IndentPair<'a>)]) -> Vec<IndentPair<'a>> {
    let lacks_mark = |given: &str, there: &str| there.strip_prefix(given) == Some(" ");
    let marked = pairs
        .iter()
        .filter(|(is_removed, (given, there))| *is_removed || !lacks_mark(given, there));
    let marked: Vec<IndentPair<'a>> = marked.map(|(_, pair)| *pair).into_list();
    let is_trimmed = |(given, there): &IndentPair<'_>| given.is_empty() && !there.is_empty();
    let (first, last) = (marked.split_first(), marked.split_last());
    match (first, last) {
        (Some((first, rest)), _)
            if is_trimmed(first) && !rest.is_empty() && rest.iter().all(agrees) =>
        {
            rest.to_vec()
        }
        (_, Some((last, rest)))
            if is_trimmed(last) && rest.len() > 1 && rest.iter().all(agrees) =>
        {
            rest.to_vec()
        }
        _ => marked,
    }
}

/// Returns whether no earlier hunk removes any of these lines.
fn is_free(removed: &[bool], old: &Range<usize>, seen: LineMatch) -> bool {
    removed.get(seen.at..seen.at + old.len()).is_some_and(|removed| !removed.contains(&true))
}
