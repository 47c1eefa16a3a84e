//! What a profile makes of a call.

use crate::nouns::action::Action;

/// A call in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// What to do.
    pub action: Action,
    /// The time limit that the call asks for, in milliseconds.
    pub timeout_ms: Option<u64>,
}
