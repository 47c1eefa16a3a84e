//! The overview that a host has of a session: the words that wait for an agent, the agents that
//! were started, and the configuration in force. A snapshot says the same in JSON.

use super::Session;
use crate::machine::agent::Agent;
use alloc::{string::String, vec::Vec};
use innerloop_types::{
    config::SessionConfig,
    id::AgentId,
    message::{TurnKind, joined_text},
    status::{PendingInput, PendingInputs, SubagentInfo, SubagentState},
};

impl Session {
    /// Returns the words that wait for an agent; `None` if there is no such agent.
    #[must_use]
    pub fn pending(&self, agent: AgentId) -> Option<PendingInputs> {
        let pending = self.agent(agent)?.body.pending();
        let follow_ups = pending.follow_ups.iter().map(|input| PendingInput {
            parts: input.parts.clone(),
            options: input.options.clone(),
        });
        let follow_ups = follow_ups.collect();
        Some(PendingInputs { steering: pending.steering.clone(), follow_ups })
    }

    /// Returns the agents that were started, in the order of their numbers.
    #[must_use]
    pub fn subagents(&self) -> Vec<SubagentInfo> {
        self.others.values().filter_map(|agent| self.subagent(agent)).collect()
    }

    /// Returns the configuration in force under the session's own id: a blueprint's sessions share
    /// one with another id.
    #[must_use]
    pub fn own_config(&self) -> SessionConfig {
        SessionConfig { id: (*self.id).clone(), ..self.config().clone() }
    }

    fn subagent(&self, agent: &Agent) -> Option<SubagentInfo> {
        let body = &agent.body;
        let options = body.spawned.as_deref()?;
        let known = self.agent(options.parent)?.body.learnt().children.get(body.id);
        let task = body.history.turns().iter().find_map(|turn| match &turn.kind {
            TurnKind::User(parts) => Some(joined_text(parts)),
            _ => None,
        });
        Some(SubagentInfo {
            id: body.id,
            parent: options.parent,
            state: known.map_or(SubagentState::Closed, |child| child.state),
            task: task.unwrap_or_default(),
            output: known.map_or_else(String::new, |child| child.output.clone()),
            folder: options.folder.clone(),
            model: options.model.clone(),
        })
    }
}
