//! Where what a provider numbers stands in a list.

use alloc::{collections::BTreeMap, format, string::String};
use innerloop_types::steps;

/// Places by number. The numbers are written out, since a tree is compiled anew for each type of
/// key, and the one that leads from names to places is there anyway.
#[derive(Clone, Debug, Default)]
pub(super) struct PositionMap {
    /// The number that was given a place last, and that place: mostly it is the one asked for.
    last: Option<(u64, usize)>,
    all: BTreeMap<String, usize>,
}

impl PositionMap {
    /// The place of a number.
    pub(super) fn get(&self, number: u64) -> Option<usize> {
        steps::count(1);
        match self.last {
            Some((last, place)) if last == number => Some(place),
            _ => self.all.get(&format!("{number}")).copied(),
        }
    }

    /// Gives a number a place, in place of the one that it has.
    pub(super) fn set(&mut self, number: u64, place: usize) {
        steps::count(1);
        self.last = Some((number, place));
        self.all.insert(format!("{number}"), place);
    }
}
