//! A folder that is held open to read many of its files, as searches do: each file is one name away
//! from its handle, so that no path is looked up for it. The rules of `Root` hold here, too.

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

/// The maximum number of bytes that the entries of one folder may take.
const MAX_LISTING_BYTES: usize = 64 << 20;

/// A folder of the workspace that is held open. Threads can share it.
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
    /// Returns its entries, in no particular order. A second call may return none: the handle keeps
    /// its position.
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
            // Some file systems do not say in a listing what an entry is.
            let kind = match kind(found) {
                EntryKind::Other => self.stat(name).map(|found| found.kind),
                kind => Ok(kind),
            };
            list.extend(kind.map(|kind| ListedEntry { name: name.to_owned(), kind, inode }));
            Ok(())
        })?;
        Ok(list)
    }

    /// Opens the plain file of that name, and returns its attributes, too.
    pub(crate) fn file(&self, name: &OsStr) -> Result<(File, PathStat)> {
        // Something else may have been put there since it was listed. A pipe is not waited for, a
        // terminal is not taken over, and neither is read.
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

    /// Returns the attributes of the entry of that name; a link is not followed.
    pub(crate) fn stat(&self, name: &OsStr) -> Result<PathStat> {
        self.at_home(stat(&sys::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Refuses an entry on another file system.
    const fn at_home(&self, found: PathStat) -> Result<PathStat> {
        if found.device == self.device { Ok(found) } else { Err(Errno::XDEV) }
    }

    /// Tells each entry's name, type and number.
    // `Dir`, as below, would open the folder once more and allocate for each entry.
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
