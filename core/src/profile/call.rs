//! The meaning of a call of a built-in tool, whatever the vocabulary: an action for the host, or
//! something that the core does itself.

use alloc::{string::String, vec::Vec};
use innerloop_types::{action::Action, event::PlanItem, tool::ResultQuery};

/// The work that a call asks for.
#[derive(Debug)]
pub(crate) enum CallIntent {
    /// An action that the host carries out.
    Action(CanonicalCall),
    /// Something that the core does itself.
    Inner(InnerCall),
}

/// A call in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalCall {
    /// The action to take.
    pub action: Action,
    /// The time limit that the call or its tool asks for, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// A call of a tool that never leaves the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InnerCall {
    /// Start another agent on a task.
    Spawn(SpawnCall),
    /// Start several agents, each on a task, and wait for all.
    Batch(Vec<SpawnCall>),
    /// Say something to an agent.
    Send {
        /// Its id, as the model knows it.
        agent_id: String,
        /// The text to send.
        message: String,
    },
    /// Wait for the results of agents.
    Wait {
        /// Their ids, as the model knows them.
        agent_ids: Vec<String>,
        /// The maximum time to wait, in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// End an agent that was started.
    Close {
        /// Its id, as the model knows it.
        agent_id: String,
    },
    /// Ask the user a question.
    Ask {
        /// The question to the user.
        question: String,
    },
    /// Keep the model's plan.
    Plan(PlanCall),
    /// Find tools that requests do not show.
    Search {
        /// Names, or words on what they do.
        query: String,
    },
    /// Choose a category of tools.
    Select {
        /// The category's name.
        category: String,
    },
    /// Read the instructions of a skill that no tool can read.
    Skill {
        /// The skill's name.
        name: String,
    },
    /// Read of the outputs that are kept, which are the driver's.
    Kept(ResultQuery),
    /// The final answer, as JSON text that fits the schema.
    // The text, not a value: it is the host's data and goes to it as the model wrote it.
    Answer(String),
}

/// The options of an agent that a call starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpawnCall {
    /// The task of the agent.
    pub(crate) task: String,
    /// The folder that it works in and stays in.
    pub(crate) working_dir: Option<String>,
    /// The name of the agent, if it has one.
    pub(crate) agent: Option<String>,
    /// The model, if it is another one.
    pub(crate) model: Option<String>,
    /// Most turns; 0 or `None` for no limit.
    pub(crate) max_turns: Option<u32>,
}

/// A call that keeps the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanCall {
    /// The steps of the whole plan.
    pub(crate) items: Vec<PlanItem>,
    /// The answer that the model gets.
    pub(crate) reply: String,
}

impl From<Action> for CanonicalCall {
    fn from(action: Action) -> Self {
        Self { action, timeout_ms: None }
    }
}
