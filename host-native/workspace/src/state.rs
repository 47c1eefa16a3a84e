//! What a file is at one moment, as far as a change of it is told: a short text whole, anything
//! else by its size and digest.

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

/// The number of bytes that may still be read to tell changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAllowance {
    /// Bytes of texts, which are kept.
    texts: u64,
    /// Bytes of files whose digests are kept.
    digests: u64,
}

impl ReadAllowance {
    /// The allowance where nobody is told the digests.
    pub(super) const TEXTS: Self = Self { texts: 32 << 20, digests: 0 };
    /// The allowance where everything is told.
    pub(super) const ALL: Self = Self { texts: 32 << 20, digests: 1 << 30 };
    /// The allowance where nothing is read.
    const NOTHING: Self = Self { texts: 0, digests: 0 };
}

/// A function that returns true if nobody waits any more for what is read.
pub(super) type IsStopped<'a> = &'a dyn Fn() -> bool;

/// The paths, those first at which the least has to be read, so that large files never use up the
/// room for small ones.
pub(super) fn smallest_first(mut paths: Vec<PathBuf>, layers: &[&WorkspaceLayer]) -> Vec<PathBuf> {
    let size = |path: &PathBuf| {
        let sizes = layers.iter().filter_map(|layer| layer.stat(path).ok());
        sizes.fold(0_u64, |all, found| all.saturating_add(found.size))
    };
    paths.sort_by_cached_key(size);
    paths
}

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// There is no file.
    Absent,
    /// An empty folder.
    Folder,
    /// A short text.
    Text(Arc<str>),
    /// No text, or too long to be kept.
    Opaque {
        /// Its length in bytes.
        size: u64,
        /// Its digest, if there was room to read it.
        digest: Option<Digest>,
        /// The number by which the file system knows it, and when anything of it changed last, in
        /// nanoseconds since 1970: what is compared where there is no digest.
        version: (u64, u64),
        /// True if it may be a short text, for which there was no room.
        unread: bool,
    },
    /// A symbolic link, by where it leads.
    Link(Arc<str>),
}

impl FileState {
    /// Returns what stands at a real path. Folders that hold something do not count. As soon as it
    /// `is_stopped` no content is read.
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
            // It may grow meanwhile.
            if (&file).take(found.size).read_to_end(&mut bytes).is_err() {
                return opaque(found, None);
            }
            if let Ok(text) = String::from_utf8(bytes) {
                return Self::Text(text.into());
            }
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

    /// Returns whether it is the same, as far as that is known.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
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

    /// The text, if that is what it is.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Folder | Self::Opaque { .. } | Self::Link(_) => None,
        }
    }

    /// Returns what a program reads there: of a file that is missing nothing, and of what is no
    /// short text nobody knows.
    pub(super) fn as_written(&self) -> Option<&str> {
        if *self == Self::Absent { Some("") } else { self.text() }
    }
}

const fn opaque(found: PathStat, digest: Option<Digest>) -> FileState {
    let version = (found.inode, found.changed);
    FileState::Opaque { size: found.size, digest, version, unread: false }
}

/// Something to read that fails as soon as it is stopped.
struct StoppableReader<'a, R> {
    from: R,
    is_stopped: IsStopped<'a>,
}

impl<R: Read> Read for StoppableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.is_stopped)() { Err(io::Error::other("stopped")) } else { self.from.read(buffer) }
    }
}

fn take(left: &mut u64, bytes: u64) -> bool {
    let less = left.checked_sub(bytes);
    *left = less.unwrap_or(*left);
    less.is_some()
}

/// A name with `\xNN` for bytes that are no text. No two names are shown alike: a backslash that
/// could be taken for the begin of such an escape is one itself.
pub(super) fn escaped(name: &OsStr) -> String {
    let mut out = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
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

/// The name that is shown so.
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

/// Returns whether this, behind a backslash, reads as a byte.
fn is_escape(text: &str) -> bool {
    matches!(text.as_bytes(), [b'x', one, other, ..]
        if one.is_ascii_hexdigit() && other.is_ascii_hexdigit())
}
