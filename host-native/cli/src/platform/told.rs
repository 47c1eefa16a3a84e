//! What a system tells this program, in words of ours.

/// What the system has told this program to do.
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
