//! The platform on Linux and macOS: names are bytes, files have modes, and errors are the system's
//! own numbers.

use super::file_facts::{FileIdentity, FilePermissions};
use rustix::{
    fs::{Mode, OFlags, RawMode},
    process::{Resource, Rlimit, getrlimit, setrlimit},
};
use std::{
    ffi::OsString,
    fs::{File, Metadata, Permissions},
    io,
    os::{fd::AsRawFd as _, unix::ffi::OsStringExt as _},
    path::{Path, PathBuf},
};

pub use rustix::{
    fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT},
    io::{Errno, Result},
};
pub use std::os::unix::fs::{
    DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink,
};

/// True if commands of this machine can be confined, which bubblewrap does by Linux's namespaces.
pub const HAS_BUBBLEWRAP: bool = cfg!(target_os = "linux");

/// Makes a file's name of these bytes.
pub fn name_of(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// Makes permissions of these mode bits; `None` on a system without modes.
pub fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Returns mode bits in the system's type.
pub const fn mode_of(bits: u32) -> Mode {
    // The type has 32 bits on Linux and 16 on macOS; the 12 that are used fit in both.
    Mode::from_raw_mode((bits & 0o7777) as RawMode)
}

/// Returns a path by which the system opens this very file, for a function that takes only a path:
/// its name may lead to another file by now.
pub fn path_of(file: &File) -> Option<PathBuf> {
    Some(format!("/dev/fd/{}", file.as_raw_fd()).into())
}

/// Returns the owner and identity of a file.
pub fn identity(found: &Metadata) -> Option<FileIdentity> {
    Some(FileIdentity { owner: found.uid(), device: found.dev(), inode: found.ino() })
}

/// Returns the permissions of a file.
pub fn rights(found: &Metadata) -> FilePermissions {
    // The effective user is the one that the system checks when files are opened.
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    FilePermissions { mode: Some(found.mode()), links: Some(found.nlink()), is_own }
}

/// Limits what this process may use: bytes of writable memory, where the system counts them, and
/// seconds of processor time. If it crashes, it leaves no core dump.
pub fn limit_process(memory: u64, seconds: u64) -> Result<()> {
    let limits = [(Resource::Data, memory), (Resource::Cpu, seconds), (Resource::Core, 0)];
    limits.into_iter().try_for_each(|(resource, most)| {
        // Only root may raise a maximum, and to try it would fail.
        let allowed = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(allowed));
        setrlimit(resource, Rlimit { current: most, maximum: most })
    })
}

/// Lets nobody but its owner look into a folder.
pub fn close_folder(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))
}

/// Returns whether a file can be run as a program.
pub fn is_program(found: &Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

/// Opens a file for reading; neither follows a link nor waits for the other end of a pipe.
pub fn open_quietly(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Opens a file for reading; follows links, but does not wait for the other end of a pipe.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Creates a file with these mode bits, less those that the user's mask removes.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    // `EXCL` refuses whatever is there already, also a link that leads nowhere yet.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, mode_of(mode))?.into())
}

/// Returns whether this user may create files in a folder.
pub fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Returns the number of bytes that this user may still write there, if the system tells.
#[expect(clippy::useless_conversion, reason = "these are not the same types on each system")]
pub fn room(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(u64::from(found.f_bavail).saturating_mul(u64::from(found.f_frsize)))
}

/// Returns the version of the system's kernel, as `uname -r` prints it.
pub fn os_version() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}
