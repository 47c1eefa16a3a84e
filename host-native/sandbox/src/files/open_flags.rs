//! The arguments of opening and seeking, freed from WASI's numbers.

/// The flags with which a guest opens a file or folder, as those of POSIX.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenFlags {
    pub(crate) follow: bool,
    pub(crate) create: bool,
    pub(crate) directory: bool,
    pub(crate) exclusive: bool,
    pub(crate) truncate: bool,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) append: bool,
}

/// The position from which a seek begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SeekOrigin {
    Start,
    Here,
    End,
}
