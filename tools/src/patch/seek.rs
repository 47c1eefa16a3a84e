//! The search for lines of a patch in a file: an index for each way of comparing lines, made when
//! it is first needed, in one pass over the file. All comparisons are paid from one budget, so that
//! no patch costs more than its length and the file's allow.

use crate::{numbers::LineInterner, replace::MatchStrictness};
use innerloop_json::IntoList;
use std::{cell::Cell, ops::Range};

/// The ways of comparing lines, from the strictest on.
pub(crate) const PASSES: [MatchStrictness; 4] = [
    MatchStrictness::Exact,
    MatchStrictness::TrailingSpace,
    MatchStrictness::Indentation,
    MatchStrictness::IndentationAndPunctuation,
];

/// The number of lines that may be compared for each line of the file and of the patch. Most hunks
/// have a rare line and cost little more than their length.
const STEPS_PER_LINE: usize = 100;

/// The lines of a file, and those of a patch that are looked for in it.
pub(crate) struct LineIndex<'a> {
    lines: &'a [&'a str],
    wanted: &'a [&'a str],
    tables: [Option<LineTable>; 4],
    /// The number of lines that may still be compared.
    steps: Cell<usize>,
}

/// The lines of the file and of the patch as numbers; equal lines have equal ones.
struct LineTable {
    /// The numbers of the file's lines.
    lines: Vec<u32>,
    /// The numbers of the patch's lines.
    wanted: Vec<u32>,
    /// The places in the file at which each number occurs, in ascending order.
    places: Vec<Vec<usize>>,
}

/// A run of lines that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineMatch {
    /// The index of the first line in the file.
    pub(crate) at: usize,
    pub(crate) pass: MatchStrictness,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(lines: &'a [&'a str], wanted: &'a [&'a str]) -> Self {
        let steps = Cell::new((lines.len() + wanted.len()) * STEPS_PER_LINE);
        Self { lines, wanted, tables: [None, None, None, None], steps }
    }

    /// Returns whether the budget is spent, so that nothing more can be found.
    pub(crate) fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }

    /// Returns the first place from the line `from` on that has the lines `wanted` of the patch, by
    /// the strictest comparison that finds one for which `fits` holds.
    pub(crate) fn find(
        &mut self,
        wanted: &Range<usize>,
        from: usize,
        fits: &dyn Fn(LineMatch) -> bool,
    ) -> Option<LineMatch> {
        // Each comparison goes over the whole rest of the file before a more lenient one is tried:
        // an exact match further down is more likely meant than a similar one close by.
        PASSES.into_iter().enumerate().find_map(|(number, pass)| {
            let place = |at| LineMatch { at, pass };
            let (table, steps) = self.table(number, pass)?;
            table.find(wanted, from, steps, &|at| fits(place(at))).map(place)
        })
    }

    /// Returns the match of the lines `wanted` at the line `at`, by the strictest comparison, if
    /// they are there.
    pub(crate) fn stands_at(&mut self, wanted: &Range<usize>, at: usize) -> Option<LineMatch> {
        PASSES.into_iter().enumerate().find_map(|(number, pass)| {
            let (table, steps) = self.table(number, pass)?;
            let is_there = spend(steps, wanted.len()) && table.stands_at(wanted, at);
            is_there.then_some(LineMatch { at, pass })
        })
    }

    fn table(
        &mut self,
        number: usize,
        pass: MatchStrictness,
    ) -> Option<(&LineTable, &Cell<usize>)> {
        let slot = self.tables.get_mut(number)?;
        let table = slot.get_or_insert_with(|| LineTable::new(self.lines, self.wanted, pass));
        Some((table, &self.steps))
    }
}

/// Spends the comparison of so many lines, and returns whether the budget allows it.
fn spend(steps: &Cell<usize>, count: usize) -> bool {
    steps.set(steps.get().saturating_sub(count));
    steps.get() > 0
}

impl LineTable {
    fn new(lines: &[&str], wanted: &[&str], pass: MatchStrictness) -> Self {
        let mut numbers = LineInterner::new();
        let wanted = wanted.iter().map(|line| numbers.add(pass.key(line))).into_list();
        let lines: Vec<u32> = lines.iter().map(|line| numbers.of(&pass.key(line))).into_list();
        let mut places = vec![Vec::new(); numbers.len()];
        for (at, number) in lines.iter().enumerate() {
            if let Some(places) = places.get_mut(*number as usize) {
                places.push(at);
            }
        }
        Self { lines, wanted, places }
    }

    fn find(
        &self,
        wanted: &Range<usize>,
        from: usize,
        steps: &Cell<usize>,
        fits: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let numbers = self.wanted.get(wanted.clone())?;
        let places =
            |number: &u32| self.places.get(*number as usize).map_or(&[][..], Vec::as_slice);
        // Wherever the whole stands, its rarest line stands, too, so only those places are tried.
        let (offset, rarest) = numbers.iter().enumerate().min_by_key(|(_, n)| places(n).len())?;
        let places = places(rarest);
        let first = places.partition_point(|place| *place < from + offset);
        for place in places.get(first..)? {
            let start = place - offset;
            let there = self.lines.get(start..).unwrap_or_default();
            let same = there.iter().zip(numbers).take_while(|(a, b)| a == b).count();
            let is_whole = same == numbers.len();
            // `fits` looks at each line once more.
            if !spend(steps, if is_whole { 2 * same } else { same + 1 }) {
                return None;
            }
            if is_whole && fits(start) {
                return Some(start);
            }
        }
        None
    }

    fn stands_at(&self, wanted: &Range<usize>, at: usize) -> bool {
        let there = self.lines.get(at..at + wanted.len());
        there.is_some() && there == self.wanted.get(wanted.clone())
    }
}
