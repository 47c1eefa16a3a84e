//! What is left of the limits of a run and of its session, and the limiter that wasmtime asks
//! before a memory or table grows.

use super::limits::{Limits, SessionLimits};
use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};
use wasmtime::{ResourceLimiter, Result};

/// What is left for a session. Its runs share it.
#[derive(Debug)]
pub(super) struct Budget {
    disk: AtomicU64,
    output: AtomicU64,
    memory: AtomicUsize,
    listings: AtomicUsize,
}

impl Budget {
    pub(super) fn new(limits: &SessionLimits) -> Arc<Self> {
        Arc::new(Self {
            disk: AtomicU64::new(limits.disk_bytes),
            output: AtomicU64::new(limits.output_bytes),
            memory: AtomicUsize::new(limits.memory_bytes),
            listings: AtomicUsize::new(limits.listing_bytes),
        })
    }

    /// Takes bytes of output, of which nothing is given back.
    pub(super) fn take_output(&self, bytes: u64) -> bool {
        take(&self.output, bytes)
    }

    /// Takes memory until it is given back.
    pub(super) fn take_memory(&self, bytes: usize) -> bool {
        take_size(&self.memory, bytes)
    }

    pub(super) fn give_memory_back(&self, bytes: usize) {
        self.memory.fetch_add(bytes, Ordering::AcqRel);
    }
}

/// What is left for one run.
#[derive(Debug)]
pub(super) struct Quota {
    disk: u64,
    /// The bytes of listings that it holds.
    listings: usize,
    session: Arc<Budget>,
}

impl Quota {
    pub(super) const fn new(limits: &Limits, session: Arc<Budget>) -> Self {
        Self { disk: limits.disk_bytes, listings: 0, session }
    }

    /// Takes bytes to be written, of which nothing is given back.
    pub(super) fn take_disk(&mut self, bytes: u64) -> bool {
        let Some(left) = self.disk.checked_sub(bytes) else { return false };
        let is_taken = take(&self.session.disk, bytes);
        if is_taken {
            self.disk = left;
        }
        is_taken
    }

    /// Takes memory for a listing.
    pub(super) fn take_listing(&mut self, bytes: usize) -> bool {
        let is_taken = take_size(&self.session.listings, bytes);
        if is_taken {
            self.listings += bytes;
        }
        is_taken
    }

    /// Gives a listing's memory back.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.listings -= bytes.min(self.listings);
        self.session.listings.fetch_add(bytes, Ordering::AcqRel);
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        self.session.listings.fetch_add(self.listings, Ordering::AcqRel);
    }
}

fn take(left: &AtomicU64, bytes: u64) -> bool {
    let less = |left: u64| left.checked_sub(bytes);
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
}

fn take_size(left: &AtomicUsize, bytes: usize) -> bool {
    let less = |left: usize| left.checked_sub(bytes);
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
}

/// Counts one run's memory and tables.
#[derive(Debug)]
pub(super) struct RunLimiter {
    memory_bytes: usize,
    session: Arc<Budget>,
    /// What it has of the session's memory.
    taken: usize,
    table_elements: usize,
    /// Whether the run asked for more memory than it may have. It may have coped with the
    /// refusal, so this only explains a failure that follows.
    pub(super) refused_memory: bool,
}

impl RunLimiter {
    pub(super) const fn new(limits: &Limits, session: Arc<Budget>) -> Self {
        Self {
            memory_bytes: limits.memory_bytes,
            session,
            taken: 0,
            table_elements: limits.table_elements,
            refused_memory: false,
        }
    }
}

impl Drop for RunLimiter {
    fn drop(&mut self) {
        self.session.give_memory_back(self.taken);
    }
}

impl ResourceLimiter for RunLimiter {
    fn memory_growing(&mut self, _now: usize, wanted: usize, _max: Option<usize>) -> Result<bool> {
        let more = wanted.saturating_sub(self.taken);
        let fits = wanted <= self.memory_bytes && self.session.take_memory(more);
        if fits {
            self.taken = self.taken.max(wanted);
        }
        self.refused_memory |= !fits;
        Ok(fits)
    }

    fn table_growing(&mut self, _now: usize, wanted: usize, _max: Option<usize>) -> Result<bool> {
        Ok(wanted <= self.table_elements)
    }

    fn instances(&self) -> usize {
        1
    }

    fn memories(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        8
    }
}
