//! The platform on Windows, where everything works that needs no workspace: models, providers,
//! keys, settings, sessions that are kept, recordings. No folder is held open by a handle here yet,
//! as the sandbox needs it; asking for one gives [`Errno::NOSYS`]. Files have no modes: the access
//! control list of a user's profile keeps others out, and is not looked at.

mod errno;

use super::file_facts::{FileIdentity, FilePermissions};
use std::{
    ffi::OsString,
    fs::{DirBuilder, File, Metadata, OpenOptions, Permissions},
    io,
    os::windows::fs::{FileExt as _, OpenOptionsExt as _, symlink_dir, symlink_file},
    path::{Path, PathBuf},
};

pub use errno::{Errno, Result};

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timespec {
    /// Seconds since 1970.
    pub tv_sec: i64,
    /// Nanoseconds on top of that.
    pub tv_nsec: u32,
}

/// The value that stands for the present time in place of nanoseconds.
pub const UTIME_NOW: u32 = u32::MAX;
/// The value that leaves a time as it is in place of nanoseconds.
pub const UTIME_OMIT: u32 = u32::MAX - 1;

/// The times of a file that are to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The time at which the file was last read.
    pub last_access: Timespec,
    /// The time at which the file was last written.
    pub last_modification: Timespec,
}

/// Reading and writing at a position, named as the standard library's trait for Unix.
// The position of the file itself moves here, unlike on Unix.
pub trait FileExt {
    /// Reads bytes from the position `at` on.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;
    /// Writes bytes from the position `at` on.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize>;

    /// Fills the buffer from the position `at` on; fails if the file ends before.
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

/// The trait that sets the mode of new folders on Unix, and does nothing here.
pub trait DirBuilderExt {
    /// Takes it, and does nothing.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// The trait that sets the mode of new files on Unix, and does nothing here.
pub trait OpenOptionsExt {
    /// Takes it, and does nothing.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// Makes a file's name of these bytes; bytes that are not UTF-8 are replaced.
pub fn name_of(bytes: Vec<u8>) -> OsString {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        .into()
}

/// Makes a symbolic link, which needs a right that not every user has.
pub fn symlink(target: impl AsRef<Path>, place: impl AsRef<Path>) -> io::Result<()> {
    let (target, place) = (target.as_ref(), place.as_ref());
    // Windows has two kinds of links, and one of the wrong kind does not work.
    let around = place.parent().unwrap_or(Path::new(""));
    match around.join(target).is_dir() {
        true => symlink_dir(target, place),
        false => symlink_file(target, place),
    }
}

/// Returns `None`: new files have the access control list of their folder.
pub fn permissions(_: u32) -> Option<Permissions> {
    None
}

/// Returns `None`: there is no such path.
pub fn path_of(_: &File) -> Option<PathBuf> {
    None
}

/// Returns `None`: stable Rust has no access to it.
pub fn identity(_: &Metadata) -> Option<FileIdentity> {
    None
}

/// Returns permissions that say nothing: there are no modes, and the owner is not looked up.
pub fn rights(_: &Metadata) -> FilePermissions {
    FilePermissions { mode: None, links: None, is_own: true }
}

/// Fails with `NOSYS`: there is no sandbox yet whose compiler would need it.
pub const fn limit_process(_memory: u64, _seconds: u64) -> Result<()> {
    Err(Errno::NOSYS)
}

/// Does nothing: a folder has the access control list of the folder around it.
pub fn close_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether it is a file: there is no permission to run one.
pub fn is_program(found: &Metadata) -> bool {
    found.is_file()
}

/// Opens a file for reading, and does not follow a link.
pub fn open_quietly(path: &Path) -> io::Result<File> {
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OPEN_REPARSE_POINT).open(path)
}

/// Opens a file for reading.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Creates a file, which must not exist yet.
pub fn create(path: &Path, _: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Returns whether a folder is not marked as read-only, which is all that is looked at.
pub fn is_writable(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|found| !found.permissions().readonly())
}

/// Returns `None`: the system is not asked.
pub fn room(_: &Path) -> Option<u64> {
    None
}

/// Returns an empty text: the system is not asked.
pub const fn os_version() -> String {
    String::new()
}
