//! Files by which programs know that another one works with something. Such a lock goes with its
//! holder, also when that is killed.

use crate::journal::private;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
};

/// A file that one program at a time can hold. Dropping it lets go of it.
#[derive(Debug)]
pub struct LockFile(File);

impl LockFile {
    /// Opens the file, and makes it where there is none. What stands in it stays.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let options = &mut OpenOptions::new();
        private(options.append(true).create(true)).open(path).map(Self)
    }

    /// Takes hold of it; false if another program, or another handle of this one, has it.
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
