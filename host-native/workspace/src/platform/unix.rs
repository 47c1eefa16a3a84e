//! Linux and macOS.

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

/// True if commands of this machine can be confined: bubblewrap works with the namespaces of Linux.
pub const HAS_BUBBLEWRAP: bool = cfg!(target_os = "linux");

/// A name of these bytes.
pub fn name_of(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// The permissions of these bits, for a new file.
pub fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Bits of a mode as the system takes them: 32 on Linux, 16 on macOS, of which 12 are used.
pub const fn mode_of(bits: u32) -> Mode {
    Mode::from_raw_mode((bits & 0o7777) as RawMode)
}

/// A path by which the system opens this very file, for whoever wants a path: what stands at its
/// name may be another by now.
pub fn path_of(file: &File) -> Option<PathBuf> {
    Some(format!("/dev/fd/{}", file.as_raw_fd()).into())
}

/// Returns who a file belongs to and which one it is.
pub fn identity(found: &Metadata) -> Option<FileIdentity> {
    Some(FileIdentity { owner: found.uid(), device: found.dev(), inode: found.ino() })
}

/// Returns who may do what with it.
pub fn rights(found: &Metadata) -> FilePermissions {
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    FilePermissions { mode: Some(found.mode()), links: Some(found.nlink()), is_own }
}

/// Limits what this process may use: bytes of memory that it can write to, where the system counts
/// them, and seconds of processor time. It leaves no image of its memory behind.
pub fn limit_process(memory: u64, seconds: u64) -> Result<()> {
    let limits = [(Resource::Data, memory), (Resource::Cpu, seconds), (Resource::Core, 0)];
    limits.into_iter().try_for_each(|(resource, most)| {
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

/// Opens for reading; neither follows a link nor waits for the other end of a pipe.
pub fn open_quietly(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Opens for reading, and does not wait for the other end of a pipe.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// A new file with these bits of a mode, less what the user's mask takes away.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, mode_of(mode))?.into())
}

/// Returns whether this user may put something into a folder.
pub fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Returns how many bytes this user may still write there, if the system tells.
#[expect(clippy::useless_conversion, reason = "these are not the same types on each system")]
pub fn room(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(u64::from(found.f_bavail).saturating_mul(u64::from(found.f_frsize)))
}
