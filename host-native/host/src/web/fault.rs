//! Why a page was not read.

use innerloop_core::action::ToolError;

/// What went wrong, and what the model is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) error: ToolError,
    pub(super) why: String,
}

/// It may not be read.
pub(super) const fn refused(why: String) -> Fault {
    Fault { error: ToolError::PermissionDenied, why }
}
