//! Named pipes, which WASI does not have. They last as long as the command line, and lists of
//! folders do not show them.

use bashkit::{FileType, Metadata};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// The named pipes, and what was written to each and not yet read.
#[derive(Debug, Default)]
pub(crate) struct FifoTable {
    pipes: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
    written: Notify,
}

impl FifoTable {
    fn pipes(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether there is a pipe at a path.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.pipes().contains_key(path)
    }

    /// Creates an empty pipe.
    pub(crate) fn add(&self, path: PathBuf) {
        self.pipes().insert(path, Vec::new());
    }

    /// Removes a pipe, and wakes those who wait for it.
    pub(crate) fn remove(&self, path: &Path) {
        self.pipes().remove(path);
        self.written.notify_waiters();
    }

    /// Adds to what can be read. No bytes mean a redirection that opens the pipe.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) {
        if let Some(pipe) = self.pipes().get_mut(path) {
            pipe.extend(bytes);
        }
        self.written.notify_waiters();
    }

    /// Waits until something was written, and takes it.
    pub(crate) async fn read(&self, path: &Path) -> Vec<u8> {
        loop {
            // Before the look at the pipe: `notify_waiters` leaves nothing for those who come
            // later.
            let written = self.written.notified();
            match self.pipes().get_mut(path) {
                Some(pipe) if pipe.is_empty() => {}
                Some(pipe) => return std::mem::take(pipe),
                // A pipe that was removed ends its readers, who would wait for ever.
                None => return Vec::new(),
            }
            written.await;
        }
    }

    /// Returns the metadata of a pipe.
    pub(crate) fn metadata() -> Metadata {
        Metadata { file_type: FileType::Fifo, mode: 0o644, ..Metadata::default() }
    }
}
