//! The wait of a call for other agents: for those that it names, or for those that it has started
//! as a batch. It is over once none of them works any more. A batch ends its agents, whose ids
//! nobody was told.

use super::{
    agent_state::ChildAgent,
    ctx::{AgentSignal, StepContext},
};
use crate::rules::truncate::{OutputLimit, TruncateMode, truncate};
use alloc::{format, string::String, vec::Vec};
use innerloop_types::{
    id::{AgentId, ById},
    status::SubagentState,
    time::SessionInstant,
};

/// The limit of one agent's result among those of a batch.
const RESULT: OutputLimit =
    OutputLimit { max_chars: 2_000, max_lines: None, keep: TruncateMode::HeadTail };

/// The note below the results where the time was over.
const LATE: &str = "\nThe time was over: those that still worked were ended, and count as failed.";

/// The agents that a call waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChildWait {
    /// The agents, in the order of their results. The session's own agent, which nobody can start,
    /// stands for one that could not be started.
    pub(crate) agents: Vec<AgentId>,
    /// The reasons why agents could not be started, in the order of these.
    pub(crate) faults: Vec<String>,
    /// The time at which the wait ends.
    pub(crate) until: Option<SessionInstant>,
    /// True if the call has started the agents itself.
    pub(crate) is_batch: bool,
    /// True if its time is over and those that still worked are being ended. That takes no longer
    /// than the input that brought it, so that no snapshot has it.
    pub(crate) is_late: bool,
}

impl ChildWait {
    /// Returns whether none of the agents works any more.
    pub(crate) fn is_over(&self, children: &ById<AgentId, ChildAgent>) -> bool {
        let works = |id: &AgentId| {
            children.get(*id).is_some_and(|child| child.state == SubagentState::Running)
        };
        !self.agents.iter().any(works)
    }

    /// Returns what the model reads of the agents: the result of one that was waited for, or else
    /// the list of all results.
    pub(crate) fn text(&self, children: &ById<AgentId, ChildAgent>) -> String {
        let mut faults = self.faults.iter();
        let mut text = String::new();
        for id in &self.agents {
            let mut child = match children.get(*id) {
                Some(child) => child.clone(),
                None => ChildAgent::failed(faults.next().cloned().unwrap_or_default()),
            };
            if self.is_batch {
                // Before it becomes JSON, which would be cut in the middle of an escape.
                child.output = truncate(&child.output, &RESULT).unwrap_or(child.output);
            }
            if !text.is_empty() {
                text.push_str(",\n");
            }
            text.push_str(child.result().text());
        }
        if self.is_batch || self.agents.len() > 1 {
            let note = if self.is_late { LATE } else { "" };
            text = format!("[{text}]{note}");
        }
        text
    }

    /// Returns what the model reads where the wait ends before the agents do.
    pub(crate) fn early(&self, why: &str, children: &ById<AgentId, ChildAgent>) -> String {
        let mut text = String::from(why);
        // Of one agent there is nothing more to say.
        if self.agents.len() > 1 {
            text.push('\n');
            text.push_str(&self.text(children));
        }
        text
    }

    /// Ends the agents of a batch: all of them, or only those that still work.
    pub(crate) fn end_agents(&self, only_working: bool, ctx: &mut StepContext<'_>) {
        for &agent in self.agents.iter().filter(|_| self.is_batch) {
            let known = ctx.body.learnt().children.get(agent);
            let is_meant = |child: &ChildAgent| {
                !child.over && (!only_working || child.state == SubagentState::Running)
            };
            if known.is_some_and(is_meant) {
                ctx.signal(AgentSignal::Close { agent });
            }
        }
    }
}
