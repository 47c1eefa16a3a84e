//! The open folder on Windows, which does not exist yet: opening one fails with `NOSYS`. The types
//! have no values: their methods are there for the rest of the crate to compile, and can never be
//! called.

pub(super) mod open_folder;

use super::{
    super::file_stat::PathStat,
    access::{FileAccess, ListedEntry},
};
use crate::platform::{Errno, Result, Timestamps};
use std::{
    convert::Infallible,
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// A folder that is held open, of which there is none.
#[derive(Debug)]
pub(crate) struct Root(Infallible);

impl Root {
    /// Fails with `NOSYS`.
    pub(crate) fn open(_: &Path) -> Result<Self> {
        Err(Errno::NOSYS)
    }

    /// Returns its canonical path at the time when it was opened.
    pub(crate) fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Opens a folder below it, as a root of its own.
    pub(crate) fn below(&self, _: &Path) -> Result<Self> {
        match self.0 {}
    }

    /// Returns the number of its file system.
    pub(crate) fn device(&self) -> u64 {
        match self.0 {}
    }

    /// Returns the attributes of the entry at the path; a link is not followed.
    pub(crate) fn stat(&self, _: &Path) -> Result<PathStat> {
        match self.0 {}
    }

    /// Returns the target of the link at the path.
    pub(crate) fn link_target(&self, _: &Path) -> Result<PathBuf> {
        match self.0 {}
    }

    /// Returns the entries of a folder, in no particular order.
    pub(crate) fn list(&self, _: &Path) -> Result<Vec<ListedEntry>> {
        match self.0 {}
    }

    /// Opens a plain file.
    pub(crate) fn file(&self, _: &Path, _: FileAccess) -> Result<File> {
        match self.0 {}
    }

    /// Creates a folder.
    pub(crate) fn create_folder(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Creates a folder that nobody else can look into.
    pub(crate) fn create_private_folder(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Removes a folder with everything in it.
    pub(crate) fn remove_tree(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Checks that this user may write to the file at the path, or create files in a folder there.
    pub(crate) fn check_writable(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Removes anything but a folder.
    pub(crate) fn remove_file(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Waits until the folder's own entries are on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        match self.0 {}
    }

    /// Waits until the whole file system is on the disk, or only the folder's own entries where the
    /// system has no such call.
    pub(crate) fn sync_all(&self) -> Result<()> {
        match self.0 {}
    }

    /// Moves the entry at one path to another; `EXIST` if there is one.
    pub(crate) fn move_to(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Exchanges the entries at two paths in one step.
    pub(crate) fn exchange(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Moves the entry at one path to another, and replaces a file or an empty folder there.
    pub(crate) fn rename(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Creates a symbolic link.
    pub(crate) fn link(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Sets the permissions of a folder, as mode bits.
    pub(crate) fn set_mode(&self, _: &Path, _: u32) -> Result<()> {
        match self.0 {}
    }

    /// Sets the times of the entry at the path; a link is not followed.
    pub(crate) fn set_times(&self, _: &Path, _: &Timestamps) -> Result<()> {
        match self.0 {}
    }
}

/// Copies a file's content.
pub(crate) fn copy(mut from: &File, to: &mut File) -> Result<()> {
    let copied = io::copy(&mut from, to);
    copied.map(drop).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Fails with `NOSYS`: no file was opened by a folder.
pub(crate) fn stat_file(_: &File) -> Result<PathStat> {
    Err(Errno::NOSYS)
}

/// Fails with `NOSYS`: there are no modes.
pub(crate) fn set_file_mode(_: &File, _: u32) -> Result<()> {
    Err(Errno::NOSYS)
}

/// Fails with `NOSYS`: no file was opened by a folder.
pub fn set_file_times(_: &File, _: &Timestamps) -> Result<()> {
    Err(Errno::NOSYS)
}

/// Fails with `NOSYS`: there are no modes.
pub(crate) fn dress(_: &File, _: &File, _: bool) -> io::Result<()> {
    Err(Errno::NOSYS.into())
}
