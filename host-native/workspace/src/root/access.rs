//! How a file is opened, and what a folder lists.

use super::super::file_stat::EntryKind;
use std::ffi::OsString;

/// The options for opening a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileAccess {
    /// Its content can be written to.
    pub write: bool,
    /// Creates it if it is missing.
    pub create: bool,
    /// Fails if it is there.
    pub exclusive: bool,
    /// Empties it.
    pub truncate: bool,
}

impl FileAccess {
    pub(crate) const READ: Self =
        Self { write: false, create: false, exclusive: false, truncate: false };

    /// Returns whether the file, or the folder that holds it, may change by it.
    pub const fn changes(self) -> bool {
        self.write || self.create || self.truncate
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// Its name in the folder.
    pub name: OsString,
    /// File, folder or link.
    pub kind: EntryKind,
    /// Its number on the file system.
    pub inode: u64,
}
