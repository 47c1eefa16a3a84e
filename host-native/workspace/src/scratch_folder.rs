//! A private folder that a program makes for its own files and holds locked. It goes with whoever
//! holds it; what a killed program has left is removed by the next one that makes a folder there.

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
/// A file that says that somebody may still need what is there.
const NEEDED: &str = "needed";
/// The number of attempts to make a folder: another program may just have removed it.
const TRIES: usize = 4;

/// A new file that must not be there yet.
pub(super) const NEW: FileAccess =
    FileAccess { write: true, create: true, exclusive: true, truncate: false };

/// A private folder.
#[derive(Debug)]
pub(super) struct ScratchFolder {
    parent: Arc<Root>,
    /// The path of the folder below the parent.
    path: PathBuf,
    root: Root,
    _lock: File,
}

impl ScratchFolder {
    /// Makes one in a folder below `parent`, with a name that begins with `prefix`.
    pub(super) fn create(parent: &Arc<Root>, folder: &Path, prefix: &str) -> Result<Self> {
        Self::sweep(parent, folder, prefix);
        let mut made = Self::make(parent, folder, prefix);
        for _ in 1..TRIES {
            // Another program may have taken it for an abandoned one.
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
        // It may have been removed before it was locked.
        root.stat(Path::new(LOCK))?;
        Ok(Self { parent: Arc::clone(parent), path, root, _lock: lock })
    }

    /// Removes the folders that no running program holds locked, and nobody needs.
    pub(super) fn sweep(parent: &Root, folder: &Path, prefix: &str) {
        for entry in parent.list(folder).unwrap_or_default() {
            if !entry.name.to_string_lossy().starts_with(prefix) {
                continue;
            }
            let path = folder.join(entry.name);
            let lock =
                parent.file(&path.join(LOCK), FileAccess { write: true, ..FileAccess::READ });
            match &lock {
                Ok(lock) if hold(lock).is_ok() && parent.stat(&path.join(NEEDED)).is_err() => {
                    let _ = parent.remove_tree(&path);
                }
                Ok(_) => {}
                // Its program was killed before it had put anything in.
                Err(_) => {
                    let _ = parent.remove_folder(&path);
                }
            }
        }
    }

    /// Returns whether a killed program has left one that somebody may still need.
    pub(super) fn is_left(parent: &Root, folder: &Path, prefix: &str) -> bool {
        let list = parent.list(folder).unwrap_or_default();
        list.iter().filter(|entry| entry.name.to_string_lossy().starts_with(prefix)).any(|entry| {
            let path = folder.join(&entry.name);
            let lock =
                parent.file(&path.join(LOCK), FileAccess { write: true, ..FileAccess::READ });
            parent.stat(&path.join(NEEDED)).is_ok() && lock.is_ok_and(|lock| hold(&lock).is_ok())
        })
    }

    /// Takes over one that a killed program has left at this path.
    ///
    /// # Errors
    /// `NOENT` if none is there, `BUSY` if its program is not dead.
    pub(super) fn adopt(parent: &Arc<Root>, path: &Path) -> Result<Self> {
        let root = parent.below(path)?;
        let lock = root.file(Path::new(LOCK), FileAccess { write: true, ..FileAccess::READ })?;
        hold(&lock)?;
        Ok(Self { parent: Arc::clone(parent), path: path.to_owned(), root, _lock: lock })
    }

    /// Returns what is in it, by a handle of its own.
    pub(super) const fn root(&self) -> &Root {
        &self.root
    }

    /// The path below the parent of what is at this path in it.
    pub(super) fn at(&self, path: &Path) -> PathBuf {
        self.path.join(path)
    }

    /// Returns where it is below the parent.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether what is in it must not be removed yet.
    pub(super) fn is_needed(&self) -> bool {
        self.root.stat(Path::new(NEEDED)).is_ok()
    }

    /// Says that what is in it must not be removed before [`ScratchFolder::remove`], even if this
    /// program is killed.
    pub(super) fn need(&self) -> Result<()> {
        self.root.file(Path::new(NEEDED), NEW).map(drop)
    }

    /// Removes it with all that is in it.
    pub(super) fn remove(&self) {
        // What is left is removed by the next program.
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

/// Takes the lock of a file, which ends with whoever holds it; `BUSY` if somebody does.
fn hold(lock: &File) -> Result<()> {
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Errno::BUSY,
        TryLockError::Error(error) => Errno::from_io_error(&error).unwrap_or(Errno::IO),
    })
}
