//! The flag that ends a reading early. Nobody waits for the threads of a stopped reading: they look
//! at the flag after each file and each MiB, and whatever they return then is dropped.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag by which a reading is stopped. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

/// A guard that stops a reading when it is dropped.
#[derive(Debug)]
pub struct StopOnDrop(StopFlag);

impl StopFlag {
    /// Returns a guard that stops the reading when it is dropped.
    #[must_use]
    pub fn on_drop(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }

    pub(super) fn is_set(&self) -> bool {
        // No data is handed over with the flag, so that it needs no stronger ordering.
        self.0.load(Ordering::Relaxed)
    }

    /// Stops the reading.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}
