//! How a guest opens a file, and where it seeks in one.

/// How a guest opens something.
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

/// Where a seek begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SeekOrigin {
    Start,
    Here,
    End,
}
