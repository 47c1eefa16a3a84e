//! The word that ends a reading early. Nobody waits for a thread that reads: it looks here often,
//! and what it would have said then is not wanted any more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that tells a reading to end. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

/// Ends a reading when it is dropped.
#[derive(Debug)]
pub struct StopOnDrop(StopFlag);

impl StopFlag {
    /// Ends the reading when what is given back is dropped.
    #[must_use]
    pub fn on_drop(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whatever comes next is not wanted.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}
