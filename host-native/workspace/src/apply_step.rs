//! The steps that turn a folder into what an overlay shows. `apply_plan` plans them and `apply`
//! carries them out. An overlay that is kept saves them first, so that the next program can undo
//! them if this one is killed halfway; therefore a step holds all that undoing it needs.

use super::file_stat::{EntryKind, PathStat};
use std::path::PathBuf;

/// The change of one name in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApplyStep {
    pub(super) path: PathBuf,
    /// The attributes of the entry that is removed or replaced.
    pub(super) lower: Option<PathStat>,
    pub(super) work: StepAction,
    /// The path from which another step removes the very file that this one puts in place.
    pub(super) moved_from: Option<PathBuf>,
}

// The order of the variants is the order of the steps: a name must be free, and the folder around
// it must exist, before something is put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StepAction {
    Remove,
    CreateFolder,
    Place(EntryKind),
}

/// The steps that are being carried out, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanApplication {
    /// The folder in the workspace that holds the new contents and the replaced ones.
    pub(super) stage: PathBuf,
    /// True if the folder around it was created for it, and is to be removed with it.
    pub(super) is_first: bool,
    pub(super) steps: Vec<ApplyStep>,
}

/// The report of an interrupted application that was undone before an overlay was taken up: the
/// folder is again what it was before an earlier program began to apply the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The folder that still holds replaced files, if somebody has since changed the files that
    /// replaced them: those were left as they are.
    pub kept: Option<PathBuf>,
}
