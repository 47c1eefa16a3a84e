//! What a check of `innerloop doctor` came to.

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckFinding {
    Fine(String),
    /// Something is missing that one can do without.
    Warning(String),
    Broken(String),
}
