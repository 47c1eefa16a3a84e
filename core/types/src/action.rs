//! The canonical actions of the built-in tools and their outcomes: one meaning for every
//! vocabulary. As JSON they are the interface of the sandboxed tools program: an [`Action`] in,
//! an [`Outcome`] out. Paths use `/` and are relative to the folder that the agent works in, the
//! workspace's root unless it was given another; a leading `/` means the workspace's root.

use crate::{base::json::Json, message::joined_text};
use alloc::{boxed::Box, string::String, vec, vec::Vec};
use innerloop_json::{FromJson, ToJson};

pub use crate::base::digest::DigestBuilder;
pub use crate::{
    message::Part,
    patch::{AffectedPath, FileOperation, FilePatch, Hunk, HunkLine, Patch, PatchError},
    tool_error::{DeniedBy, ToolError},
    v4a::PatchStream,
};

/// The text that replaces a key that must not be seen.
pub const MASK: &str = "***";

/// An action of a built-in tool.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Reads a text file's lines, or an image whole.
    Read {
        /// The file.
        path: String,
        /// The first line to read, counted from 1.
        #[json(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// The maximum number of lines to read; all if absent.
        #[json(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
        /// The way in which lines are numbered in the outcome's text.
        #[json(default)]
        numbering: LineNumbering,
        /// The maximum number of characters shown of a line; all if absent.
        #[json(default, skip_serializing_if = "Option::is_none")]
        line_chars: Option<u32>,
        /// The place of the notice that the file goes on.
        #[json(default, skip_serializing_if = "NoticePosition::is_below")]
        notice: NoticePosition,
    },
    /// Reads an image, and nothing else.
    ViewImage {
        /// The file.
        path: String,
    },
    /// Reads all text files of some patterns, one after the other.
    ReadMany {
        /// Files, folders and patterns of paths, for example `src/**/*.ts`.
        include: Vec<String>,
        /// Patterns of paths that are left out.
        #[json(default, skip_serializing_if = "Vec::is_empty")]
        exclude: Vec<String>,
        /// True if of a folder only the files directly in it are read.
        #[json(default, skip_serializing_if = "is_false")]
        flat: bool,
        /// Which files a search passes over.
        #[json(default, skip_serializing_if = "HiddenFiles::is_ignored")]
        hidden: HiddenFiles,
    },
    /// Writes a file, with the folders above it.
    Write {
        /// The file.
        path: String,
        /// Its whole new content.
        content: String,
    },
    /// Replaces text in a file.
    Edit {
        /// The file.
        path: String,
        /// The text to find; it must occur once unless `all` is set.
        old: String,
        /// The text to put in its place.
        new: String,
        /// True if to replace each occurrence.
        #[json(default)]
        all: bool,
    },
    /// Applies a patch to any number of files: all of it or nothing.
    Patch {
        /// The patch's text, which [`Patch::parse`] reads.
        patch: String,
    },
    /// Lists a folder, folders first, sorted by name.
    List {
        /// The folder; the agent's own if absent.
        #[json(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The number of levels to go down, from 1.
        #[json(default = "one")]
        depth: u32,
        /// Patterns of entries that are left out.
        #[json(default, skip_serializing_if = "Vec::is_empty")]
        ignore: Vec<String>,
        /// Which entries are left out besides.
        #[json(default = "HiddenFiles::nothing", skip_serializing_if = "HiddenFiles::is_nothing")]
        hidden: HiddenFiles,
        /// The way in which folders are told from files.
        #[json(default, skip_serializing_if = "ListStyle::is_slash")]
        style: ListStyle,
    },
    /// Finds files by the pattern of their path, newest first.
    Glob {
        /// For example `**/*.ts`.
        pattern: String,
        /// The folder to search; the agent's own if absent.
        #[json(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// True if case is ignored.
        #[json(default, skip_serializing_if = "is_false")]
        ignore_case: bool,
        /// The maximum number of files to name; 1,000 if absent.
        #[json(default, skip_serializing_if = "Option::is_none")]
        max_results: Option<u32>,
        /// Which files the search passes over.
        #[json(default, skip_serializing_if = "HiddenFiles::is_ignored")]
        hidden: HiddenFiles,
    },
    /// Searches files by a regular expression.
    Grep(GrepQuery),
    /// Runs a WASI program of the host's registry over the workspace.
    RunProgram {
        /// The program's name in the registry.
        program: String,
        /// Its arguments, without the program's own name.
        #[json(default)]
        args: Vec<String>,
        /// The text that it reads from standard input.
        #[json(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<String>,
    },
    /// Carries out a command line in the agent's shell, which keeps variables, functions and the
    /// folder that it stands in from one to the next.
    Shell {
        /// The command line.
        command: String,
        /// The folder in which this one is carried out, from the agent's own on; else the one that
        /// the shell stands in.
        #[json(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// Reads pages of the web, where the host offers that.
    Fetch {
        /// Their addresses, in the order in which they are named.
        urls: Vec<String>,
        /// The information that is wanted from the pages, in words.
        #[json(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
}

const fn one() -> u32 {
    1
}

impl Action {
    /// The files that the action names as such, in its order, and what becomes of them; `patch` is
    /// what its patch says, if it is one. What only searches names none.
    #[must_use]
    pub fn files<'a>(&'a self, patch: Option<&'a Patch>) -> Vec<AffectedPath<'a>> {
        let (path, operation) = match self {
            Self::Read { path, .. } | Self::Edit { path, .. } => (path, FileOperation::Update),
            Self::Write { path, .. } => (path, FileOperation::Add),
            _ => return patch.into_iter().flat_map(Patch::paths).collect(),
        };
        vec![AffectedPath { path, operation }]
    }

    /// Reads a file whole, or so many lines from its start.
    #[must_use]
    pub fn read(path: impl Into<String>, limit: Option<u64>, numbering: LineNumbering) -> Self {
        let (path, offset, line_chars, notice) = (path.into(), None, None, NoticePosition::Below);
        Self::Read { path, offset, limit, numbering, line_chars, notice }
    }

    /// Finds files by the pattern of their path, all that git does not ignore.
    #[must_use]
    pub fn glob(pattern: impl Into<String>, path: Option<String>) -> Self {
        let (pattern, hidden) = (pattern.into(), HiddenFiles::Ignored);
        Self::Glob { pattern, path, ignore_case: false, max_results: None, hidden }
    }

    /// Lists a folder so many levels deep, with all that stands there.
    #[must_use]
    pub const fn list(path: Option<String>, depth: u32) -> Self {
        let (hidden, style) = (HiddenFiles::Nothing, ListStyle::Slash);
        Self::List { path, depth, ignore: Vec::new(), hidden, style }
    }

    /// The one file or folder that the action is about, if it is about one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Read { path, .. }
            | Self::ViewImage { path }
            | Self::Write { path, .. }
            | Self::Edit { path, .. } => Some(path),
            Self::List { path, .. } | Self::Glob { path, .. } => path.as_deref(),
            Self::Grep(grep) => grep.path.as_deref(),
            Self::ReadMany { .. }
            | Self::Patch { .. }
            | Self::RunProgram { .. }
            | Self::Shell { .. }
            | Self::Fetch { .. } => None,
        }
    }

    /// Returns whether the action changes nothing, so that it may run beside others.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        match self {
            Self::Read { .. }
            | Self::ViewImage { .. }
            | Self::ReadMany { .. }
            | Self::List { .. }
            | Self::Glob { .. }
            | Self::Grep(_) => true,
            Self::Write { .. }
            | Self::Edit { .. }
            | Self::Patch { .. }
            | Self::RunProgram { .. }
            | Self::Shell { .. }
            | Self::Fetch { .. } => false,
        }
    }
}

/// The way in which the lines of a file are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum LineNumbering {
    /// Not at all.
    #[default]
    None,
    /// `NNN | content`.
    Pipe,
    /// The number in six columns, a tab, the content, as `cat -n` does.
    Tab,
}

/// The place of the notice that a file goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum NoticePosition {
    /// Below the lines.
    #[default]
    Below,
    /// Above the lines.
    Above,
}

impl NoticePosition {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
    const fn is_below(&self) -> bool {
        matches!(self, Self::Below)
    }
}

/// The files that searches and lists pass over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum HiddenFiles {
    /// The files that `.gitignore` files name.
    #[default]
    Ignored,
    /// Nothing.
    Nothing,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls them with a reference")]
impl HiddenFiles {
    const fn nothing() -> Self {
        Self::Nothing
    }

    const fn is_ignored(&self) -> bool {
        matches!(self, Self::Ignored)
    }

    const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }
}

/// The way in which a list tells folders from files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ListStyle {
    /// `name/`.
    #[default]
    Slash,
    /// `[DIR] name`.
    Tag,
}

impl ListStyle {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
    const fn is_slash(&self) -> bool {
        matches!(self, Self::Slash)
    }
}

/// A search of files by a regular expression.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct GrepQuery {
    /// The regular expression.
    pub pattern: String,
    /// The file or folder to search; the agent's own folder if absent.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only files whose path or name matches this pattern.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Only files of this type, for example `rust`.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub file_type: Option<String>,
    /// Lines that match this regular expression, too, are left out.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub unless: Option<String>,
    /// The kind of result to report.
    #[json(default)]
    pub mode: GrepMode,
    /// The layout of the results.
    #[json(default, skip_serializing_if = "GrepLayout::is_lines")]
    pub layout: GrepLayout,
    /// The number of lines to show before a match.
    #[json(default, skip_serializing_if = "is_zero")]
    pub before: u32,
    /// The number of lines to show after a match.
    #[json(default, skip_serializing_if = "is_zero")]
    pub after: u32,
    /// The number of results to skip at the start.
    #[json(default, skip_serializing_if = "is_zero")]
    pub offset: u32,
    /// The maximum number of results; 100 if absent.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub max_results: Option<u32>,
    /// The maximum number of results per file.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub max_per_file: Option<u32>,
    /// Which files the search passes over.
    #[json(default, skip_serializing_if = "HiddenFiles::is_ignored")]
    pub hidden: HiddenFiles,
    /// True if case is ignored.
    #[json(default)]
    pub ignore_case: bool,
    /// True if the pattern is a text that stands for itself.
    #[json(default, skip_serializing_if = "is_false")]
    pub literal: bool,
    /// True if a match may span lines; `.` then matches line ends, too.
    #[json(default, skip_serializing_if = "is_false")]
    pub multiline: bool,
    /// True if only what matches is shown of a line.
    #[json(default, skip_serializing_if = "is_false")]
    pub only_matching: bool,
    /// True if the numbers of lines are left out.
    #[json(default, skip_serializing_if = "is_false")]
    pub unnumbered: bool,
}

/// The layout of the lines that a search finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum GrepLayout {
    /// `path:number:text`, lines of context `path-number-text`.
    #[default]
    Lines,
    /// `File: path`, then `Lnumber: text`, lines of context `Lnumber- text`, then `---`.
    ByFile,
}

impl GrepLayout {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
    const fn is_lines(&self) -> bool {
        matches!(self, Self::Lines)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The kind of result that a search reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum GrepMode {
    /// `path:line:text` for each matching line.
    #[default]
    Content,
    /// The paths of files that match.
    FilesWithMatches,
    /// `path:count` for each file that matches.
    Count,
}

/// The outcome of an action or of a custom tool's run.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct Outcome {
    /// The whole output of the tool. For a program, see `streams`.
    pub parts: Vec<Part>,
    /// True if the first two parts are texts that a program printed, each of which may be empty:
    /// on standard output, then on standard error. Further parts say more of the run. The model
    /// reads them all as one text, [`Outcome::joined_text`].
    #[json(skip_serializing_if = "is_false")]
    pub streams: bool,
    /// The kind of error, if there was one; `parts` then say what went wrong and what to do.
    #[json(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// Of a call that needed a yes and got none: who denied it.
    #[json(skip_serializing_if = "Option::is_none")]
    pub denied_by: Option<DeniedBy>,
    /// A program's exit code.
    #[json(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The number of places that were found or changed: results of a search, replacements of an
    /// edit, occurrences of a text that should be unique.
    #[json(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The duration of the run from its launch on, in milliseconds, without the time in which a
    /// person was asked. If the host does not report it, the session measures it, so that it is
    /// absent only if the host ran nothing, or does not know what became of the run.
    #[json(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// True if the time limit ended the run; `parts` then hold what came before.
    #[json(skip_serializing_if = "is_false")]
    pub timed_out: bool,
    /// The files that changed.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ReportedChange>,
    /// The digests of the files that the action names, in its order, as they are now, if
    /// `ToolRun::known` is there; an empty text for a file that does not exist.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// True if the tool itself dropped a part of its output.
    #[json(skip_serializing_if = "is_false")]
    pub capped_at_source: bool,
    /// The details that a tool of the host passes to its user interface, in
    /// `EventKind::ToolCallEnd`; the model does not read them.
    #[json(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Json>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Outcome {
    /// A success that says `text`.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::text(text)], ..Self::default() }
    }

    /// A call that `by` did not allow, with what the model reads.
    #[must_use]
    pub fn denied(by: DeniedBy, message: impl Into<String>) -> Self {
        Self { denied_by: Some(by), ..Self::error(ToolError::Denied, message) }
    }

    /// A failure of the kind `error` that says `message`.
    #[must_use]
    pub fn error(error: ToolError, message: impl Into<String>) -> Self {
        let mut outcome = Self::text(message);
        outcome.error = Some(error);
        outcome
    }

    /// All that the tool says in words, as the model reads it: standard error stands behind
    /// standard output, below a line that says so.
    #[must_use]
    pub fn joined_text(&self) -> String {
        if !self.streams {
            return joined_text(&self.parts);
        }
        let mut joined = String::new();
        for (index, part) in self.parts.iter().enumerate() {
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

    /// Returns what a program printed on standard output; nothing if no program ran.
    #[must_use]
    pub fn stdout(&self) -> Option<&str> {
        self.stream(0)
    }

    /// Returns what a program printed on standard error; nothing if no program ran.
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
    /// The file, from the workspace's root on.
    pub path: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// Its text before; absent if it did not exist, is not UTF-8 or is larger than 256 KiB.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its text after, with the same exceptions.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The kind of change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Its content changed.
    Modified,
    /// It is gone.
    Deleted,
}
