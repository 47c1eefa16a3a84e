//! The overview that a host has of a session: what fills an agent's context window, the words that
//! wait for it, the agents that were started, and the configuration in force. All of it is derived
//! when it is asked for, and nothing of it is kept.

use super::Session;
use crate::{
    machine::{agent::Agent, instructions::is_document, tool_table::AgentTool},
    rules::{gauge::prose_cost, prompt::project_docs},
};
use alloc::{string::String, vec::Vec};
use innerloop_json::IntoList;
use innerloop_types::{
    config::SessionConfig,
    id::AgentId,
    message::{TurnKind, VisibleTurn, joined_text},
    status::{
        ContextUsage, PendingInput, PendingInputs, SessionOverview, SubagentInfo, SubagentState,
    },
};

impl Session {
    /// Returns the tokens that fill an agent's context window, by what they are spent on; `None` if
    /// there is no such agent.
    #[must_use]
    pub fn context(&self, agent: AgentId) -> Option<ContextUsage> {
        let Agent { setup, body, .. } = self.agent(agent)?;
        let (by, gauge) = (setup.config.estimator, body.history.gauge());
        let prompt = prose_cost(by, &setup.route.system);
        // The prompt holds them word for word, so that the rest of it is the difference.
        let documents = prose_cost(by, &project_docs(&setup.config.facts));
        let system = prompt.saturating_sub(documents);
        let tools = setup.head_cost.saturating_sub(prompt);
        let (mut shown, mut history, mut results) = (0_u64, 0_u64, 0_u64);
        for said in body.history.seen() {
            let part = match &said {
                VisibleTurn::ToolResults(_) => &mut results,
                VisibleTurn::System(text) if is_document(text) => &mut shown,
                _ => &mut history,
            };
            *part = part.saturating_add(gauge.cost(&said));
        }
        let total = gauge.tokens(setup.head_cost);
        let costs = [system, documents.saturating_add(shown), tools, history, results];
        let [system, documents, tools, history, results] = shares(total, costs);
        let window = setup.window(body.folding.window);
        let free = window.saturating_sub(total);
        Some(ContextUsage { system, documents, tools, history, results, total, window, free })
    }

    /// Returns what the session holds beside its history, with the words that wait for `agent`.
    #[must_use]
    pub fn overview(&self, agent: AgentId) -> SessionOverview {
        SessionOverview {
            pending: self.pending(agent),
            agents: self.subagents(),
            config: self.own_config(),
        }
    }

    /// Returns the words that wait for an agent; `None` if there is no such agent.
    #[must_use]
    pub fn pending(&self, agent: AgentId) -> Option<PendingInputs> {
        let pending = self.agent(agent)?.body.pending();
        let follow_ups = pending.follow_ups.iter().map(|input| PendingInput {
            parts: input.parts.clone(),
            options: input.options.clone(),
        });
        let follow_ups = follow_ups.into_list();
        Some(PendingInputs { steering: pending.steering.clone(), follow_ups })
    }

    /// Returns the agents that were started, in the order of their numbers.
    #[must_use]
    pub fn subagents(&self) -> Vec<SubagentInfo> {
        self.others.values().filter_map(|agent| self.subagent(agent)).into_list()
    }

    /// Returns the tools of an agent, in the order of its requests; `None` if there is no such
    /// agent.
    #[must_use]
    pub fn tools(&self, agent: AgentId) -> Option<Vec<AgentTool>> {
        let setup = &self.agent(agent)?.setup;
        let ask = setup.config.approval.ask;
        Some(setup.tools().iter().map(|tool| tool.told(ask)).into_list())
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
            name: options.name().into(),
        })
    }
}

/// Divides `total` in the ratio of the costs. The shares add up to it.
fn shares(total: u64, costs: [u64; 5]) -> [u64; 5] {
    let sum = costs.iter().fold(0_u64, |sum, &cost| sum.saturating_add(cost)).max(1);
    let (mut cost_so_far, mut given) = (0_u64, 0);
    costs.map(|cost| {
        // Rounded as a running sum: shares that are rounded one by one would miss the total by a
        // few tokens, and a table would not add up.
        cost_so_far = cost_so_far.saturating_add(cost);
        let up_to = cost_so_far.saturating_mul(total) / sum;
        let share = up_to.saturating_sub(given);
        given = up_to;
        share
    })
}
