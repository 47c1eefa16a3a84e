//! What an agent has in every phase: its history, what waits to be said, its counts, and the
//! agents that it started.

use super::history::History;
use crate::{
    base::id::AgentId,
    rules::{cost, repeat::Watch},
    types::{
        config::ApprovalRule,
        message::{Part, Turn, TurnKind, Usage},
        status::RunEnd,
    },
};
use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    format,
    string::String,
    vec::Vec,
};
use core::ops::{Deref, DerefMut};
use serde::{Deserialize, Serialize};

/// What an agent has in every phase.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) id: AgentId,
    /// What it was started with; nothing for the session's own.
    pub(crate) scope: Option<Box<Scope>>,
    pub(crate) history: History,
    pub(crate) memory: Memory,
    /// The run under way, or the last one.
    pub(crate) run: Run,
}

/// What an agent was started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scope {
    /// Who started it.
    pub(crate) parent: AgentId,
    /// How deep it is nested; at 1 where the session's own agent started it.
    pub(crate) depth: u32,
    pub(crate) model: Option<String>,
    pub(crate) working_dir: Option<String>,
    pub(crate) max_turns: u32,
}

/// What an agent keeps from run to run beside its history.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// On the heap, since most idle agents have none of it.
    aside: Option<Box<Aside>>,
    /// Whether the full context window has been warned of.
    pub(crate) full: bool,
    /// Whether the last run was completed.
    pub(crate) succeeded: bool,
    /// The counts of all runs before the current one.
    pub(crate) past: Counts,
}

/// What waits to be said, and what an agent has learnt and started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Aside {
    pub(crate) steering: VecDeque<Vec<Part>>,
    pub(crate) follow_ups: VecDeque<Vec<Part>>,
    pub(crate) children: BTreeMap<AgentId, Child>,
    /// Files that the model knows: it has read or written them.
    pub(crate) known: BTreeSet<String>,
    /// Calls that need no more approval, beside those of the configuration.
    pub(crate) allowed: Vec<ApprovalRule>,
}

/// What an agent has aside that has nothing aside.
static NOTHING: Aside = Aside {
    steering: VecDeque::new(),
    follow_ups: VecDeque::new(),
    children: BTreeMap::new(),
    known: BTreeSet::new(),
    allowed: Vec::new(),
};

impl Deref for Memory {
    type Target = Aside;

    fn deref(&self) -> &Aside {
        self.aside.as_deref().unwrap_or(&NOTHING)
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut Aside {
        self.aside.get_or_insert_default()
    }
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
    /// The calls since the last input, looked at for repetitions.
    pub(crate) watch: Option<Box<Watch>>,
    /// The final answer, as JSON text.
    pub(crate) answer: Option<Box<str>>,
    /// What the run has come to, where that is not what the model said last.
    pub(crate) result: Option<Box<str>>,
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
    pub(crate) nudges: u32,
}

/// What a run, or many, came to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) inputs: u32,
    pub(crate) replies: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
    /// What it cost, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cost_nano_usd: Option<u64>,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.inputs = self.inputs.saturating_add(other.inputs);
        self.replies = self.replies.saturating_add(other.replies);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.usage.add(&other.usage);
        self.cost_nano_usd = cost::sum(self.cost_nano_usd, other.cost_nano_usd);
    }
}

impl Body {
    /// All counts so far.
    pub(crate) fn counts(&self) -> Counts {
        let mut all = self.memory.past;
        all.add(&self.run.counts);
        all
    }

    /// How deep the agent is nested; the session's own is at 0.
    pub(crate) fn depth(&self) -> u32 {
        self.scope.as_ref().map_or(0, |scope| scope.depth)
    }

    /// What the run has come to: what the model said last, if nothing else.
    pub(crate) fn result(&self) -> String {
        match &self.run.result {
            Some(result) => String::from(&**result),
            None if self.run.counts.replies == 0 => String::new(),
            None => self.history.last_said(),
        }
    }

    /// Frees what an idle agent does not need.
    pub(crate) fn rest(&mut self) {
        self.history.rest();
        self.run.watch = None;
        let aside = &mut self.memory.aside;
        *aside = aside.take().filter(|aside| **aside != NOTHING);
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
