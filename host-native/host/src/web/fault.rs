//! Why a page was not read.

use innerloop_core::action::ToolError;

/// The error, and what the model is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FetchError {
    pub(super) error: ToolError,
    pub(super) why: String,
}

/// It may not be read.
pub(super) const fn refused(why: String) -> FetchError {
    FetchError { error: ToolError::PermissionDenied, why }
}
