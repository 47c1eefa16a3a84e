//! What a guest sees of the machine's files.

use innerloop_workspace::Workspace;

/// Which folders a guest sees, and whether it may change anything there.
#[derive(Clone, Debug, Default)]
pub(super) struct GuestVisibility {
    /// True if it may change the workspace.
    pub(super) may_write: bool,
    /// True if a file that it writes anew is seen as a whole, once it is synced, or not at all.
    pub(super) writes_whole: bool,
    /// True if it sees nothing of the workspace at all.
    pub(super) is_blind: bool,
    /// The folders that it sees beside the workspace.
    pub(super) mounts: Vec<FolderMount>,
}

/// A folder beside the workspace that a guest sees by a name of its own, and can't change.
#[derive(Clone, Debug)]
pub(super) struct FolderMount {
    /// As the guest names it, such as `/usr`.
    pub(super) name: String,
    /// The content of the folder.
    pub(super) folder: Workspace,
}

impl GuestVisibility {
    /// The workspace, to change it or not.
    pub(super) const fn workspace(may_write: bool) -> Self {
        Self { may_write, writes_whole: false, is_blind: false, mounts: Vec::new() }
    }
}
