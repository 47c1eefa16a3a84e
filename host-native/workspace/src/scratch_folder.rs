//! A private folder that a program makes for its own files and holds locked: an overlay's store, a
//! draft, the stage of an application. It is removed when it is dropped. One that a killed program
//! has left is removed by the next program that makes a folder there, unless it is marked as
//! needed.

use super::root::{FileAccess, Root};
use crate::{
    platform::{Errno, Result},
    private_files,
};
use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The file in it that its program holds locked.
const LOCK: &str = "lock";
/// The file that marks a folder whose contents may still be needed.
const NEEDED: &str = "needed";
/// The number of attempts to make a folder: another program may just have removed it.
const TRIES: usize = 4;

/// The access for a new file, which must not exist yet.
pub(super) const NEW: FileAccess =
    FileAccess { write: true, create: true, exclusive: true, truncate: false };

/// A private folder that is held locked.
#[derive(Debug)]
pub(super) struct ScratchFolder {
    parent: Arc<Root>,
    /// The path of the folder below the parent.
    path: PathBuf,
    root: Root,
    _lock: File,
}

impl ScratchFolder {
    /// Makes one in a folder below `parent`, with a name that begins with `prefix`, after removing
    /// those that killed programs have left there.
    pub(super) fn create(parent: &Arc<Root>, folder: &Path, prefix: &str) -> Result<Self> {
        Self::sweep(parent, folder, prefix);
        let mut made = Self::make(parent, folder, prefix);
        for _ in 1..TRIES {
            // Until it is locked, another program may take it for an abandoned one and remove it.
            if made.is_ok() {
                break;
            }
            made = Self::make(parent, folder, prefix);
        }
        made
    }

    fn make(parent: &Arc<Root>, folder: &Path, prefix: &str) -> Result<Self> {
        let random = private_files::random().map_err(|_| Errno::IO)?;
        let path = folder.join(format!("{prefix}{:016x}", u64::from_ne_bytes(random)));
        parent.create_private_folder(&path)?;
        let root = parent.below(&path)?;
        let lock = root.file(Path::new(LOCK), NEW)?;
        hold(&lock)?;
        // A lock on a file that was removed meanwhile protects nothing.
        root.stat(Path::new(LOCK))?;
        Ok(Self { parent: Arc::clone(parent), path, root, _lock: lock })
    }

    /// Removes the folders that no running program holds locked and that are not marked as needed.
    pub(super) fn sweep(parent: &Root, folder: &Path, prefix: &str) {
        for entry in parent.list(folder).unwrap_or_default() {
            if !entry.name.to_string_lossy().starts_with(prefix) {
                continue;
            }
            let path = folder.join(entry.name);
            let lock =
                parent.file(&path.join(LOCK), FileAccess { write: true, ..FileAccess::READ });
            match &lock {
                // The mark is looked for under the lock: a program that still ran could set it.
                Ok(lock) if hold(lock).is_ok() && parent.stat(&path.join(NEEDED)).is_err() => {
                    let _ = parent.remove_tree(&path);
                }
                Ok(_) => {}
                // Its program was killed before it had made the lock. If it is only about to make
                // it, it tries again with another folder. One that is not empty stays.
                Err(_) => {
                    let _ = parent.remove_folder(&path);
                }
            }
        }
    }

    /// Returns whether a killed program has left one that is marked as needed.
    pub(super) fn is_left(parent: &Root, folder: &Path, prefix: &str) -> bool {
        let list = parent.list(folder).unwrap_or_default();
        list.iter().filter(|entry| entry.name.to_string_lossy().starts_with(prefix)).any(|entry| {
            let path = folder.join(&entry.name);
            let lock =
                parent.file(&path.join(LOCK), FileAccess { write: true, ..FileAccess::READ });
            parent.stat(&path.join(NEEDED)).is_ok() && lock.is_ok_and(|lock| hold(&lock).is_ok())
        })
    }

    /// Takes over the one that a killed program has left at this path.
    ///
    /// # Errors
    /// `NOENT` if there is none, `BUSY` if its program still runs.
    pub(super) fn adopt(parent: &Arc<Root>, path: &Path) -> Result<Self> {
        let root = parent.below(path)?;
        let lock = root.file(Path::new(LOCK), FileAccess { write: true, ..FileAccess::READ })?;
        hold(&lock)?;
        Ok(Self { parent: Arc::clone(parent), path: path.to_owned(), root, _lock: lock })
    }

    /// Returns the folder itself, as an open root of its own.
    pub(super) const fn root(&self) -> &Root {
        &self.root
    }

    /// Returns the path, below the parent, of an entry at this path in the folder.
    pub(super) fn at(&self, path: &Path) -> PathBuf {
        self.path.join(path)
    }

    /// Returns its path below the parent.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it is marked as needed.
    pub(super) fn is_needed(&self) -> bool {
        self.root.stat(Path::new(NEEDED)).is_ok()
    }

    /// Marks it as needed: it stays until [`ScratchFolder::remove`], even after a kill.
    pub(super) fn need(&self) -> Result<()> {
        self.root.file(Path::new(NEEDED), NEW).map(drop)
    }

    /// Removes it with everything in it, whether it is needed or not.
    pub(super) fn remove(&self) {
        // Whatever cannot be removed now is removed by the next program.
        let _ = self.parent.remove_tree(&self.path);
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if !self.is_needed() {
            self.remove();
        }
    }
}

/// Locks a file until the handle is closed; `BUSY` if another handle has the lock.
fn hold(lock: &File) -> Result<()> {
    // The system ends the lock when the process ends, however it does: unlike a process number in a
    // file, it cannot stand for another program later.
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Errno::BUSY,
        TryLockError::Error(error) => Errno::from_io_error(&error).unwrap_or(Errno::IO),
    })
}
