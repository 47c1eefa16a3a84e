//! What the books look at: one step of the session.

use crate::simulator::subject::Subject;
use innerloop_core::{
    Session, config::SessionConfig, id::AgentId, input::Input, message::Turn, output::OutputBatch,
    time::SessionInstant,
};

/// One step, as the checker sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) input: &'a Input,
    pub(super) outputs: &'a OutputBatch,
    /// The session's time: the latest of all inputs.
    pub(super) now: SessionInstant,
    pub(super) subject: &'a Subject,
    pub(super) config: &'a SessionConfig,
}

impl<'a> Seen<'a> {
    pub(super) const fn session(&self) -> &'a Session {
        self.subject.session()
    }

    pub(super) fn turns(&self, agent: AgentId) -> &'a [Turn] {
        self.session().history(agent).map_or(&[], |history| history.turns())
    }
}

/// `Ok` where it holds.
pub(super) fn require(holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(fault()) }
}
