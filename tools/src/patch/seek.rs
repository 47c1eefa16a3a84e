//! Where lines of a patch are in a file: an index for each way of comparing lines, made when it
//! is first needed, in one pass over the file.

use crate::{numbers::Numbers, replace::Pass};
use std::ops::Range;

/// The ways of comparing lines, from the strictest on.
pub(crate) const PASSES: [Pass; 4] =
    [Pass::Exact, Pass::TrailingSpace, Pass::Indentation, Pass::IndentationAndPunctuation];

/// The lines of a file, and those of a patch that are looked for in it.
pub(crate) struct Index<'a> {
    lines: &'a [&'a str],
    wanted: &'a [&'a str],
    tables: [Option<Table>; 4],
}

/// Equal lines have equal numbers.
struct Table {
    /// The numbers of the file's lines.
    lines: Vec<u32>,
    /// The numbers of the patch's lines.
    wanted: Vec<u32>,
    /// Where in the file each number occurs, in ascending order.
    places: Vec<Vec<usize>>,
}

/// A run of lines that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The index of the first line in the file.
    pub(crate) at: usize,
    pub(crate) pass: Pass,
}

impl<'a> Index<'a> {
    pub(crate) const fn new(lines: &'a [&'a str], wanted: &'a [&'a str]) -> Self {
        Self { lines, wanted, tables: [None, None, None, None] }
    }

    /// The first place from the line `from` on that has the lines `wanted` of the patch, by the
    /// strictest comparison that finds one for which `fits` holds.
    pub(crate) fn find(
        &mut self,
        wanted: &Range<usize>,
        from: usize,
        fits: &dyn Fn(Seen) -> bool,
    ) -> Option<Seen> {
        PASSES.into_iter().enumerate().find_map(|(number, pass)| {
            let place = |at| Seen { at, pass };
            self.table(number, pass)?.find(wanted, from, &|at| fits(place(at))).map(place)
        })
    }

    /// Whether the lines `wanted` are at the line `at`, and by which comparison.
    pub(crate) fn stands_at(&mut self, wanted: &Range<usize>, at: usize) -> Option<Seen> {
        PASSES.into_iter().enumerate().find_map(|(number, pass)| {
            self.table(number, pass)?.stands_at(wanted, at).then_some(Seen { at, pass })
        })
    }

    fn table(&mut self, number: usize, pass: Pass) -> Option<&Table> {
        let slot = self.tables.get_mut(number)?;
        Some(slot.get_or_insert_with(|| Table::new(self.lines, self.wanted, pass)))
    }
}

impl Table {
    fn new(lines: &[&str], wanted: &[&str], pass: Pass) -> Self {
        let mut numbers = Numbers::new();
        let wanted = wanted.iter().map(|line| numbers.add(pass.key(line))).collect();
        let lines: Vec<u32> = lines.iter().map(|line| numbers.of(&pass.key(line))).collect();
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
        fits: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let numbers = self.wanted.get(wanted.clone())?;
        let places =
            |number: &u32| self.places.get(*number as usize).map_or(&[][..], Vec::as_slice);
        // Every place of the whole is a place of its rarest line.
        let (offset, rarest) = numbers.iter().enumerate().min_by_key(|(_, n)| places(n).len())?;
        let places = places(rarest);
        let first = places.partition_point(|place| *place < from + offset);
        places.get(first..)?.iter().map(|place| place - offset).find(|start| {
            self.lines.get(*start..start + numbers.len()) == Some(numbers) && fits(*start)
        })
    }

    fn stands_at(&self, wanted: &Range<usize>, at: usize) -> bool {
        let there = self.lines.get(at..at + wanted.len());
        there.is_some() && there == self.wanted.get(wanted.clone())
    }
}
