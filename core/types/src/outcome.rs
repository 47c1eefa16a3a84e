//! The outcome of an action or of a custom tool's run: its output, its failure, and the changes to
//! files that it reports.

use crate::{
    base::json::Json,
    message::{Part, joined_text},
    tool_error::{DeniedBy, ToolError},
};
use alloc::{boxed::Box, string::String, vec, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// The outcome of an action or of a custom tool's run.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct Outcome {
    /// The whole output of the tool; `streams` describes the layout of a program's output.
    pub parts: Vec<Part>,
    /// True if the first two parts are a program's standard output and standard error, each of
    /// which may be empty. Further parts are remarks on the run. The model reads them all as one
    /// text, [`Outcome::joined_text`].
    #[json(skip_serializing_if = "is_false")]
    // A flag instead of two more fields: code that only wants the text reads `parts` for every tool
    // alike, and a program's output is there once.
    pub streams: bool,
    /// The kind of error, if there was one; `parts` then say what went wrong and what to do.
    #[json(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// The source of the denial, if the call needed an approval and got none.
    #[json(skip_serializing_if = "Option::is_none")]
    pub denied_by: Option<DeniedBy>,
    /// A program's exit code.
    #[json(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The number of places that were found or changed: results of a search, replacements of an
    /// edit, occurrences of a text that should be unique.
    #[json(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The duration of the run since its launch, in milliseconds, without the time in which a
    /// person was asked. If the host does not report it, the session measures it; it is absent only
    /// if nothing ran, or if the run was lost.
    #[json(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// True if the time limit ended the run; `parts` then hold the output up to then.
    #[json(skip_serializing_if = "is_false")]
    pub timed_out: bool,
    /// The files that changed.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ReportedChange>,
    /// The digests of the files that the action names, in its order, after it was carried out; an
    /// empty text for a file that does not exist. Present only if `ToolRun::known` was.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// True if the tool itself dropped a part of its output.
    #[json(skip_serializing_if = "is_false")]
    pub capped_at_source: bool,
    /// The kinds of secrets that it holds, or held before they were masked.
    // Set by the driver, and by nobody else: hosts need not know the rules.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The details that a host's tool passes to its user interface, in `EventKind::ToolCallEnd`;
    /// the model does not read them.
    #[json(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Json>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Outcome {
    /// Creates a success with the text `text`.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::text(text)], ..Self::default() }
    }

    /// Creates the outcome of a call that `by` denied; the model reads `message`.
    #[must_use]
    pub fn denied(by: DeniedBy, message: impl Into<String>) -> Self {
        Self { denied_by: Some(by), ..Self::error(ToolError::Denied, message) }
    }

    /// Creates a failure of the kind `error` with the text `message`.
    #[must_use]
    pub fn error(error: ToolError, message: impl Into<String>) -> Self {
        let mut outcome = Self::text(message);
        outcome.error = Some(error);
        outcome
    }

    /// Returns the text of the outcome as the model reads it: standard error comes after standard
    /// output, below a line that says so.
    #[must_use]
    pub fn joined_text(&self) -> String {
        if !self.streams {
            return joined_text(&self.parts);
        }
        let mut joined = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            // Standard error is known by its place, so that an empty standard output stays a part
            // and is only skipped here.
            let Some(text) = part.as_text().filter(|text| !text.is_empty()) else { continue };
            if joined.as_bytes().last().is_some_and(|byte| *byte != b'\n') {
                joined.push('\n');
            }
            if index == 1 {
                joined.push_str("standard error:\n");
            }
            joined.push_str(text);
        }
        joined
    }

    /// Returns a program's standard output; `None` if no program ran.
    #[must_use]
    pub fn stdout(&self) -> Option<&str> {
        self.stream(0)
    }

    /// Returns a program's standard error; `None` if no program ran.
    #[must_use]
    pub fn stderr(&self) -> Option<&str> {
        self.stream(1)
    }

    fn stream(&self, index: usize) -> Option<&str> {
        self.parts.get(index).filter(|_| self.streams)?.as_text()
    }
}

/// A success that says a text.
impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// A success that says a text.
impl From<&str> for Outcome {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A file that an action changed.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ReportedChange {
    /// The path of the file, relative to the workspace's root.
    pub path: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The text before; absent if the file did not exist, is not UTF-8 or is larger than 256 KiB.
    #[json(default, skip_serializing_if = "Option::is_none")]
    // Hosts restore files from these texts. So a text that is not exactly the file's bytes, such as
    // one of another encoding, is left out.
    pub before: Option<String>,
    /// The text after, with the same exceptions.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The kind of change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The file is new.
    Created,
    /// The content of the file changed.
    Modified,
    /// The file is gone.
    Deleted,
}
