//! Canonical actions of the built-in tools and their outcomes: one meaning for every vocabulary. As
//! JSON they are the interface of the sandboxed tools program: an [`Action`] in, an [`Outcome`]
//! out. Paths use `/` and are relative to the agent's folder, which is the workspace's root unless
//! it was given another; a leading `/` means the workspace's root.

use crate::secret::has_mask;
use alloc::{string::String, vec, vec::Vec};
use innerloop_json::{FromJson, ToJson};

pub use crate::base::digest::DigestBuilder;
pub use crate::{
    message::Part,
    outcome::{ChangeKind, Outcome, ReportedChange},
    patch::{AffectedPath, FileOperation, FilePatch, Hunk, HunkLine, Patch, PatchError},
    tool_error::{DeniedBy, ToolError},
    v4a::PatchStream,
};

/// An action of a built-in tool.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
// Unknown fields are refused: one that is passed over could be one that restricts the action, such
// as a misspelt `exclude`.
#[json(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Reads a text file's lines, or an image whole.
    Read {
        /// The path of the file.
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
        /// The position of the notice that the file goes on.
        #[json(default, skip_serializing_if = "NoticePosition::is_below")]
        notice: NoticePosition,
    },
    /// Reads an image, and nothing else.
    ViewImage {
        /// The path of the image.
        path: String,
    },
    /// Reads all text files that match some patterns, one after the other.
    ReadMany {
        /// Files, folders and patterns of paths, for example `src/**/*.ts`.
        include: Vec<String>,
        /// Patterns of paths that are left out.
        #[json(default, skip_serializing_if = "Vec::is_empty")]
        exclude: Vec<String>,
        /// True if only the files directly in a folder are read, not those below.
        #[json(default, skip_serializing_if = "is_false")]
        flat: bool,
        /// The files that the search skips.
        #[json(default, skip_serializing_if = "HiddenFiles::is_ignored")]
        hidden: HiddenFiles,
    },
    /// Writes a file, with the folders above it.
    Write {
        /// The path of the file.
        path: String,
        /// Its whole new content.
        content: String,
        /// The salt of the masks in the content, if it has masks: the secrets that the file has
        /// take their places (`docs/decisions.md#secrets`).
        #[json(default, skip_serializing_if = "Option::is_none")]
        salt: Option<u64>,
    },
    /// Replaces text in a file.
    Edit {
        /// The path of the file.
        path: String,
        /// The text to find; it must occur once unless `all` is set.
        old: String,
        /// The replacement text.
        new: String,
        /// True if each occurrence is replaced.
        #[json(default)]
        all: bool,
        /// The salt of the masks in its texts, as for `Write`.
        #[json(default, skip_serializing_if = "Option::is_none")]
        salt: Option<u64>,
    },
    /// Applies a patch to any number of files: all of it or nothing.
    Patch {
        /// The patch's text, which [`Patch::parse`] reads.
        patch: String,
        /// The salt of the masks in the patch, as for `Write`.
        #[json(default, skip_serializing_if = "Option::is_none")]
        salt: Option<u64>,
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
        /// The further entries that are left out.
        // A list shows everything that is there, unlike a search, so that the default differs.
        #[json(default = "HiddenFiles::nothing", skip_serializing_if = "HiddenFiles::is_nothing")]
        hidden: HiddenFiles,
        /// The way in which folders are distinguished from files.
        #[json(default, skip_serializing_if = "ListStyle::is_slash")]
        style: ListStyle,
    },
    /// Finds files by the pattern of their path, newest first.
    Glob {
        /// The pattern, for example `**/*.ts`.
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
        /// The files that the search skips.
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
    /// Runs a command line in the agent's shell, which keeps variables, functions and its current
    /// folder from one to the next.
    // Not a `RunProgram` with `-c`: a shell that lives on between calls cannot be described by a
    // program's arguments, and a folder that is for one command alone must not be written into the
    // line.
    Shell {
        /// The command line to run.
        command: String,
        /// The folder in which this command runs, relative to the agent's own; the shell's current
        /// folder if absent.
        #[json(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// Reads web pages, if the host offers that.
    Fetch {
        /// The addresses of the pages, in the order in which they are named.
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
    /// Returns the files that the action names, in its order, and the operation on each; `patch` is
    /// the action's patch, if it has one. Searches and listings name none.
    #[must_use]
    pub fn files<'a>(&'a self, patch: Option<&'a Patch>) -> Vec<AffectedPath<'a>> {
        let (path, operation) = match self {
            // A read counts like an update: both are about a file that is there.
            Self::Read { path, .. } | Self::Edit { path, .. } => (path, FileOperation::Update),
            Self::Write { path, .. } => (path, FileOperation::Add),
            _ => return patch.map(Patch::paths).unwrap_or_default(),
        };
        vec![AffectedPath { path, operation }]
    }

    /// Creates an action that writes a file.
    #[must_use]
    pub fn write(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Write { path: path.into(), content: content.into(), salt: None }
    }

    /// Creates an action that applies a patch.
    #[must_use]
    pub fn patch(patch: impl Into<String>) -> Self {
        Self::Patch { patch: patch.into(), salt: None }
    }

    /// Creates an action that reads a file whole, or `limit` lines from its start.
    #[must_use]
    pub fn read(path: impl Into<String>, limit: Option<u64>, numbering: LineNumbering) -> Self {
        let (path, offset, line_chars, notice) = (path.into(), None, None, NoticePosition::Below);
        Self::Read { path, offset, limit, numbering, line_chars, notice }
    }

    /// Creates an action that finds files by the pattern of their path, except those that git
    /// ignores.
    #[must_use]
    pub fn glob(pattern: impl Into<String>, path: Option<String>) -> Self {
        let (pattern, hidden) = (pattern.into(), HiddenFiles::Ignored);
        Self::Glob { pattern, path, ignore_case: false, max_results: None, hidden }
    }

    /// Creates an action that lists a folder `depth` levels deep, without leaving anything out.
    #[must_use]
    pub const fn list(path: Option<String>, depth: u32) -> Self {
        let (hidden, style) = (HiddenFiles::Nothing, ListStyle::Slash);
        Self::List { path, depth, ignore: Vec::new(), hidden, style }
    }

    /// Gives an action that writes texts with masks the salt of these masks, so that the secrets
    /// of the files take their places.
    pub fn salt_masks(&mut self, masks: u64) {
        let (texts, salt) = match self {
            Self::Write { content, salt, .. } => ([content, ""], salt),
            Self::Edit { old, new, salt, .. } => ([old, &**new], salt),
            Self::Patch { patch, salt } => ([patch, ""], salt),
            _ => return,
        };
        if texts.into_iter().any(has_mask) {
            *salt = Some(masks);
        }
    }

    /// Returns the salt of the masks in its texts, in whose place it writes secrets.
    #[must_use]
    pub const fn salt(&self) -> Option<u64> {
        match self {
            Self::Write { salt, .. } | Self::Edit { salt, .. } | Self::Patch { salt, .. } => *salt,
            _ => None,
        }
    }

    /// Returns the file or folder that the action is about, if it is exactly one.
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

    /// Returns whether the action only reads, so that it may run beside others.
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
            // It reads, but from the network: an address can carry data out, so that it is treated
            // as what may do anything.
            | Self::Fetch { .. } => false,
        }
    }
}

/// The way in which the lines of a file are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum LineNumbering {
    /// Lines are not numbered.
    #[default]
    None,
    /// The form `NNN | content`.
    Pipe,
    /// The number in six columns, a tab, the content, as `cat -n` does.
    Tab,
}

/// The position of the notice that a file goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum NoticePosition {
    /// The notice is below the lines.
    #[default]
    Below,
    /// The notice is above the lines.
    Above,
}

impl NoticePosition {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
    const fn is_below(&self) -> bool {
        matches!(self, Self::Below)
    }
}

/// The files that searches and listings skip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum HiddenFiles {
    /// The files that `.gitignore` files name.
    #[default]
    Ignored,
    /// No files are skipped.
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

/// The way in which a listing distinguishes folders from files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ListStyle {
    /// A slash after the name: `name/`.
    #[default]
    Slash,
    /// A tag before the name: `[DIR] name`.
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
    /// The regular expression to search for.
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
    /// A regular expression; lines that match it as well are left out.
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
    /// The files that the search skips.
    #[json(default, skip_serializing_if = "HiddenFiles::is_ignored")]
    pub hidden: HiddenFiles,
    /// True if case is ignored.
    #[json(default)]
    pub ignore_case: bool,
    /// True if the pattern is plain text, not a regular expression.
    #[json(default, skip_serializing_if = "is_false")]
    pub literal: bool,
    /// True if a match may span lines; `.` then matches line ends, too.
    #[json(default, skip_serializing_if = "is_false")]
    pub multiline: bool,
    /// True if only the matching part of a line is shown.
    #[json(default, skip_serializing_if = "is_false")]
    pub only_matching: bool,
    /// True if line numbers are left out.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
