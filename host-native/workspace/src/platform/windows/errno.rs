//! The system's errors on Windows, under the names that Unix has for them, so that the rest of the
//! crate compares errors alike on every system.

use std::{error::Error, fmt, io};

/// The result of a system operation.
pub type Result<T> = std::result::Result<T, Errno>;

/// The reason why the system did not do something.
#[expect(missing_docs, reason = "they are named as the systems name them")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    NOENT,
    ACCESS,
    PERM,
    EXIST,
    ISDIR,
    NOTDIR,
    NOTEMPTY,
    INVAL,
    BADF,
    ILSEQ,
    NAMETOOLONG,
    NOSPC,
    DQUOT,
    FBIG,
    ROFS,
    BUSY,
    TXTBSY,
    XDEV,
    MLINK,
    NOMEM,
    NOSYS,
    OPNOTSUPP,
    INTR,
    AGAIN,
    LOOP,
    IO,
}

/// The kinds of the standard library's errors that these are. Where several are of one kind, an
/// error of that kind becomes the first of them.
const KINDS: [(Errno, io::ErrorKind); 26] = [
    (Errno::NOENT, io::ErrorKind::NotFound),
    (Errno::ACCESS, io::ErrorKind::PermissionDenied),
    (Errno::PERM, io::ErrorKind::PermissionDenied),
    (Errno::EXIST, io::ErrorKind::AlreadyExists),
    (Errno::ISDIR, io::ErrorKind::IsADirectory),
    (Errno::NOTDIR, io::ErrorKind::NotADirectory),
    (Errno::NOTEMPTY, io::ErrorKind::DirectoryNotEmpty),
    (Errno::INVAL, io::ErrorKind::InvalidInput),
    (Errno::BADF, io::ErrorKind::InvalidInput),
    (Errno::ILSEQ, io::ErrorKind::InvalidFilename),
    (Errno::NAMETOOLONG, io::ErrorKind::InvalidFilename),
    (Errno::NOSPC, io::ErrorKind::StorageFull),
    (Errno::DQUOT, io::ErrorKind::QuotaExceeded),
    (Errno::FBIG, io::ErrorKind::FileTooLarge),
    (Errno::ROFS, io::ErrorKind::ReadOnlyFilesystem),
    (Errno::BUSY, io::ErrorKind::ResourceBusy),
    (Errno::TXTBSY, io::ErrorKind::ExecutableFileBusy),
    (Errno::XDEV, io::ErrorKind::CrossesDevices),
    (Errno::MLINK, io::ErrorKind::TooManyLinks),
    (Errno::NOMEM, io::ErrorKind::OutOfMemory),
    (Errno::NOSYS, io::ErrorKind::Unsupported),
    (Errno::OPNOTSUPP, io::ErrorKind::Unsupported),
    (Errno::INTR, io::ErrorKind::Interrupted),
    (Errno::AGAIN, io::ErrorKind::WouldBlock),
    (Errno::LOOP, io::ErrorKind::Other),
    (Errno::IO, io::ErrorKind::Other),
];

impl Errno {
    /// Returns the name of an error of the standard library, if it has one here.
    pub fn from_io_error(error: &io::Error) -> Option<Self> {
        // `LOOP` and `IO` are of kind `Other`, but so are errors that have no name here.
        let kind = Some(error.kind()).filter(|kind| *kind != io::ErrorKind::Other)?;
        KINDS.iter().find(|(_, is)| *is == kind).map(|(errno, _)| *errno)
    }

    fn kind(self) -> io::ErrorKind {
        let found = KINDS.iter().find(|(errno, _)| *errno == self);
        found.map_or(io::ErrorKind::Other, |(_, kind)| *kind)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NOSYS => f.write_str(
                "innerloop works on folders under Linux and macOS only, not yet on Windows; run \
                 it in the Windows Subsystem for Linux",
            ),
            Self::LOOP => f.write_str("it is a link"),
            other => other.kind().fmt(f),
        }
    }
}

impl Error for Errno {}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        Self::new(errno.kind(), errno)
    }
}
