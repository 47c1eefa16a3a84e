//! The folder that is held open to read its files, of which there is none on Windows yet.

use super::{
    super::{super::file_stat::PathStat, access::ListedEntry},
    Root,
};
use crate::platform::Result;
use std::{convert::Infallible, ffi::OsStr, fs::File, path::Path};

/// A folder of the workspace that is held open, of which there is none.
#[derive(Debug)]
pub(crate) struct OpenFolder(Infallible);

impl Root {
    /// Opens the folder at a real path.
    pub(crate) fn enter(&self, _: &Path) -> Result<OpenFolder> {
        match self.0 {}
    }
}

impl OpenFolder {
    /// Returns its entries, in no particular order.
    pub(crate) fn list(&self) -> Result<Vec<ListedEntry>> {
        match self.0 {}
    }

    /// Opens the plain file of that name, and returns its attributes, too.
    pub(crate) fn file(&self, _: &OsStr) -> Result<(File, PathStat)> {
        match self.0 {}
    }

    /// Returns the attributes of the entry of that name; a link is not followed.
    pub(crate) fn stat(&self, _: &OsStr) -> Result<PathStat> {
        match self.0 {}
    }
}
