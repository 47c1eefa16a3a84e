//! How much work looking at a repository may be: a large one must not delay the start, and a
//! hostile one must not hold it up.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Most time.
const TIME: Duration = Duration::from_secs(2);
/// Most files and folders that one count looks at.
pub(super) const ENTRIES: u32 = 50_000;
/// Most bytes that are read of files and objects.
const BYTES: u64 = 256 * 1024 * 1024;

/// The work that is still allowed.
pub(super) struct ScanBudget {
    until: Instant,
    entries: Cell<u32>,
    bytes: Cell<u64>,
}

impl ScanBudget {
    /// All of it.
    pub(super) fn new() -> Self {
        Self { until: Instant::now() + TIME, entries: Cell::new(ENTRIES), bytes: Cell::new(BYTES) }
    }

    /// The same time with all of the entries, for another count.
    pub(super) fn for_another(&self) -> Self {
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
