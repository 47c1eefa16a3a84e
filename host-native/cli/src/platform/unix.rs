//! Linux and macOS.

use super::system_facts::SystemSignal;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::FileType,
    process::{Signal as StopSignal, getpid, kill_process},
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr},
};
use std::{
    io::{self, stderr, stdin, stdout},
    thread,
    time::Duration,
};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use tokio::signal::unix::Signal;

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

/// The time that the system may take to suspend this program.
const STANDSTILL: Duration = Duration::from_millis(20);

/// Returns whether standard input is a file, a pipe or a socket: no terminal and no `/dev/null`.
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

/// Returns whether nobody sits at the terminal any more: looking for a key would no longer wait.
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
pub(crate) struct EchoGuard(Termios);

impl EchoGuard {
    /// Nothing if it cannot be told so.
    pub(crate) fn begin() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(stdin(), OptionalActions::Flush, &silent).ok()?;
        Some(Self(before))
    }
}

impl Drop for EchoGuard {
    fn drop(&mut self) {
        // A terminal that is gone has nothing to show.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

/// Listens to what the system may tell this program; none of it ends the program any more.
pub(crate) fn signals() -> io::Result<Vec<(Signal, SystemSignal)>> {
    Ok(vec![
        (signal(SignalKind::interrupt())?, SystemSignal::Interrupt),
        (signal(SignalKind::terminate())?, SystemSignal::Terminate),
        (signal(SignalKind::hangup())?, SystemSignal::HangUp),
        (signal(SignalKind::quit())?, SystemSignal::Quit),
    ])
}
