//! What only this project's tests see: which changes of phase a session has gone through.

use super::Session;
use crate::machine::phase::Transition;
use alloc::{format, string::String, vec::Vec};

impl Session {
    /// The names of all changes of phase that there are, each with whether this session has gone
    /// through it since it was opened or restored.
    #[must_use]
    pub fn transitions(&self) -> Vec<(String, bool)> {
        let seen = |transition| self.transitions.has(transition);
        Transition::ALL.into_iter().map(|t| (format!("{t:?}"), seen(t))).collect()
    }
}
