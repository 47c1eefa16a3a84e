//! Named pipes, which WASI has none of. They last as long as the command line, and no list of a
//! folder shows them.

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

    /// Returns whether there is one at a path.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.pipes().contains_key(path)
    }

    /// Makes one.
    pub(crate) fn add(&self, path: PathBuf) {
        self.pipes().insert(path, Vec::new());
    }

    /// Takes one away.
    pub(crate) fn remove(&self, path: &Path) {
        self.pipes().remove(path);
        self.written.notify_waiters();
    }

    /// Adds to what is to be read; nothing is a redirection that opens the pipe.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) {
        if let Some(pipe) = self.pipes().get_mut(path) {
            pipe.extend(bytes);
        }
        self.written.notify_waiters();
    }

    /// Returns what was written, once something was.
    pub(crate) async fn read(&self, path: &Path) -> Vec<u8> {
        loop {
            let written = self.written.notified();
            match self.pipes().get_mut(path) {
                Some(pipe) if pipe.is_empty() => {}
                Some(pipe) => return std::mem::take(pipe),
                None => return Vec::new(),
            }
            written.await;
        }
    }

    /// Returns what is known of one.
    pub(crate) fn metadata() -> Metadata {
        Metadata { file_type: FileType::Fifo, mode: 0o644, ..Metadata::default() }
    }
}
