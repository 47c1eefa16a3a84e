//! The implementation for Linux and macOS.

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

/// Hides this program's memory and environment, which may hold keys, from other programs of the
/// same user, such as those that an agent starts. These are not hidden themselves.
pub(crate) fn hide_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // An extra safeguard: the program works as well where the system refuses it.
        let _refused = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// The time that the system may take to suspend this program.
const STANDSTILL: Duration = Duration::from_millis(20);

/// Returns whether standard input is a file, a pipe or a socket, and thus neither a terminal nor
/// `/dev/null`.
pub(crate) fn is_piped_in() -> bool {
    let kind = rustix::fs::fstat(stdin()).map(|found| FileType::from_raw_mode(found.st_mode));
    matches!(kind, Ok(FileType::RegularFile | FileType::Fifo | FileType::Socket))
}

/// Returns the columns and rows that standard error's terminal reports.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    tcgetwinsize(stderr()).ok().map(|size| (size.ws_col, size.ws_row))
}

/// Returns the columns that standard output's terminal reports.
pub(crate) fn columns_of_output() -> Option<u16> {
    tcgetwinsize(stdout()).ok().map(|size| size.ws_col)
}

/// Returns whether the terminal is closed: waiting for a key would return at once.
pub(crate) fn is_terminal_closed() -> bool {
    let stdin = stdin();
    let mut looked = [PollFd::new(&stdin, PollFlags::empty())];
    let found = poll(&mut looked, Some(&Timespec::default()));
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    found.is_ok() && looked.iter().any(|it| it.revents().intersects(gone))
}

/// Suspends this program until its shell continues it.
pub(crate) fn stand_still() {
    if kill_process(getpid(), StopSignal::TSTP).is_ok() {
        // Any thread may receive the signal: this one must not go on before all are stopped.
        thread::sleep(STANDSTILL);
    }
}

/// A guard that keeps the terminal from echoing what is typed until it is dropped.
pub(crate) struct EchoGuard(Termios);

impl EchoGuard {
    /// Turns the echo off; returns none if the terminal does not allow it.
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
        // This fails only if the terminal is gone.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

/// Begins to listen for signals; from here on, none of them ends the program by itself.
pub(crate) fn signals() -> io::Result<Vec<(Signal, SystemSignal)>> {
    Ok(vec![
        (signal(SignalKind::interrupt())?, SystemSignal::Interrupt),
        (signal(SignalKind::terminate())?, SystemSignal::Terminate),
        (signal(SignalKind::hangup())?, SystemSignal::HangUp),
        (signal(SignalKind::quit())?, SystemSignal::Quit),
    ])
}
