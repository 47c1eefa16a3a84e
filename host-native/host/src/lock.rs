//! Lock files, by which programs know that another one uses something. The system releases such a
//! lock with its holder, even if that is killed.

use crate::journal::private;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
};

/// A file that one program at a time can hold. Dropping it releases it.
#[derive(Debug)]
pub struct LockFile(File);

impl LockFile {
    /// Opens the file, or creates it. Its content stays.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let options = &mut OpenOptions::new();
        // Opened without truncation, as another program may hold it and have written to it.
        private(options.append(true).create(true)).open(path).map(Self)
    }

    /// Takes the lock; false if another program, or another handle of this one, has it.
    ///
    /// # Errors
    /// The file system has no locks, or refuses it.
    pub fn try_hold(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
