//! Windows, where all works that needs no folder to work on: models, providers, keys, settings,
//! the sessions that are kept, recordings. The sandbox holds a folder by handles, and nothing here
//! does that yet; whoever asks for it is told so by [`Errno::NOSYS`]. Files have no modes: what
//! lies in a user's profile is kept from others by its access control list, which is not looked at.

mod errno;

use super::found::{FileIdentity, FilePermissions};
use std::{
    ffi::OsString,
    fs::{DirBuilder, File, Metadata, OpenOptions, Permissions},
    io,
    os::windows::fs::{FileExt as _, OpenOptionsExt as _, symlink_dir, symlink_file},
    path::{Path, PathBuf},
};

pub use errno::{Errno, Result};

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timespec {
    /// Seconds since 1970.
    pub tv_sec: i64,
    /// Nanoseconds on top of that.
    pub tv_nsec: u32,
}

/// In place of nanoseconds: now.
pub const UTIME_NOW: u32 = u32::MAX;
/// In place of nanoseconds: as it is.
pub const UTIME_OMIT: u32 = u32::MAX - 1;

/// The times of a file that are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The time at which the file was last read.
    pub last_access: Timespec,
    /// The time at which the file was last written.
    pub last_modification: Timespec,
}

/// Reading and writing that leave the place alone where a file stands.
pub trait FileExt {
    /// Reads from a place on.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;
    /// Writes from a place on.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize>;

    /// Fills the buffer.
    fn read_exact_at(&self, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let count = match self.read_at(buffer, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            buffer = buffer.get_mut(count..).unwrap_or_default();
            at = at.saturating_add(count as u64);
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.seek_read(buffer, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.seek_write(bytes, at)
    }
}

/// Modes of new folders, which there are none of.
pub trait DirBuilderExt {
    /// Takes it, and does nothing.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// Modes of new files, which there are none of.
pub trait OpenOptionsExt {
    /// Takes it, and does nothing.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// A name of these bytes; what is no text in them is replaced.
pub fn name_of(bytes: Vec<u8>) -> OsString {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        .into()
}

/// Makes a link, which needs a right that not every user has.
pub fn symlink(target: impl AsRef<Path>, place: impl AsRef<Path>) -> io::Result<()> {
    let (target, place) = (target.as_ref(), place.as_ref());
    let around = place.parent().unwrap_or(Path::new(""));
    match around.join(target).is_dir() {
        true => symlink_dir(target, place),
        false => symlink_file(target, place),
    }
}

/// New files have those of their folder.
pub fn permissions(_: u32) -> Option<Permissions> {
    None
}

/// There is no such path.
pub fn path_of(_: &File) -> Option<PathBuf> {
    None
}

/// The system does not tell it in stable Rust.
pub fn identity(_: &Metadata) -> Option<FileIdentity> {
    None
}

/// There are no modes, and the owner is not told.
pub fn rights(_: &Metadata) -> FilePermissions {
    FilePermissions { mode: None, links: None, is_own: true }
}

/// Nothing is compiled for others here: there is no sandbox yet.
pub const fn limit_process(_memory: u64, _seconds: u64) -> Result<()> {
    Err(Errno::NOSYS)
}

/// Returns what is in a folder has the access control list of the folder around it.
pub fn close_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether a file can be run as a program.
pub fn is_program(found: &Metadata) -> bool {
    found.is_file()
}

/// Opens for reading, and does not follow a link.
pub fn open_quietly(path: &Path) -> io::Result<File> {
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OPEN_REPARSE_POINT).open(path)
}

/// Opens for reading.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A new file.
pub fn create(path: &Path, _: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Returns whether a folder is not marked as read-only.
pub fn is_writable(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|found| !found.permissions().readonly())
}

/// Not told.
pub fn room(_: &Path) -> Option<u64> {
    None
}
