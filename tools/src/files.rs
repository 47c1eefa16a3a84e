//! The files of a workspace as the tools see them: whole files by path, and folders by their
//! entries. Hosts implement [`WorkspaceFiles`] over whatever they have; no path of it leads out of
//! the workspace.

use crate::path::WorkspacePath;
use std::{borrow::Cow, fmt};

/// The largest file that the tools read, 64 MiB.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// The largest picture that is given to a model as it is, 5 MiB.
pub const MAX_PICTURE_BYTES: usize = 5 << 20;

/// The largest picture that is read if the host makes it smaller before a model sees it, 30 MiB.
pub const MAX_FITTED_PICTURE_BYTES: usize = 30 << 20;

/// A workspace's files. Paths are relative to the workspace's root, and none leads out of it.
pub trait WorkspaceFiles {
    /// Reads the whole content of a file.
    ///
    /// # Errors
    /// [`FileError`], for example `NotFound`, `IsFolder` or `TooLarge`.
    fn read(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, FileError>;

    /// Makes `bytes` the whole content of a file, and creates the folders above it.
    ///
    /// # Errors
    /// [`FileError`], for example `IsFolder`, `NotFolder` or `Full`.
    fn write(&mut self, path: &WorkspacePath, bytes: Vec<u8>) -> Result<(), FileError>;

    /// Removes a file, never a folder.
    ///
    /// # Errors
    /// [`FileError`], for example `NotFound` or `IsFolder`.
    fn remove(&mut self, path: &WorkspacePath) -> Result<(), FileError>;

    /// Moves the file at `from` to `to`, with `bytes` as its whole content. Where files have
    /// permissions it keeps its own, whatever stood at `to`. Returns whether `from` is gone; if
    /// not, the caller removes it.
    ///
    /// # Errors
    /// As of [`WorkspaceFiles::write`].
    fn move_to(
        &mut self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        bytes: Vec<u8>,
    ) -> Result<bool, FileError> {
        // Files without permissions have nothing to keep, so they are written anew.
        let _stays = from;
        self.write(to, bytes).map(|()| false)
    }

    /// Returns the facts about what is at a path. A link is followed if it stays inside the
    /// workspace.
    ///
    /// # Errors
    /// [`FileError`], for example `NotFound`.
    fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileError>;

    /// Lists the entries of a folder, in any order. A link is an entry of its own kind.
    ///
    /// # Errors
    /// [`FileError`], for example `NotFound` or `NotFolder`.
    fn list(&self, path: &WorkspacePath) -> Result<Vec<FolderEntry>, FileError>;

    /// Returns whether the host makes pictures smaller that are too large for a model.
    fn fits_pictures(&self) -> bool {
        false
    }
}

/// The facts about what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Its kind.
    pub kind: EntryKind,
    /// The size of a file in bytes; 0 for anything else.
    pub size: u64,
    /// The time of the last write. Only the order counts: greater is newer.
    pub modified: u64,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// Its name, without the folder's path.
    pub name: String,
    /// Its kind.
    pub kind: EntryKind,
}

/// True where a file's name may be bytes that are not UTF-8, as none is in memory.
pub(crate) const HAS_BYTES: bool = cfg!(any(not(target_family = "wasm"), target_os = "wasi"));

impl FolderEntry {
    /// Returns the entry of a name that is not UTF-8, given with U+FFFD for what is not. No call
    /// can name it, so that it is told and otherwise left out.
    #[must_use]
    pub const fn unnameable(name: String) -> Self {
        Self { name, kind: EntryKind::Other }
    }

    /// Returns whether the name is not UTF-8.
    pub(crate) fn is_unnameable(&self) -> bool {
        // A device with that character in its name would count as one, and can be opened as little.
        HAS_BYTES && self.kind == EntryKind::Other && self.name.contains('\u{fffd}')
    }
}

/// The kind of a folder's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

/// Sorts entries by name.
pub(crate) fn sort(entries: &mut [FolderEntry]) {
    // The standard library's sort would be compiled anew for this type, and the page's module is
    // small.
    innerloop_json::sort(entries, Ord::cmp);
}

/// The reason why an operation on files failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// Nothing is at the path.
    NotFound,
    /// The system or the sandbox refuses it, or a link leads out of the workspace.
    Denied,
    /// A folder, where a file is needed.
    IsFolder,
    /// Something other than a folder, where a folder is needed.
    NotFolder,
    /// A device, a pipe or a socket.
    NotRegular,
    /// A file of more than [`MAX_FILE_BYTES`].
    TooLarge,
    /// No room is left.
    Full,
    /// Any other failure, in the system's words.
    Io(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "no such file or folder",
            Self::Denied => "permission denied",
            Self::IsFolder => "it is a folder",
            Self::NotFolder => "it is not a folder",
            Self::NotRegular => "it is neither a file nor a folder",
            Self::TooLarge => "it is larger than 64 MiB",
            Self::Full => "no space is left",
            Self::Io(message) => message,
        })
    }
}

impl std::error::Error for FileError {}
