//! The errors of fetching, checking and unpacking a program's archive. Each message says what is
//! wrong and what to do, and shows no secret.

use std::{io, path::PathBuf};
use thiserror::Error;

/// The reason why a program's archive is not used. Addresses are shown without names, passwords and
/// queries.
#[derive(Debug, Error)]
pub enum InstallError {
    /// A name or a version that no package has.
    #[error("{0:?} is no name or version of a package; check it")]
    Name(String),
    /// An address that cannot be requested.
    #[error("{address} cannot be asked: {why}; name another address, or a file with --from FILE")]
    Address {
        /// The address.
        address: String,
        /// The problem with the address.
        why: &'static str,
    },
    /// No connection, or one that broke each time.
    #[error(
        "cannot reach {address}: {why}; check the network and the proxy's variables, or get the \
         archive elsewhere and name it with --from FILE"
    )]
    Unreachable {
        /// The requested address.
        address: String,
        /// The reason why there is no connection.
        why: String,
    },
    /// Nothing came for a minute.
    #[error("{address} stopped sending; try again, or name an archive at hand with --from FILE")]
    Stalled {
        /// The requested address.
        address: String,
    },
    /// The server refuses the request.
    #[error(
        "{address} answers with status {status}; try again later, or name an archive at hand \
         with --from FILE"
    )]
    Status {
        /// The requested address.
        address: String,
        /// The HTTP status.
        status: u16,
    },
    /// The server redirects to an address without encryption.
    #[error("{from} leads to {to}, which is not encrypted; name an archive with --from FILE")]
    Unencrypted {
        /// The requested address.
        from: String,
        /// The address of the redirect.
        to: String,
    },
    /// The server redirects more often than is followed.
    #[error("{address} leads to another address too often; name an archive with --from FILE")]
    Redirects {
        /// The address that was requested first.
        address: String,
    },
    /// The index knows no such package.
    #[error("{index} has no {package}; check what PIP_INDEX_URL or npm_config_registry names")]
    Missing {
        /// The index.
        index: String,
        /// The package.
        package: String,
    },
    /// The answer is not that of an index.
    #[error(
        "what {address} says is no index: {why}; check what PIP_INDEX_URL or npm_config_registry \
         names"
    )]
    Index {
        /// The requested address.
        address: String,
        /// The problem with the answer.
        why: String,
    },
    /// An answer, an archive or a file is larger than its bound.
    #[error("{what} has more than {most} bytes, which is more than is taken; do not use it")]
    TooLarge {
        /// An address, a file or an archive's file.
        what: String,
        /// The bound in bytes.
        most: u64,
    },
    /// An archive or a file is not what was published.
    #[error(
        "{what} has the digest {found} instead of {expected}: it is not what was published; do \
         not use it, and report it to whoever publishes it"
    )]
    Digest {
        /// An archive, or one of its files.
        what: String,
        /// The digest that it should have, in hexadecimal.
        expected: String,
        /// The digest that it has.
        found: String,
    },
    /// An archive or a file is damaged, or has no known form.
    #[error("{what} cannot be read: {why}; take another copy of it")]
    Damaged {
        /// The archive, or one of its files.
        what: String,
        /// The problem with the archive or file.
        why: String,
    },
    /// An archive does not have the file.
    #[error("{what} has no file {file}; check that it is the right archive, of the right version")]
    NoFile {
        /// The archive.
        what: String,
        /// The file.
        file: String,
    },
    /// A member of a tar leads out of its folder, or is neither a file, a folder nor a link.
    #[error("{what} is not unpacked: {member:?} {why}; do not use it")]
    Hostile {
        /// The tar.
        what: String,
        /// The path of its member.
        member: String,
        /// The problem with the member.
        why: &'static str,
    },
    /// The file system refuses.
    #[error("cannot use {}: {error}; check that it is there, and for room", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl InstallError {
    /// Makes an error of the file system at a path.
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::File { path, error }
    }
}
