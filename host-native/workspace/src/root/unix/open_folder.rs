//! A folder that is held open to read many of its files: each is one name away from its handle, so
//! that no path is looked up for it.

use super::{
    super::{
        super::file_stat::{EntryKind, PathStat},
        access::ListedEntry,
    },
    FOLDER, Root, kind, stat,
};
use crate::platform::{Errno, Result};
use rustix::fs::{self as sys, AtFlags, FileType, Mode, OFlags};
use std::{
    ffi::OsStr,
    fs::File,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
};

/// The most that the entries of one folder may take.
const MAX_LISTING_BYTES: usize = 64 << 20;

/// A folder of the workspace that is held open. Threads share it.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    folder: OwnedFd,
    device: u64,
}

impl Root {
    /// Opens the folder at a real path.
    pub(crate) fn enter(&self, path: &Path) -> Result<OpenFolder> {
        Ok(OpenFolder { folder: self.beneath(path, FOLDER)?, device: self.device })
    }
}

impl OpenFolder {
    /// Its entries, in no order. They are read from the handle, and so only once.
    ///
    /// # Errors
    /// `NOMEM` for more than [`MAX_LISTING_BYTES`], otherwise the system's.
    pub(crate) fn list(&self) -> Result<Vec<ListedEntry>> {
        let (mut list, mut bytes) = (Vec::new(), 0);
        self.each(|name, found, inode| {
            if name == "." || name == ".." {
                return Ok(());
            }
            bytes += size_of::<ListedEntry>() + name.len();
            if bytes > MAX_LISTING_BYTES {
                return Err(Errno::NOMEM);
            }
            // Some file systems do not tell what an entry is.
            let kind = match kind(found) {
                EntryKind::Other => self.stat(name).map(|found| found.kind),
                kind => Ok(kind),
            };
            list.extend(kind.map(|kind| ListedEntry { name: name.to_owned(), kind, inode }));
            Ok(())
        })?;
        Ok(list)
    }

    /// Opens the plain file of that name, and says what it is.
    pub(crate) fn file(&self, name: &OsStr) -> Result<(File, PathStat)> {
        // A device or a pipe that has been put there meanwhile is neither waited for nor kept.
        let quietly = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let flags = OFlags::RDONLY | quietly;
        let file = File::from(sys::openat(&self.folder, name, flags, Mode::empty())?);
        let found = self.at_home(stat(&sys::fstat(&file)?))?;
        match found.kind {
            EntryKind::File => Ok((file, found)),
            EntryKind::Folder => Err(Errno::ISDIR),
            EntryKind::Link => Err(Errno::LOOP),
            EntryKind::Other => Err(Errno::PERM),
        }
    }

    /// Returns what stands at that name, itself.
    pub(crate) fn stat(&self, name: &OsStr) -> Result<PathStat> {
        self.at_home(stat(&sys::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Refuses what lies on another file system.
    const fn at_home(&self, found: PathStat) -> Result<PathStat> {
        if found.device == self.device { Ok(found) } else { Err(Errno::XDEV) }
    }

    /// Tells each entry's name, type and number.
    #[cfg(target_os = "linux")]
    fn each(&self, mut tell: impl FnMut(&OsStr, FileType, u64) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::with_capacity(32 << 10);
        let mut entries = sys::RawDir::new(&self.folder, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            tell(name, entry.file_type(), entry.ino())?;
        }
        Ok(())
    }

    /// Tells each entry's name, type and number.
    #[cfg(not(target_os = "linux"))]
    fn each(&self, mut tell: impl FnMut(&OsStr, FileType, u64) -> Result<()>) -> Result<()> {
        let mut entries = sys::Dir::read_from(&self.folder)?;
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            tell(name, entry.file_type(), entry.ino())?;
        }
        Ok(())
    }
}
