//! Positions in a list by the provider's numbers: blocks, items and calls are numbered in any
//! order, with gaps, and some numbers come again.

use alloc::format;
use innerloop_json::PlaceMap;
use innerloop_types::steps;

/// Positions by number. The numbers are kept as text, since the map from names to places is in
/// every build anyway.
#[derive(Debug, Default)]
pub(super) struct PositionMap {
    /// The number that was set last, and its position: mostly it is the one asked for.
    last: Option<(u64, usize)>,
    all: PlaceMap,
}

impl PositionMap {
    /// Returns the position of a number, if it has one.
    pub(super) fn get(&self, number: u64) -> Option<usize> {
        steps::count(1);
        match self.last {
            Some((last, place)) if last == number => Some(place),
            _ => self.all.get(&format!("{number}")),
        }
    }

    /// Sets the position of a number, in place of the one that it has.
    pub(super) fn set(&mut self, number: u64, place: usize) {
        steps::count(1);
        self.last = Some((number, place));
        self.all.insert(format!("{number}"), place);
    }
}
