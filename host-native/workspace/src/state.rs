//! The state of a file at one moment, as far as reports of changes need it: a short text is kept
//! whole, anything else by its size and digest. Two states can be compared later, without the file.
//! How much is read for them is bounded.

use super::{
    file_stat::{EntryKind, PathStat},
    layer::WorkspaceLayer,
};
use crate::{digest::Digest, platform::name_of};
use innerloop_tools::MAX_CHANGE_BYTES;
use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Seek as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The number of bytes that may still be read to report changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAllowance {
    /// The number of bytes of texts, which are kept.
    texts: u64,
    /// The number of bytes of files whose digests are kept.
    digests: u64,
}

impl ReadAllowance {
    /// The allowance for a run's report, which has no digests.
    pub(super) const TEXTS: Self = Self { texts: 32 << 20, digests: 0 };
    /// The allowance for the user's review, which has everything.
    pub(super) const ALL: Self = Self { texts: 32 << 20, digests: 1 << 30 };
    /// The allowance where nothing is read.
    const NOTHING: Self = Self { texts: 0, digests: 0 };
}

/// A function that returns true once nobody waits for what is read any more.
pub(super) type IsStopped<'a> = &'a dyn Fn() -> bool;

/// Sorts the paths by how much has to be read at each, so that large files do not use up the
/// allowance of small ones.
pub(super) fn smallest_first(mut paths: Vec<PathBuf>, layers: &[&WorkspaceLayer]) -> Vec<PathBuf> {
    let size = |path: &PathBuf| {
        let sizes = layers.iter().filter_map(|layer| layer.stat(path).ok());
        sizes.fold(0_u64, |all, found| all.saturating_add(found.size))
    };
    paths.sort_by_cached_key(size);
    paths
}

/// The state of a file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// There is no file.
    Absent,
    /// An empty folder.
    Folder,
    /// A short text.
    Text(Arc<str>),
    /// A file that is not UTF-8, or is too long to be kept.
    Opaque {
        /// Its length in bytes.
        size: u64,
        /// Its digest, if the allowance sufficed to read it.
        digest: Option<Digest>,
        /// Its inode number, and the time at which anything about it last changed, in nanoseconds
        /// since 1970. They are compared where there is no digest.
        version: (u64, u64),
        /// True if it may be a short text, for which the allowance did not suffice.
        unread: bool,
    },
    /// A symbolic link, with its target.
    Link(Arc<str>),
}

impl FileState {
    /// Returns the state of the entry at a real path. A folder that is not empty counts as absent.
    /// Once it `is_stopped`, no content is read.
    pub(super) fn of(
        layer: &WorkspaceLayer,
        path: &Path,
        left: &mut ReadAllowance,
        is_stopped: IsStopped<'_>,
    ) -> Self {
        let Ok(found) = layer.stat(path) else { return Self::Absent };
        match found.kind {
            EntryKind::Folder if layer.list(path).is_ok_and(|list| list.is_empty()) => Self::Folder,
            EntryKind::Folder => Self::Absent,
            EntryKind::Link => {
                let target = layer.link_target(path).unwrap_or_default();
                Self::Link(escaped(target.as_os_str()).into())
            }
            EntryKind::Other => opaque(found, None),
            EntryKind::File => {
                // Without an allowance, this file and all that follow are known by size alone.
                if is_stopped() {
                    *left = ReadAllowance::NOTHING;
                }
                Self::of_file(layer, path, found, left, is_stopped)
            }
        }
    }

    fn of_file(
        layer: &WorkspaceLayer,
        path: &Path,
        found: PathStat,
        left: &mut ReadAllowance,
        is_stopped: IsStopped<'_>,
    ) -> Self {
        let Ok(mut file) = layer.file(path) else { return opaque(found, None) };
        let is_short = found.size <= MAX_CHANGE_BYTES as u64;
        let unread = is_short && !take(&mut left.texts, found.size);
        if is_short && !unread {
            let mut bytes = Vec::new();
            // A program may append meanwhile, without an end: no more is read than was allowed.
            if (&file).take(found.size).read_to_end(&mut bytes).is_err() {
                return opaque(found, None);
            }
            if let Ok(text) = String::from_utf8(bytes) {
                return Self::Text(text.into());
            }
            // It is not a text after all, so the digest needs its bytes once more.
            if file.rewind().is_err() {
                return opaque(found, None);
            }
        }
        let fits = take(&mut left.digests, found.size);
        let content = StoppableReader { from: file.take(found.size), is_stopped };
        let digest = fits.then(|| Digest::of_rest(content)).and_then(Result::ok);
        let version = (found.inode, found.changed);
        Self::Opaque { size: found.size, digest, version, unread }
    }

    /// Returns whether both states are the same, as far as that is known.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            // Between two digests the versions do not matter: a file that was written anew with the
            // same bytes has not changed.
            (
                Self::Opaque { size, digest: Some(digest), .. },
                Self::Opaque { size: other_size, digest: Some(other), .. },
            ) => size == other_size && digest == other,
            (
                Self::Opaque { size, version, .. },
                Self::Opaque { size: other_size, version: other, .. },
            ) => (size, version) == (other_size, other),
            (one, other) => one == other,
        }
    }

    /// Returns the text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Folder | Self::Opaque { .. } | Self::Link(_) => None,
        }
    }

    /// Returns the text for comparing manifests: an empty one for a missing file, and `None` for
    /// what is not a short text.
    pub(super) fn as_written(&self) -> Option<&str> {
        if *self == Self::Absent { Some("") } else { self.text() }
    }
}

const fn opaque(found: PathStat, digest: Option<Digest>) -> FileState {
    let version = (found.inode, found.changed);
    FileState::Opaque { size: found.size, digest, version, unread: false }
}

/// A reader that fails once it is stopped.
struct StoppableReader<'a, R> {
    from: R,
    is_stopped: IsStopped<'a>,
}

impl<R: Read> Read for StoppableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.is_stopped)() { Err(io::Error::other("stopped")) } else { self.from.read(buffer) }
    }
}

/// Takes bytes from an allowance; takes nothing and returns false if there are fewer left.
fn take(left: &mut u64, bytes: u64) -> bool {
    let less = left.checked_sub(bytes);
    *left = less.unwrap_or(*left);
    less.is_some()
}

/// Returns a name as text, with `\xNN` for bytes that are not UTF-8. No two names give the same.
pub(super) fn escaped(name: &OsStr) -> String {
    let mut out = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        // A backslash that looks like the start of an escape is escaped itself, so that a file
        // cannot be shown in a review as another one.
        for (at, piece) in chunk.valid().split('\\').enumerate() {
            if at > 0 {
                out.push_str(if is_escape(piece) { "\\x5c" } else { "\\" });
            }
            out.push_str(piece);
        }
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out
}

/// Returns the name that [`escaped`] gives this text for.
pub(super) fn unescaped(shown: &str) -> OsString {
    let mut bytes = Vec::with_capacity(shown.len());
    for (at, piece) in shown.split('\\').enumerate() {
        let byte = piece.get(1..3).filter(|_| at > 0 && is_escape(piece));
        match byte.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(piece.bytes().skip(3));
            }
            None if at > 0 => bytes.extend(b"\\".iter().copied().chain(piece.bytes())),
            None => bytes.extend(piece.bytes()),
        }
    }
    name_of(bytes)
}

/// Returns whether this text, behind a backslash, reads as an escaped byte.
fn is_escape(text: &str) -> bool {
    matches!(text.as_bytes(), [b'x', one, other, ..]
        if one.is_ascii_hexdigit() && other.is_ascii_hexdigit())
}
