//! Patches as data (`docs/decisions.md#the-v4a-patch-format`): the files that they touch, and the
//! changes to them. The tools find a hunk's place in a file.

use alloc::{string::String, vec::Vec};
use core::fmt;

/// A patch: its operations on files, in its own order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The operations; two of them may name the same file.
    // A list in the patch's order, not a map by path: a patch may add a file and change it further
    // below.
    pub files: Vec<FilePatch>,
}

/// The change that a patch makes to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePatch {
    /// Creates or overwrites a file.
    Add {
        /// The path of the file.
        path: String,
        /// Its whole content; each line ends with a line feed.
        content: String,
    },
    /// Removes a file from the workspace.
    Delete {
        /// The path of the file.
        path: String,
    },
    /// Changes a file, or moves it, or both.
    Update {
        /// The path of the file.
        path: String,
        /// The new path of the file, if it moves.
        move_to: Option<String>,
        /// The changes; empty only if the file moves.
        hunks: Vec<Hunk>,
    },
}

/// A change at one position of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line of the patch at which it begins, counted from 1.
    pub line: usize,
    /// Lines above the position, from the outside in, without white space at their ends.
    pub hints: Vec<String>,
    /// The old lines at the position, and the new ones.
    pub lines: Vec<HunkLine>,
    /// True if the position is the end of the file.
    pub end_of_file: bool,
}

/// A line of a hunk, without its mark and its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkLine {
    /// A line that does not change.
    Context(String),
    /// A line that is removed.
    Removed(String),
    /// A line that is added.
    Added(String),
}

impl HunkLine {
    /// Returns the text of the line.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Context(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }

    /// Returns the line of the file before the change; `None` for a new one.
    #[must_use]
    pub fn old(&self) -> Option<&str> {
        match self {
            Self::Context(text) | Self::Removed(text) => Some(text),
            Self::Added(_) => None,
        }
    }
}

/// A path that a patch touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffectedPath<'a> {
    /// The path, as the patch has it.
    pub path: &'a str,
    /// The operation on it.
    pub operation: FileOperation,
}

/// The operation of a patch on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOperation {
    /// Writes a file, whether or not one exists.
    Add,
    /// Changes an existing file.
    Update,
    /// Removes an existing file.
    Delete,
}

/// The reason why a text is not a patch; its displayed form is meant for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// The faulty line, counted from 1; `None` if the fault is in the text as a whole.
    pub line: Option<usize>,
    /// The text that says what is wrong.
    pub message: String,
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            // The wording of codex: models that were trained on its patches know how to react to
            // it.
            Some(line) => write!(f, "Invalid patch hunk on line {line}: {}", self.message),
            None => write!(f, "Invalid patch: {}", self.message),
        }
    }
}

impl core::error::Error for PatchError {}

impl Patch {
    /// Returns the patch without the content of its files: only their paths and operations.
    #[must_use]
    pub fn outline(mut self) -> Self {
        // A call keeps its outline for as long as it runs, and the content is in the call's
        // arguments already.
        for file in &mut self.files {
            match file {
                FilePatch::Add { content, .. } => *content = String::new(),
                FilePatch::Update { hunks, .. } => *hunks = Vec::new(),
                FilePatch::Delete { .. } => {}
            }
        }
        self
    }

    /// Returns the paths that the patch touches, in its order; a move touches two.
    #[must_use]
    pub fn paths(&self) -> Vec<AffectedPath<'_>> {
        let mut paths = Vec::new();
        for file in &self.files {
            let (path, operation, target) = match file {
                FilePatch::Add { path, .. } => (path, FileOperation::Add, None),
                FilePatch::Delete { path } => (path, FileOperation::Delete, None),
                // To the guard, to rules and to path checks a move is a file that goes and a file
                // that comes. A move onto itself is neither: as a delete and an add, it would need
                // no earlier read.
                FilePatch::Update { path, move_to: Some(to), .. } if to != path => {
                    (path, FileOperation::Delete, Some(to))
                }
                FilePatch::Update { path, .. } => (path, FileOperation::Update, None),
            };
            paths.push(AffectedPath { path, operation });
            if let Some(path) = target {
                paths.push(AffectedPath { path, operation: FileOperation::Add });
            }
        }
        paths
    }
}
