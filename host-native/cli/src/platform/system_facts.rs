//! What a system tells this program, in words of ours.

/// A signal by which the system tells this program what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemSignal {
    /// Ctrl-C.
    Interrupt,
    /// End.
    Terminate,
    /// The terminal is gone.
    HangUp,
    /// End at once.
    Quit,
}
