//! How a file is opened, and what a folder lists.

use super::super::stat::Kind;
use std::ffi::OsString;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    pub(crate) write: bool,
    /// Creates it if it is missing.
    pub(crate) create: bool,
    /// Fails if it is there.
    pub(crate) exclusive: bool,
    pub(crate) truncate: bool,
}

impl Access {
    pub(crate) const READ: Self =
        Self { write: false, create: false, exclusive: false, truncate: false };

    /// Whether the file, or the folder that holds it, may change by it.
    pub(crate) const fn changes(self) -> bool {
        self.write || self.create || self.truncate
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: OsString,
    pub(crate) kind: Kind,
    pub(crate) inode: u64,
}
