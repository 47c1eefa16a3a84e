//! The built-in tools: [`perform`] carries out an [`Action`](innerloop_types::action) over anything
//! that implements [`WorkspaceFiles`] and returns its outcome. The page links this library and
//! works on [`InMemoryFiles`]; natively the same code is a WASI program over [`DirectoryFiles`].
//! Every failure is an outcome, too, in words that tell the model what to do next.
#![forbid(unsafe_code)]

mod directory;
mod edit;
mod encoding;
mod failure_texts;
mod faulty_files;
mod file_type;
mod files;
mod glob;
mod grep;
mod ignore;
mod indent_shift;
mod list;
mod literals;
mod memory;
mod numbers;
mod patch;
mod path;
mod pattern;
mod perform;
mod protected;
mod read;
mod read_many;
mod regex;
mod replace;
mod report;
mod search;
mod source;
mod temporary;
mod unmask;
mod walk;
mod write;

pub use directory::{DirectoryFiles, FolderLister, REPLACED_BY_HOST, is_draft};
pub use encoding::ENCODINGS;
pub use faulty_files::FaultyFiles;
pub use files::{
    EntryKind, FileError, FileStat, FolderEntry, MAX_FILE_BYTES, MAX_FITTED_PICTURE_BYTES,
    MAX_PICTURE_BYTES, WorkspaceFiles,
};
pub use memory::InMemoryFiles;
pub use path::{PathError, WorkspacePath};
pub use perform::{perform, perform_in, perform_known, perform_patch};
pub use protected::{VERSION_SYSTEMS, is_version_system};
pub use temporary::TmpMeaning;
pub use write::{MAX_CHANGE_BYTES, change_text};

/// Parts of the tools for a host that reads files by itself and must give the same answers: how
/// arguments are understood, what is left out, and how results and failures are worded.
pub mod parts {
    pub use crate::{
        encoding::looks_binary,
        failure_texts::{failed, file_path, folder},
        glob::{GlobMatch, GlobQuery, GlobSearch, not_searched},
        grep::{GrepSearch, grep_file, small_matcher},
        ignore::{IgnoreRule, MAX_RULES, RuleScope},
        pattern::with_bracketed_names,
        read::{ReadOptions, binary, past_the_end},
        report::{GrepReport, MAX_RESULTS},
        search::{LineMatcher, SmallMatcher, hits, searched},
        walk::LeftOut,
    };
}
