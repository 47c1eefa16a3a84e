//! What a file is at one moment, as far as a change of it is told: a short text whole, of anything
//! else only that it is there.

use super::{
    root::{Access, Root},
    stat::{Kind, Stat},
};
use innerloop_tools::MAX_CHANGE_BYTES;
use std::{io::Read as _, path::Path};

/// What may still be read to tell changes.
#[derive(Debug)]
pub(super) struct Allowance {
    /// Bytes of texts, which are kept.
    texts: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { texts: 32 << 20 }
    }
}

/// A file at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileState {
    /// There is no file.
    Absent,
    /// A short text.
    Text(String),
    /// Not text, or too long to be kept.
    Opaque {
        /// The number by which its file system knows it.
        inode: u64,
        /// When anything of it changed last, which nobody can set.
        changed: u64,
        size: u64,
    },
}

impl FileState {
    /// What stands at a real path; folders do not count.
    pub(super) fn of(root: &Root, path: &Path, left: &mut Allowance) -> Self {
        match root.stat(path) {
            Ok(found) if found.kind == Kind::File => Self::of_file(root, path, found, left),
            Ok(found) if found.kind != Kind::Folder => Self::opaque(found),
            Ok(_) | Err(_) => Self::Absent,
        }
    }

    fn of_file(root: &Root, path: &Path, found: Stat, left: &mut Allowance) -> Self {
        let rest = left.texts.checked_sub(found.size);
        let (true, Some(rest)) = (found.size <= MAX_CHANGE_BYTES as u64, rest) else {
            return Self::opaque(found);
        };
        let Ok(file) = root.file(path, Access::READ) else { return Self::opaque(found) };
        let mut bytes = Vec::new();
        // It may grow meanwhile.
        if file.take(found.size).read_to_end(&mut bytes).is_err() {
            return Self::opaque(found);
        }
        let Ok(text) = String::from_utf8(bytes) else { return Self::opaque(found) };
        left.texts = rest;
        Self::Text(text)
    }

    const fn opaque(found: Stat) -> Self {
        Self::Opaque { inode: found.inode, changed: found.changed, size: found.size }
    }

    /// The text, if that is what it is.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Opaque { .. } => None,
        }
    }
}
