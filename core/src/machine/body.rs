//! What an agent has in every phase: its history, what waits to be said, its counts, and the
//! agents that it started.

use super::history::History;
use crate::{
    nouns::{
        config::ApprovalRule,
        message::{Part, Turn, TurnKind, Usage},
        status::RunEnd,
    },
    rules::repeat::Watch,
    words::id::AgentId,
};
use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    format,
    string::String,
    vec::Vec,
};
use serde::{Deserialize, Serialize};

/// What an agent has in every phase.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) id: AgentId,
    pub(crate) scope: Scope,
    pub(crate) history: History,
    pub(crate) memory: Memory,
    /// The run under way, or the last one.
    pub(crate) run: Run,
}

/// What an agent was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scope {
    /// Who started it; nobody did the session's own.
    pub(crate) parent: Option<AgentId>,
    /// How deep it is nested; the session's own is at 0.
    pub(crate) depth: u32,
    pub(crate) model: Option<String>,
    pub(crate) working_dir: Option<String>,
    pub(crate) max_turns: u32,
}

/// What an agent keeps from run to run beside its history.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) steering: VecDeque<Vec<Part>>,
    pub(crate) follow_ups: VecDeque<Vec<Part>>,
    pub(crate) children: BTreeMap<AgentId, Child>,
    /// Files that the model knows: it has read or written them.
    pub(crate) known: BTreeSet<String>,
    /// Calls that need no more approval, beside those of the configuration.
    pub(crate) allowed: Vec<ApprovalRule>,
    /// Whether the full context window has been warned of.
    pub(crate) full: bool,
    pub(crate) watch: Watch,
    /// Whether the last run was completed.
    pub(crate) succeeded: bool,
    /// The counts of all runs before the current one.
    pub(crate) past: Counts,
}

/// An agent that this one started, as far as it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Child {
    pub(crate) state: ChildState,
    pub(crate) output: String,
    pub(crate) turns: u32,
    /// Whether it is closed, whoever closed it: nothing can be said to it any more.
    pub(crate) over: bool,
}

/// Where a started agent stands (Spec §7.3, and closed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChildState {
    Running,
    Completed,
    Failed,
    Closed,
}

/// A run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) counts: Counts,
    /// Rounds of tool calls since the last input.
    pub(crate) rounds: u32,
    /// What was tried to repair replies.
    pub(crate) repairs: Repairs,
    /// Set once the model has been asked to sum up without tools: how the run ends then.
    pub(crate) epilogue: Option<RunEnd>,
    /// The final answer, as JSON text.
    pub(crate) answer: Option<String>,
    /// What the model said last.
    pub(crate) text: String,
}

/// What was tried in a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Repairs {
    /// Pauses of the provider in a row.
    pub(crate) pauses: u32,
    /// Replies in a row whose calls were cut by a limit.
    pub(crate) cut: u32,
    pub(crate) continued: u32,
    pub(crate) empties: u32,
    pub(crate) answers: u32,
}

/// What a run, or many, came to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) inputs: u32,
    pub(crate) replies: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.inputs = self.inputs.saturating_add(other.inputs);
        self.replies = self.replies.saturating_add(other.replies);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.usage.add(&other.usage);
    }
}

impl Body {
    /// All counts so far.
    pub(crate) fn counts(&self) -> Counts {
        let mut all = self.memory.past;
        all.add(&self.run.counts);
        all
    }

    /// User and assistant turns so far.
    pub(crate) fn turns(&self) -> u32 {
        let counts = self.counts();
        counts.inputs.saturating_add(counts.replies)
    }

    /// Takes in a turn of another session. It counts as said.
    pub(crate) fn hear(&mut self, turn: Turn) {
        let past = &mut self.memory.past;
        match turn.kind {
            TurnKind::User(_) => past.inputs = past.inputs.saturating_add(1),
            TurnKind::Assistant(_) => past.replies = past.replies.saturating_add(1),
            _ => {}
        }
        self.history.push(turn);
    }

    /// Puts the counts of the run that is over to those before it.
    pub(crate) fn begin_run(&mut self) {
        let run = core::mem::take(&mut self.run);
        self.memory.past.add(&run.counts);
    }

    /// The started agent that the model calls `name`.
    pub(crate) fn child(&self, name: &str) -> Option<(AgentId, &Child)> {
        let id = AgentId(name.strip_prefix("agent-")?.parse().ok()?);
        self.memory.children.get(&id).map(|child| (id, child))
    }
}

impl Child {
    /// What the model reads of its end (Spec §7.3 `SubAgentResult`).
    pub(crate) fn result(&self) -> String {
        #[derive(Serialize)]
        struct SubAgentResult<'a> {
            status: ChildState,
            output: &'a str,
            success: bool,
            turns_used: u32,
        }
        let success = self.state == ChildState::Completed;
        let result = SubAgentResult {
            status: self.state,
            output: &self.output,
            success,
            turns_used: self.turns,
        };
        serde_json::to_string(&result).unwrap_or_default()
    }
}

/// An agent's name, as the model knows it.
pub(crate) fn agent_name(id: AgentId) -> String {
    format!("agent-{}", id.0)
}
