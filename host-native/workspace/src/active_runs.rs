//! Which runs change files now. What one has changed is whole once it has ended: until then an
//! overlay that is saved says that it is not.

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

/// One of them. When the last clone of the workspace that it was given has gone, it has ended.
#[derive(Debug)]
pub(super) struct WorkspaceRun {
    number: u64,
    runs: Arc<RunRegistry>,
}

impl RunRegistry {
    /// A new one.
    pub(super) fn begin(self: &Arc<Self>) -> WorkspaceRun {
        let mut numbers = self.numbers();
        numbers.last += 1;
        WorkspaceRun { number: numbers.last, runs: Arc::clone(self) }
    }

    /// Returns whether any has begun to change files and has not ended.
    pub(super) fn are_changing(&self) -> bool {
        !self.numbers().changing.is_empty()
    }

    fn numbers(&self) -> MutexGuard<'_, RunNumbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkspaceRun {
    /// Its number, from 1 on.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// It changes files from now on.
    pub(super) fn changes(&self) {
        self.runs.numbers().changing.insert(self.number);
    }

    /// It changes nothing any more.
    pub(super) fn end(&self) {
        self.runs.numbers().changing.remove(&self.number);
    }
}

impl Drop for WorkspaceRun {
    fn drop(&mut self) {
        self.end();
    }
}
