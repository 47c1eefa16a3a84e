//! The result of a check of `innerloop doctor`, shared by the modules that check something.

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckFinding {
    Fine(String),
    /// Something is missing that the program can work without.
    Warning(String),
    Broken(String),
}
