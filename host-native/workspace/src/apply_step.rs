//! The steps by which a folder becomes what an overlay shows, as they are planned, carried out, and
//! noted beside an overlay that is kept, so that they can be taken back should they end halfway.

use super::file_stat::{EntryKind, PathStat};
use std::path::PathBuf;

/// One name that is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApplyStep {
    pub(super) path: PathBuf,
    /// The attributes of the entry that is removed or replaced.
    pub(super) lower: Option<PathStat>,
    pub(super) work: StepAction,
    /// The path from which another step removes the very file that is put here.
    pub(super) moved_from: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StepAction {
    Remove,
    CreateFolder,
    Place(EntryKind),
}

/// Steps that are being carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanApplication {
    /// The folder of the workspace with the new contents and what they replace.
    pub(super) stage: PathBuf,
    /// True if the folder around it was made for it.
    pub(super) is_first: bool,
    pub(super) steps: Vec<ApplyStep>,
}

/// The report of what was undone before an overlay was taken up: an earlier program was ended while
/// it applied the changes, and the folder is again what it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The folder that holds the replaced files, if something else has changed meanwhile what
    /// replaced them: that was left as it is.
    pub kept: Option<PathBuf>,
}
