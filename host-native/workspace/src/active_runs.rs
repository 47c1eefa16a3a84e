//! The runs of a workspace that are changing files at the moment. While there is one, an overlay is
//! saved as partial: only what a run has left at its end is whole.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The runs of a workspace.
#[derive(Debug, Default)]
pub(super) struct RunRegistry(Mutex<RunNumbers>);

#[derive(Debug, Default)]
struct RunNumbers {
    last: u64,
    /// Those that have begun to change files and have not ended.
    changing: BTreeSet<u64>,
}

/// A run, which ends when the last clone of the workspace that was made for it is dropped.
#[derive(Debug)]
pub(super) struct WorkspaceRun {
    number: u64,
    runs: Arc<RunRegistry>,
}

impl RunRegistry {
    /// Begins a run.
    pub(super) fn begin(self: &Arc<Self>) -> WorkspaceRun {
        let mut numbers = self.numbers();
        // Numbers begin at 1: an overlay keeps 0 for contents that no run has made.
        numbers.last += 1;
        WorkspaceRun { number: numbers.last, runs: Arc::clone(self) }
    }

    /// Returns whether any run has begun to change files and has not ended.
    pub(super) fn are_changing(&self) -> bool {
        !self.numbers().changing.is_empty()
    }

    fn numbers(&self) -> MutexGuard<'_, RunNumbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkspaceRun {
    /// Returns its number, which is at least 1.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Notes that it changes files from now on.
    pub(super) fn changes(&self) {
        self.runs.numbers().changing.insert(self.number);
    }

    /// Notes that it has ended. Ending it again does nothing.
    pub(super) fn end(&self) {
        self.runs.numbers().changing.remove(&self.number);
    }
}

impl Drop for WorkspaceRun {
    fn drop(&mut self) {
        // A run that is dropped at a yield must not leave the overlay partial for good.
        self.end();
    }
}
