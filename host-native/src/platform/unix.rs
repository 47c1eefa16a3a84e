//! Linux and macOS.

use super::found::{Identity, Rights, Told};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{FileType, Mode, OFlags, RawMode},
    process::{Resource, Rlimit, Signal as StopSignal, getpid, getrlimit, kill_process, setrlimit},
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr},
};
use std::{
    ffi::OsString,
    fs::{File, Metadata, Permissions},
    io::{self, stderr, stdin, stdout},
    os::{fd::AsRawFd as _, unix::ffi::OsStringExt as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use rustix::{
    fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT},
    io::{Errno, Result},
};
pub(crate) use std::os::unix::fs::{
    DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink,
};
pub(crate) use tokio::signal::unix::Signal;

/// Whether commands of this machine can be confined: bubblewrap works with Linux' namespaces.
pub(crate) const HAS_BUBBLEWRAP: bool = cfg!(target_os = "linux");

/// Keeps this program's memory and environment, in which there may be keys, from other programs of
/// the user that have no right to look into all: what it starts has this for itself again.
pub(crate) fn hide_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Where the system refuses it, all is as it was before there was such a way.
        let _refused = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// How long the system may take to have this program stand still.
const STANDSTILL: Duration = Duration::from_millis(20);

/// A name of these bytes.
pub(crate) fn name_of(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// The permissions of these bits, for a new file.
pub(crate) fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Bits of a mode as the system takes them: 32 on Linux, 16 on macOS, of which 12 are used.
pub(crate) const fn mode_of(bits: u32) -> Mode {
    Mode::from_raw_mode((bits & 0o7777) as RawMode)
}

/// A path by which the system opens this very file, for whoever wants a path: what stands at its
/// name may be another by now.
pub(crate) fn path_of(file: &File) -> Option<PathBuf> {
    Some(format!("/dev/fd/{}", file.as_raw_fd()).into())
}

/// Who a file belongs to and which one it is.
pub(crate) fn identity(found: &Metadata) -> Option<Identity> {
    Some(Identity { owner: found.uid(), device: found.dev(), inode: found.ino() })
}

/// Who may do what with it.
pub(crate) fn rights(found: &Metadata) -> Rights {
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    Rights { mode: Some(found.mode()), links: Some(found.nlink()), is_own }
}

/// Limits what this process may use: bytes of memory that it can write to, where the system counts
/// them, and seconds of processor time. It leaves no image of its memory behind.
pub(crate) fn limit_process(memory: u64, seconds: u64) -> Result<()> {
    let limits = [(Resource::Data, memory), (Resource::Cpu, seconds), (Resource::Core, 0)];
    limits.into_iter().try_for_each(|(resource, most)| {
        let allowed = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(allowed));
        setrlimit(resource, Rlimit { current: most, maximum: most })
    })
}

/// Lets nobody but its owner look into a folder.
pub(crate) fn close_folder(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))
}

/// Whether a file can be run as a program.
pub(crate) fn is_program(found: &Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

/// Opens for reading; neither follows a link nor waits for the other end of a pipe.
pub(crate) fn open_quietly(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Opens for reading, and does not wait for the other end of a pipe.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// A new file with these bits of a mode, less what the user's mask takes away.
pub(crate) fn create(path: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, mode_of(mode))?.into())
}

/// Whether this user may put something into a folder.
pub(crate) fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// How many bytes this user may still write there, if the system tells.
#[expect(clippy::useless_conversion, reason = "these are not the same types on each system")]
pub(crate) fn room(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(u64::from(found.f_bavail).saturating_mul(u64::from(found.f_frsize)))
}

/// Whether standard input is a file, a pipe or a socket: no terminal and no `/dev/null`.
pub(crate) fn is_piped_in() -> bool {
    let kind = rustix::fs::fstat(stdin()).map(|found| FileType::from_raw_mode(found.st_mode));
    matches!(kind, Ok(FileType::RegularFile | FileType::Fifo | FileType::Socket))
}

/// The columns and rows of standard error's terminal, as it tells them.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    tcgetwinsize(stderr()).ok().map(|size| (size.ws_col, size.ws_row))
}

/// The same for standard output's.
pub(crate) fn columns_of_output() -> Option<u16> {
    tcgetwinsize(stdout()).ok().map(|size| size.ws_col)
}

/// Whether nobody sits at the terminal any more: looking for a key would no longer wait.
pub(crate) fn is_terminal_closed() -> bool {
    let stdin = stdin();
    let mut looked = [PollFd::new(&stdin, PollFlags::empty())];
    let found = poll(&mut looked, Some(&Timespec::default()));
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    found.is_ok() && looked.iter().any(|it| it.revents().intersects(gone))
}

/// Has this program stand still until its shell has it go on.
pub(crate) fn stand_still() {
    if kill_process(getpid(), StopSignal::TSTP).is_ok() {
        // Another thread may be the one that takes it.
        thread::sleep(STANDSTILL);
    }
}

/// The terminal does not show what is typed, as long as this lives.
pub(crate) struct Silence(Termios);

impl Silence {
    /// Nothing if it cannot be told so.
    pub(crate) fn begin() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(stdin(), OptionalActions::Flush, &silent).ok()?;
        Some(Self(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // A terminal that is gone has nothing to show.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

/// Listens to what the system may tell this program; none of it ends the program any more.
pub(crate) fn signals() -> io::Result<Vec<(Signal, Told)>> {
    Ok(vec![
        (signal(SignalKind::interrupt())?, Told::Interrupt),
        (signal(SignalKind::terminate())?, Told::Terminate),
        (signal(SignalKind::hangup())?, Told::HangUp),
        (signal(SignalKind::quit())?, Told::Quit),
    ])
}
