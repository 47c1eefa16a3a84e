//! The limits on work that a look at a repository may take: a large repository must not delay the
//! start of a session, and a hostile one must not hold it up.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// The longest time for all of it.
const TIME: Duration = Duration::from_secs(2);
/// The largest number of files and folders that one count looks at.
pub(super) const ENTRIES: u32 = 50_000;
/// The largest number of bytes that are read of files and objects.
const BYTES: u64 = 256 * 1024 * 1024;

/// The work that is still allowed.
pub(super) struct ScanBudget {
    until: Instant,
    entries: Cell<u32>,
    bytes: Cell<u64>,
}

impl ScanBudget {
    /// Returns the whole budget, whose time begins to run.
    pub(super) fn new() -> Self {
        Self { until: Instant::now() + TIME, entries: Cell::new(ENTRIES), bytes: Cell::new(BYTES) }
    }

    /// Returns a budget that ends at the same time, with all entries and bytes again, for another
    /// count.
    pub(super) fn for_another(&self) -> Self {
        // The time is shared, as it is what the user waits for. The rest begins anew: a count that
        // used up its entries says nothing about the size of the next one.
        Self { until: self.until, ..Self::new() }
    }

    /// Takes one file or folder; `None` if nothing is left.
    pub(super) fn take_entry(&self) -> Option<()> {
        self.entries.set(self.entries.get().checked_sub(1)?);
        (Instant::now() < self.until).then_some(())
    }

    /// Takes that many bytes; `None` if nothing is left.
    pub(super) fn take_bytes(&self, bytes: u64) -> Option<()> {
        self.bytes.set(self.bytes.get().checked_sub(bytes)?);
        (Instant::now() < self.until).then_some(())
    }
}
