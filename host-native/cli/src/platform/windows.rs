//! The implementation for Windows, where some of what Unix has does nothing.

use super::system_facts::SystemSignal;
use std::{
    io::{self, IsTerminal as _, stdin},
    task::{Context, Poll},
};
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

/// Does nothing: stable Rust has no way to do it here.
pub(crate) const fn hide_memory() {}

/// Returns whether standard input is anything but a console.
pub(crate) fn is_piped_in() -> bool {
    !stdin().is_terminal()
}

/// Returns the columns and rows of the console.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

/// Returns the columns of the console: standard output and standard error share it.
pub(crate) fn columns_of_output() -> Option<u16> {
    terminal_size().map(|(columns, _)| columns)
}

/// Returns false: when the console is closed, the program ends with it.
pub(crate) fn is_terminal_closed() -> bool {
    false
}

/// Does nothing: shells can't suspend programs here.
pub(crate) fn stand_still() {}

/// A guard that never exists: a console without echo no longer gives lines.
pub(crate) struct EchoGuard(std::convert::Infallible);

impl EchoGuard {
    /// Returns none: what is typed is shown.
    pub(crate) fn begin() -> Option<Self> {
        None
    }
}

/// The listener for a signal of the console.
#[derive(Debug)]
pub(crate) enum Signal {
    C(CtrlC),
    Break(CtrlBreak),
    Close(CtrlClose),
    Shutdown(CtrlShutdown),
}

impl Signal {
    /// Polls for the next one.
    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<()>> {
        match self {
            Self::C(signal) => signal.poll_recv(context),
            Self::Break(signal) => signal.poll_recv(context),
            Self::Close(signal) => signal.poll_recv(context),
            Self::Shutdown(signal) => signal.poll_recv(context),
        }
    }
}

/// Begins to listen for the console's signals.
pub(crate) fn signals() -> io::Result<Vec<(Signal, SystemSignal)>> {
    Ok(vec![
        (Signal::C(ctrl_c()?), SystemSignal::Interrupt),
        (Signal::Break(ctrl_break()?), SystemSignal::Quit),
        (Signal::Close(ctrl_close()?), SystemSignal::HangUp),
        (Signal::Shutdown(ctrl_shutdown()?), SystemSignal::Terminate),
    ])
}
