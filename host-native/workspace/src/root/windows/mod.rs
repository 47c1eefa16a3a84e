//! No folder is held open on Windows yet: whoever opens one is told so, and there is nothing that
//! the other functions could be asked of.

pub(super) mod open_folder;

use super::{
    super::stat::PathStat,
    access::{FileAccess, ListedEntry},
};
use crate::platform::{Errno, Result, Timestamps};
use std::{
    convert::Infallible,
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// There is none.
#[derive(Debug)]
pub(crate) struct Root(Infallible);

impl Root {
    /// Fails.
    pub(crate) fn open(_: &Path) -> Result<Self> {
        Err(Errno::NOSYS)
    }

    /// Returns where it was when it was opened.
    pub(crate) fn path(&self) -> &Path {
        match self.0 {}
    }

    /// A folder below it, as a root of its own.
    pub(crate) fn below(&self, _: &Path) -> Result<Self> {
        match self.0 {}
    }

    /// The number of its file system.
    pub(crate) fn device(&self) -> u64 {
        match self.0 {}
    }

    /// Returns what stands at the path, itself.
    pub(crate) fn stat(&self, _: &Path) -> Result<PathStat> {
        match self.0 {}
    }

    /// Returns where the link at the path leads.
    pub(crate) fn link_target(&self, _: &Path) -> Result<PathBuf> {
        match self.0 {}
    }

    /// The entries of a folder, in no order.
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

    /// Removes a folder with all that is in it.
    pub(crate) fn remove_tree(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Returns whether this user may write to what stands at the path, or add to it if it is a
    /// folder.
    pub(crate) fn check_writable(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Removes a folder, which is empty.
    pub(crate) fn remove_folder(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Removes anything but a folder.
    pub(crate) fn remove_file(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Waits until the entries of the folder itself are on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        match self.0 {}
    }

    /// Waits until all of the file system is on the disk, or the folder's own entries where there
    /// is no such call.
    pub(crate) fn sync_all(&self) -> Result<()> {
        match self.0 {}
    }

    /// Moves what stands at one path to another, at which nothing stands.
    pub(crate) fn move_to(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Puts what stands at each of two paths at the other one, at once. Not every file system can.
    pub(crate) fn exchange(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Moves what stands at one path to another.
    pub(crate) fn rename(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Creates a link.
    pub(crate) fn link(&self, _: &Path, _: &Path) -> Result<()> {
        match self.0 {}
    }

    /// Gives a folder the permissions that these bits say.
    pub(crate) fn set_mode(&self, _: &Path, _: u32) -> Result<()> {
        match self.0 {}
    }

    /// Sets the times of what stands at the path, itself.
    pub(crate) fn set_times(&self, _: &Path, _: &Timestamps) -> Result<()> {
        match self.0 {}
    }
}

/// Copies a file's content.
pub(crate) fn copy(mut from: &File, to: &mut File) -> Result<()> {
    let copied = io::copy(&mut from, to);
    copied.map(drop).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Not told: no file was opened by a folder.
pub(crate) fn stat_file(_: &File) -> Result<PathStat> {
    Err(Errno::NOSYS)
}

/// There are no modes.
pub(crate) fn set_file_mode(_: &File, _: u32) -> Result<()> {
    Err(Errno::NOSYS)
}

/// Not done: no file was opened by a folder.
pub fn set_file_times(_: &File, _: &Timestamps) -> Result<()> {
    Err(Errno::NOSYS)
}

/// There are no modes.
pub(crate) fn dress(_: &File, _: &File, _: bool) -> io::Result<()> {
    Err(Errno::NOSYS.into())
}
