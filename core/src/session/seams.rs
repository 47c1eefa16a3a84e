//! What only this project's tests see: which changes of phase a session has gone through.

use super::Session;
use crate::machine::phase::{PhaseKind, Transition};
use alloc::{format, string::String, vec::Vec};

impl Session {
    /// The names of all changes of phase that there are, each with whether this session has gone
    /// through it since it was opened or restored.
    #[must_use]
    pub fn transitions(&self) -> Vec<(String, bool)> {
        let seen = |transition| self.transitions.has(transition);
        Transition::ALL.into_iter().map(|t| (format!("{t:?}"), seen(t))).collect()
    }

    /// The table of all changes of phase but staying: from where, to where, and the name.
    #[must_use]
    pub fn phases() -> Vec<[String; 3]> {
        let pairs = PhaseKind::ALL.into_iter().flat_map(|from| PhaseKind::ALL.map(|to| (from, to)));
        let named = pairs.filter_map(|(from, to)| Some((from, to, Transition::between(from, to)?)));
        let moves = named.filter(|(.., transition)| *transition != Transition::Stay);
        moves
            .map(|(from, to, t)| [format!("{from:?}"), format!("{to:?}"), format!("{t:?}")])
            .collect()
    }
}
