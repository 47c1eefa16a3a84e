//! The part of the machine's files that a guest sees. Whatever is not named here does not exist for
//! it, and only the workspace can be changed.

use innerloop_workspace::Workspace;

/// The folders that a guest sees, and its right to change the workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct GuestVisibility {
    /// True if it may change the workspace.
    pub(super) may_write: bool,
    /// True if a file that it truncates and writes appears as a whole once it is synced, or not at
    /// all.
    pub(super) writes_whole: bool,
    /// True if it sees nothing of the workspace at all.
    pub(super) is_blind: bool,
    /// The folders that it sees beside the workspace.
    pub(super) mounts: Vec<FolderMount>,
}

/// A folder beside the workspace that a guest sees and can't change.
#[derive(Clone, Debug)]
pub(super) struct FolderMount {
    /// The name by which the guest sees it, such as `/usr`.
    pub(super) name: String,
    /// The content of the folder.
    pub(super) folder: Workspace,
}

impl GuestVisibility {
    /// The view of a guest that sees the workspace alone.
    pub(super) const fn workspace(may_write: bool) -> Self {
        Self { may_write, writes_whole: false, is_blind: false, mounts: Vec::new() }
    }
}
