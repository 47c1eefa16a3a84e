//! Windows.

use super::system_facts::SystemSignal;
use std::{
    io::{self, IsTerminal as _, stdin},
    task::{Context, Poll},
};
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

/// There is no way in stable Rust.
pub(crate) const fn hide_memory() {}

/// Returns whether standard input is no terminal.
pub(crate) fn is_piped_in() -> bool {
    !stdin().is_terminal()
}

/// The columns and rows of the console.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

/// The same: there is one console.
pub(crate) fn columns_of_output() -> Option<u16> {
    terminal_size().map(|(columns, _)| columns)
}

/// Returns whether nobody sits at the console any more: the program ends with it.
pub(crate) fn is_terminal_closed() -> bool {
    false
}

/// There are no shells here that a program can be set aside in.
pub(crate) fn stand_still() {}

/// The console does not show what is typed, as long as this lives. There is none of it yet: a
/// console that is told so no longer gives lines.
pub(crate) struct EchoGuard(std::convert::Infallible);

impl EchoGuard {
    /// Nothing: what is typed is shown.
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
    /// Waits for the next one.
    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<()>> {
        match self {
            Self::C(signal) => signal.poll_recv(context),
            Self::Break(signal) => signal.poll_recv(context),
            Self::Close(signal) => signal.poll_recv(context),
            Self::Shutdown(signal) => signal.poll_recv(context),
        }
    }
}

/// Listens to what the console may tell this program.
pub(crate) fn signals() -> io::Result<Vec<(Signal, SystemSignal)>> {
    Ok(vec![
        (Signal::C(ctrl_c()?), SystemSignal::Interrupt),
        (Signal::Break(ctrl_break()?), SystemSignal::Quit),
        (Signal::Close(ctrl_close()?), SystemSignal::HangUp),
        (Signal::Shutdown(ctrl_shutdown()?), SystemSignal::Terminate),
    ])
}
