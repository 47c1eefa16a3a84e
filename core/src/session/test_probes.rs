//! The probes of this project's tests: the rows of the loop's table that a session has followed.

use super::Session;
use alloc::vec::Vec;
use innerloop_json::IntoList;

impl Session {
    /// Returns the rows of the loop's table that this session has followed since it was opened or
    /// restored, as `docs/architecture.md` names them: the phase and the cause, or nothing and the
    /// step; then the step that follows, or the phase in which the agent waits.
    #[must_use]
    pub fn rows(&self) -> Vec<[&'static str; 3]> {
        self.rows.iter().copied().into_list()
    }
}
