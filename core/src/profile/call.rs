//! What calls of the built-in tools ask for.

use alloc::{string::String, vec::Vec};
use innerloop_types::{action::Action, event::PlanItem};

/// What a call asks for.
#[derive(Debug)]
pub(crate) enum CallIntent {
    /// An action of the host's.
    Action(CanonicalCall),
    /// Something that the core does itself.
    Inner(InnerCall),
}

/// A call in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalCall {
    /// What to do.
    pub action: Action,
    /// The time limit that the call or its tool asks for, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// A call of a tool that never leaves the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InnerCall {
    /// Start an agent.
    Spawn(SpawnCall),
    /// Say something to an agent.
    Send {
        /// Its id, as the model knows it.
        agent_id: String,
        /// What to say.
        message: String,
    },
    /// Wait for an agent's result.
    Wait {
        /// Its id, as the model knows it.
        agent_id: String,
        /// How long at most, in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// End an agent.
    Close {
        /// Its id, as the model knows it.
        agent_id: String,
    },
    /// Ask the user.
    Ask {
        /// The question.
        question: String,
    },
    /// Keep a plan.
    Plan(PlanCall),
    /// The final answer, as JSON text that fits the schema.
    Answer(String),
}

/// What an agent is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpawnCall {
    /// What it is to do.
    pub(crate) task: String,
    /// A folder to stay in.
    pub(crate) working_dir: Option<String>,
    /// Another model.
    pub(crate) model: Option<String>,
    /// Most turns; 0 or nothing for no limit.
    pub(crate) max_turns: Option<u32>,
}

/// A call that keeps the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanCall {
    /// The whole plan.
    pub(crate) items: Vec<PlanItem>,
    /// What the model is answered.
    pub(crate) reply: String,
}

impl From<Action> for CanonicalCall {
    fn from(action: Action) -> Self {
        Self { action, timeout_ms: None }
    }
}
