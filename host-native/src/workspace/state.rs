//! What a file is at one moment, as far as a change of it is told: a short text whole, anything
//! else by its size and digest.

use super::{
    layer::Layer,
    stat::{Kind, Stat},
};
use crate::digest::Digest;
use innerloop_tools::MAX_CHANGE_BYTES;
use std::{
    io::{Read as _, Seek as _},
    path::Path,
    sync::Arc,
};

/// What may still be read to tell changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Bytes of texts, which are kept.
    texts: u64,
    /// Bytes of files whose digests are kept.
    digests: u64,
}

impl Allowance {
    /// Where nobody is told the digests.
    pub(super) const TEXTS: Self = Self { texts: 32 << 20, digests: 0 };
    /// Where all is told.
    pub(super) const ALL: Self = Self { texts: 32 << 20, digests: 1 << 30 };
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
    },
    /// A symbolic link, by where it leads.
    Link(Arc<str>),
}

impl FileState {
    /// What stands at a real path. Folders that hold something do not count.
    pub(super) fn of(layer: &Layer, path: &Path, left: &mut Allowance) -> Self {
        let Ok(found) = layer.stat(path) else { return Self::Absent };
        match found.kind {
            Kind::Folder if layer.list(path).is_ok_and(|list| list.is_empty()) => Self::Folder,
            Kind::Folder => Self::Absent,
            Kind::Link => {
                let target = layer.link_target(path).unwrap_or_default();
                Self::Link(target.to_string_lossy().into())
            }
            Kind::Other => opaque(found, None),
            Kind::File => Self::of_file(layer, path, found, left),
        }
    }

    fn of_file(layer: &Layer, path: &Path, found: Stat, left: &mut Allowance) -> Self {
        let Ok(mut file) = layer.file(path) else { return opaque(found, None) };
        if found.size <= MAX_CHANGE_BYTES as u64 && take(&mut left.texts, found.size) {
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
        let digest = fits.then(|| Digest::of_rest(file.take(found.size)));
        opaque(found, digest.and_then(Result::ok))
    }

    /// Whether it is the same, as far as that is known.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Opaque { size, digest: Some(digest), .. },
                Self::Opaque { size: other_size, digest: Some(other), .. },
            ) => size == other_size && digest == other,
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
}

const fn opaque(found: Stat, digest: Option<Digest>) -> FileState {
    FileState::Opaque { size: found.size, digest, version: (found.inode, found.changed) }
}

fn take(left: &mut u64, bytes: u64) -> bool {
    let less = left.checked_sub(bytes);
    *left = less.unwrap_or(*left);
    less.is_some()
}
