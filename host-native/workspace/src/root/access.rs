//! The access that a file is opened with, and the entries that a folder lists, alike on every
//! system.

use super::super::file_stat::EntryKind;
use std::ffi::OsString;

/// The options for opening a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileAccess {
    /// True if its content can be written to.
    pub write: bool,
    /// True to create it if it is missing.
    pub create: bool,
    /// True to fail if it exists.
    pub exclusive: bool,
    /// True to empty it.
    pub truncate: bool,
}

impl FileAccess {
    pub(crate) const READ: Self =
        Self { write: false, create: false, exclusive: false, truncate: false };

    /// Returns whether opening or using the file so may change it, or the folder that holds it.
    pub const fn changes(self) -> bool {
        // `exclusive` alone changes nothing: it counts only together with `create`.
        self.write || self.create || self.truncate
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// Its name in the folder.
    pub name: OsString,
    /// Its kind: file, folder, link or another.
    pub kind: EntryKind,
    /// Its inode number.
    pub inode: u64,
}
