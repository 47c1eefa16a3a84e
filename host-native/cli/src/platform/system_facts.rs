//! The types that the implementations for all systems share.

/// A signal of the system to this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemSignal {
    /// Ctrl-C (SIGINT).
    Interrupt,
    /// The request to end (SIGTERM).
    Terminate,
    /// The end of the terminal (SIGHUP).
    HangUp,
    /// The request to quit, as by Ctrl-\ (SIGQUIT).
    Quit,
}
