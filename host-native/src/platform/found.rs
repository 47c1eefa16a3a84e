//! What a system says, in words of ours.

/// What the system has told this program to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Ctrl-C.
    Interrupt,
    /// End.
    Terminate,
    /// The terminal is gone.
    HangUp,
    /// End at once.
    Quit,
}

/// Who a file belongs to and which one it is, by the numbers of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) owner: u32,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// Who may do what with a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    /// As bits of a mode; none where the system has no modes.
    pub(crate) mode: Option<u32>,
    /// How many names it has; none where that is not told.
    pub(crate) links: Option<u64>,
    /// Whether it is this user's; yes where the system does not tell.
    pub(crate) is_own: bool,
}
