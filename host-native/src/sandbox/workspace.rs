//! The folder that the agent works on.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A folder that exists and can be listed, by its true path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

/// Why a folder can't be the workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// Nothing is there.
    #[error("there is no folder {}; create it or name another workspace", .0.display())]
    Missing(PathBuf),
    /// A file is there.
    #[error("{} is a file; name the folder to work in", .0.display())]
    File(PathBuf),
    /// It can't be opened or listed.
    #[error("can't open the workspace {}: {error}", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Workspace {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// [`WorkspaceError`] if it is missing, a file, or unreadable.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let path = path.as_ref();
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => WorkspaceError::Missing(path.to_path_buf()),
            io::ErrorKind::NotADirectory => WorkspaceError::File(path.to_path_buf()),
            _ => WorkspaceError::Unreadable { path: path.to_path_buf(), error },
        };
        let root = fs::canonicalize(path).map_err(unreadable)?;
        if !root.is_dir() {
            return Err(WorkspaceError::File(path.to_path_buf()));
        }
        fs::read_dir(&root).map_err(unreadable)?;
        Ok(Self { root })
    }

    /// Where a folder of the workspace really is, relative to the root; `None` if there is no such
    /// folder, or a link leads out of the workspace.
    pub(super) fn folder(&self, folder: &str) -> Option<PathBuf> {
        let real = fs::canonicalize(self.root.join(folder)).ok().filter(|real| real.is_dir())?;
        real.strip_prefix(&self.root).ok().map(Path::to_path_buf)
    }

    /// Its true, absolute path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}
