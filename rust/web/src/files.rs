//! The agent's files, in the page's memory. All paths are inside the workspace.

use innerloop_core::action::{Action, Outcome};
use innerloop_tools::{
    FileError, InMemoryFiles, PathError, WorkspaceFiles as _, WorkspacePath, perform_known,
};
use std::{cell::RefCell, fmt, rc::Rc};

/// The files that an agent works on, in memory. Clones share the same files, so that the page sees
/// the agent's writes, and agents can share them.
///
/// ```
/// use innerloop_web::MemoryFiles;
///
/// let files = MemoryFiles::new();
/// files.write("notes/today.md", "Buy bread.")?;
/// assert_eq!(files.paths(), ["notes/today.md"]);
/// assert_eq!(files.text("notes/today.md").as_deref(), Some("Buy bread."));
/// assert!(files.write("../elsewhere", "").is_err());
/// # Ok::<(), innerloop_web::FilesError>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryFiles(Rc<RefCell<InMemoryFiles>>);

/// The reason why a file was not written.
///
/// ```
/// use innerloop_web::{FilesError, MemoryFiles};
///
/// let files = MemoryFiles::default();
/// let refused = files.write("../elsewhere", "").unwrap_err();
/// assert!(matches!(refused, FilesError::Path { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The path is not a valid path of a file in the workspace.
    #[error("{path:?}: {error}")]
    Path {
        /// The given path.
        path: String,
        /// The reason why it is not valid.
        error: PathError,
    },
    /// The path is a folder, or a file is in the place of a folder above it.
    #[error("{path:?} cannot be written: {error}")]
    Blocked {
        /// The path.
        path: String,
        /// The error, which describes the obstacle.
        error: FileError,
    },
}

impl MemoryFiles {
    /// Makes an empty set of files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a file, with the folders above it.
    ///
    /// # Errors
    /// [`FilesError`]; the files are unchanged.
    pub fn write(&self, path: &str, content: impl Into<Vec<u8>>) -> Result<(), FilesError> {
        let parsed = WorkspacePath::parse_file(path)
            .map_err(|error| FilesError::Path { path: path.to_owned(), error })?;
        let written = self.0.borrow_mut().write(&parsed, content.into());
        written.map_err(|error| FilesError::Blocked { path: path.to_owned(), error })
    }

    /// Returns a copy of a file's bytes, if there is such a file.
    #[must_use]
    pub fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = WorkspacePath::parse_file(path).ok()?;
        self.0.borrow().bytes(&path).map(<[u8]>::to_vec)
    }

    /// Returns a file's text, if there is such a file. Bytes that are not UTF-8 are replaced by
    /// `U+FFFD`.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Removes a file, and returns whether there was one.
    pub fn remove(&self, path: &str) -> bool {
        let path = WorkspacePath::parse_file(path);
        path.is_ok_and(|path| self.0.borrow_mut().remove(&path).is_ok())
    }

    /// Returns the paths of all files, sorted.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.0.borrow().iter().map(|(path, _)| path.to_owned()).collect()
    }

    /// Carries out an action of a built-in tool for an agent in `folder`, with its model's
    /// knowledge of the files.
    pub(crate) fn perform(
        &self,
        folder: &str,
        action: &Action,
        known: Option<&[Option<String>]>,
    ) -> Outcome {
        perform_known(&mut *self.0.borrow_mut(), folder, action, known)
    }
}

impl fmt::Debug for MemoryFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryFiles").field(&self.paths()).finish()
    }
}
