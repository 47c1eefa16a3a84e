//! What the built-in tools do: [`perform`] carries out an [`Action`](innerloop_types::action) over
//! anything that implements [`Files`] and says what came of it. The page links this library and
//! works on [`Memory`]; natively the same code is a WASI program over [`Directory`].
#![forbid(unsafe_code)]

mod directory;
mod edit;
mod encoding;
mod explain;
mod faulty;
mod file_type;
mod files;
mod glob;
mod grep;
mod ignore;
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
mod secrets;
mod shift;
mod source;
mod temporary;
mod walk;
mod write;

pub use directory::{Directory, Lister, REPLACED_BY_HOST, is_draft};
pub use encoding::ENCODINGS;
pub use faulty::Faulty;
pub use files::{
    Entry, FileError, Files, Kind, MAX_FILE_BYTES, MAX_FITTED_PICTURE_BYTES, MAX_PICTURE_BYTES,
    Stat,
};
pub use memory::Memory;
pub use path::{PathError, WorkspacePath};
pub use perform::{perform, perform_in, perform_known, perform_patch};
pub use protected::{VERSION_SYSTEMS, is_version_system};
pub use temporary::Temporary;
pub use write::{MAX_CHANGE_BYTES, change_text};

/// What a host that reads files on its own shares with these tools, so that it gives their answers:
/// how arguments are understood, what is left out, and how results and failures are told.
pub mod parts {
    pub use crate::{
        encoding::looks_binary,
        explain::{failed, file_path, folder},
        glob::{Found, Glob, Query, not_searched},
        grep::{Search, grep_file, small_matcher},
        ignore::{MAX_RULES, Rule, Scope},
        pattern::with_bracketed_names,
        read::{Lines, binary, past_the_end},
        report::{MAX_RESULTS, Report},
        search::{Matcher, SmallMatcher, hits, searched},
        walk::LeftOut,
    };
}
