//! No folder is held open on Windows yet, to read its files by it neither.

use super::{
    super::{super::stat::PathStat, access::ListedEntry},
    Root,
};
use crate::platform::Result;
use std::{convert::Infallible, ffi::OsStr, fs::File, path::Path};

/// There is none.
#[derive(Debug)]
pub(crate) struct OpenFolder(Infallible);

impl Root {
    /// Opens the folder at a real path.
    pub(crate) fn enter(&self, _: &Path) -> Result<OpenFolder> {
        match self.0 {}
    }
}

impl OpenFolder {
    /// Its entries, in no order.
    pub(crate) fn list(&self) -> Result<Vec<ListedEntry>> {
        match self.0 {}
    }

    /// Opens the plain file of that name, and says what it is.
    pub(crate) fn file(&self, _: &OsStr) -> Result<(File, PathStat)> {
        match self.0 {}
    }

    /// Returns what stands at that name, itself.
    pub(crate) fn stat(&self, _: &OsStr) -> Result<PathStat> {
        match self.0 {}
    }
}
