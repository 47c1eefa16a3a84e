//! The state of a session as values for hosts in Rust, without keys that it has assembled: it may
//! hold them until it is idle. Hosts in other languages get it as JSON, by [`Driver::shown`].

use crate::driver::Driver;
use alloc::vec::Vec;
use innerloop_core::{
    History,
    id::AgentId,
    json::{from_str, to_string},
    message::Turn,
    status::SubagentInfo,
};

impl Driver {
    /// Returns the turns of an agent and its user without the keys that the session has assembled;
    /// none if there is no such agent.
    #[must_use]
    pub fn shown_turns(&self, agent: AgentId) -> Vec<Turn> {
        let turns = self.session().history(agent).map(History::turns).unwrap_or_default();
        let masked = self.holds_key.then(|| self.keys().masked_json(&to_string(&turns))).flatten();
        let masked = masked.and_then(|json| from_str(&json).ok());
        masked.unwrap_or_else(|| turns.to_vec())
    }

    /// Returns the agents that were started without the keys that the session has assembled.
    #[must_use]
    pub fn shown_agents(&self) -> Vec<SubagentInfo> {
        let mut agents = self.session().subagents();
        for SubagentInfo { task, output, .. } in agents.iter_mut().filter(|_| self.holds_key) {
            self.keys().mask(task);
            self.keys().mask(output);
        }
        agents
    }
}
