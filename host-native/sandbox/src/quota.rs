//! The quotas that are left of the limits of a run and of its session, and the limiter that
//! wasmtime asks before a memory or table grows. Writes and memory are taken from the run and from
//! the session, or from neither. Output and writes are never given back; memory and listings are.

use super::limits::{RunLimits, SessionLimits};
use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};
use wasmtime::{ResourceLimiter, Result};

/// The resources that are left for a session, which its runs share.
#[derive(Debug)]
pub(super) struct SessionQuota {
    disk: AtomicU64,
    output: AtomicU64,
    memory: AtomicUsize,
    listings: AtomicUsize,
}

impl SessionQuota {
    pub(super) fn new(limits: &SessionLimits) -> Arc<Self> {
        Arc::new(Self {
            disk: AtomicU64::new(limits.disk_bytes),
            output: AtomicU64::new(limits.output_bytes),
            memory: AtomicUsize::new(limits.memory_bytes),
            listings: AtomicUsize::new(limits.listing_bytes),
        })
    }

    /// Takes bytes of output; false if fewer are left.
    pub(super) fn take_output(&self, bytes: u64) -> bool {
        take(&self.output, bytes)
    }
}

/// The resources that are left for one run, which its guests share.
#[derive(Debug)]
pub(super) struct RunQuota {
    disk: AtomicU64,
    memory: AtomicUsize,
    /// The bytes of listings that the run holds.
    listings: AtomicUsize,
    session: Arc<SessionQuota>,
}

impl RunQuota {
    pub(super) fn new(limits: &RunLimits, session: Arc<SessionQuota>) -> Arc<Self> {
        Arc::new(Self {
            disk: AtomicU64::new(limits.disk_bytes),
            memory: AtomicUsize::new(limits.memory_bytes),
            listings: AtomicUsize::new(0),
            session,
        })
    }

    /// Takes bytes that are about to be written; false if fewer are left.
    pub(super) fn take_disk(&self, bytes: u64) -> bool {
        let is_taken = take(&self.disk, bytes);
        let is_given = is_taken && take(&self.session.disk, bytes);
        if is_taken && !is_given {
            self.disk.fetch_add(bytes, Ordering::AcqRel);
        }
        is_given
    }

    /// Returns whether the session has fewer bytes left to write.
    pub(super) fn is_session_used_up(&self, bytes: u64) -> bool {
        self.session.disk.load(Ordering::Acquire) < bytes
    }

    /// Takes memory until it is given back; false if less is left.
    fn take_memory(&self, bytes: usize) -> bool {
        let is_taken = take_size(&self.memory, bytes);
        let is_given = is_taken && take_size(&self.session.memory, bytes);
        if is_taken && !is_given {
            self.memory.fetch_add(bytes, Ordering::AcqRel);
        }
        is_given
    }

    fn give_memory_back(&self, bytes: usize) {
        self.memory.fetch_add(bytes, Ordering::AcqRel);
        self.session.memory.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Takes memory for a listing; false if less is left.
    pub(super) fn take_listing(&self, bytes: usize) -> bool {
        // Listings stand in the host's memory, so that the session's limit alone holds for them.
        // The run only notes its part, to give it back.
        let is_taken = take_size(&self.session.listings, bytes);
        if is_taken {
            self.listings.fetch_add(bytes, Ordering::AcqRel);
        }
        is_taken
    }

    /// Gives back a listing's memory.
    pub(super) fn give_back(&self, bytes: usize) {
        self.listings.fetch_sub(bytes, Ordering::AcqRel);
        self.session.listings.fetch_add(bytes, Ordering::AcqRel);
    }
}

impl Drop for RunQuota {
    fn drop(&mut self) {
        // A guest that was ended has closed none of its folders.
        self.session.listings.fetch_add(*self.listings.get_mut(), Ordering::AcqRel);
    }
}

fn take(left: &AtomicU64, bytes: u64) -> bool {
    // One step for check and change: guests of several threads take from it.
    let less = |left: u64| left.checked_sub(bytes);
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
}

fn take_size(left: &AtomicUsize, bytes: usize) -> bool {
    let less = |left: usize| left.checked_sub(bytes);
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
}

/// The limiter of one guest's memory and tables.
#[derive(Debug)]
pub(super) struct RunLimiter {
    quota: Arc<RunQuota>,
    /// The bytes of the run's memory that the guest has.
    taken: usize,
    /// The most bytes that the guest may have.
    most: usize,
    table_elements: usize,
    /// True if the guest was refused memory. It may have coped with that, so this only explains a
    /// failure that follows.
    pub(super) refused_memory: bool,
}

impl RunLimiter {
    pub(super) const fn new(table_elements: usize, most: usize, quota: Arc<RunQuota>) -> Self {
        Self { quota, taken: 0, most, table_elements, refused_memory: false }
    }
}

impl Drop for RunLimiter {
    fn drop(&mut self) {
        self.quota.give_memory_back(self.taken);
    }
}

impl ResourceLimiter for RunLimiter {
    fn memory_growing(&mut self, now: usize, wanted: usize, _max: Option<usize>) -> Result<bool> {
        // The difference is counted, since wasmtime also asks for the heap of a garbage collector,
        // whose size is a count of its own.
        let more = wanted.saturating_sub(now);
        let fits = self.taken.saturating_add(more) <= self.most && self.quota.take_memory(more);
        if fits {
            self.taken += more;
        }
        // A refusal is not an error: `memory.grow` returns -1, and many programs cope with that.
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
