//! The error of a page that was not read.

use innerloop_core::action::ToolError;

/// The kind of the error, and the text that the model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FetchError {
    pub(super) error: ToolError,
    pub(super) why: String,
}

/// Returns the error for a page that may not be read.
pub(super) const fn refused(why: String) -> FetchError {
    FetchError { error: ToolError::PermissionDenied, why }
}
