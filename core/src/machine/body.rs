//! What an agent has in every phase: its history, what waits to be said, and its counts.

use super::history::History;
use crate::{
    nouns::message::{Part, Usage},
    words::id::AgentId,
};
use alloc::{collections::VecDeque, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// What an agent has in every phase.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) id: AgentId,
    pub(crate) history: History,
    pub(crate) queues: Queues,
    /// The run under way, or the last one.
    pub(crate) run: Run,
    /// All runs before.
    pub(crate) past: Run,
}

/// What waits to be said to the model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queues {
    pub(crate) steering: VecDeque<Vec<Part>>,
    pub(crate) follow_ups: VecDeque<Vec<Part>>,
}

/// The counts of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Rounds of tool calls since the last input.
    pub(crate) rounds: u32,
    pub(crate) pauses: u32,
    pub(crate) inputs: u32,
    pub(crate) replies: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
    /// What the model said last.
    pub(crate) text: String,
}

impl Body {
    /// User and assistant turns so far.
    pub(crate) fn turns(&self) -> u32 {
        let counts = [&self.run, &self.past].map(|run| run.inputs.saturating_add(run.replies));
        counts.iter().fold(0, |all, &count| all.saturating_add(count))
    }

    /// Puts the counts of the run that is over to those before it.
    pub(crate) fn begin_run(&mut self) {
        let run = core::mem::take(&mut self.run);
        self.past.inputs = self.past.inputs.saturating_add(run.inputs);
        self.past.replies = self.past.replies.saturating_add(run.replies);
        self.past.tool_calls = self.past.tool_calls.saturating_add(run.tool_calls);
        self.past.usage.add(&run.usage);
    }
}
