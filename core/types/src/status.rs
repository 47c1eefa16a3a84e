//! The data that a host can request at any time: the state of an agent and its usage, the use of
//! its context window, its waiting inputs, and the started agents. Also the ways in which a run
//! ends.

use crate::{
    base::id::AgentId,
    config::SessionConfig,
    input::TurnOptions,
    message::{Part, Usage},
};
use alloc::{boxed::Box, string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// The state of an agent and its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
pub struct Status {
    /// The state of the agent.
    pub state: AgentState,
    /// True if the agent is only shortening the conversation at the host's request: no run is under
    /// way.
    #[json(skip_serializing_if = "is_false")]
    // The state is `processing` then as well, but no `processing_end` follows: a host that waits
    // for one would wait for ever (`docs/decisions.md#states`).
    pub compacting: bool,
    /// User and assistant turns so far.
    pub turns: u32,
    /// Tool calls so far.
    pub tool_calls: u32,
    /// The tokens used so far.
    pub usage: Usage,
    /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), as far as the prices are known.
    #[json(skip_serializing_if = "Option::is_none")]
    pub cost_nano_usd: Option<u64>,
}

const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The state of an agent (`docs/decisions.md#states`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
// The specification's four states and no more. The phases of the loop are finer and stay private,
// so that they can change.
pub enum AgentState {
    /// Waiting for the user.
    Idle,
    /// The agent runs the loop.
    Processing,
    /// The model asked the user a question.
    AwaitingInput,
    /// The agent is over and takes no more commands.
    Closed,
}

/// The tokens in an agent's context window, by use. The parts are estimates that add up to the
/// total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson)]
// Fields, though a list of parts would do for a table: whoever asks for one part names it, and the
// types of the other languages say which there are.
pub struct ContextUsage {
    /// The system prompt without the project's instructions.
    pub system: u64,
    /// The project's instructions: in the prompt, and those that calls have brought up.
    pub documents: u64,
    /// The tools, with their schemas.
    pub tools: u64,
    /// The inputs and the replies: texts, thinking, calls, and summaries of folded turns.
    pub history: u64,
    /// The results of tool calls.
    pub results: u64,
    /// All of them: the provider's count of its last reply and everything before it, plus an
    /// estimate of later turns.
    pub total: u64,
    /// The tokens that count as the context window.
    pub window: u64,
    /// The tokens of the window that are free.
    pub free: u64,
}

/// The data of a session besides its history.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct SessionOverview {
    /// The agent's waiting inputs; `None` if there is no such agent.
    pub pending: Option<PendingInputs>,
    /// The agents that were started, in the order of their numbers.
    pub agents: Vec<SubagentInfo>,
    /// The configuration in force. It holds no key.
    pub config: SessionConfig,
}

/// The inputs that wait for an agent, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson)]
pub struct PendingInputs {
    /// The messages for the model after the current round of tool calls.
    pub steering: Vec<Vec<Part>>,
    /// The inputs for when the current one is done.
    pub follow_ups: Vec<PendingInput>,
}

/// An input that waits.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct PendingInput {
    /// The content of the input.
    pub parts: Vec<Part>,
    /// The options that apply to this input only.
    #[json(skip_serializing_if = "Option::is_none")]
    pub options: Option<Box<TurnOptions>>,
}

/// An agent that another one has started.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct SubagentInfo {
    /// The agent.
    pub id: AgentId,
    /// The agent that started it.
    pub parent: AgentId,
    /// Its state, as reported to the agent that started it.
    pub state: SubagentState,
    /// The task that it was started with.
    pub task: String,
    /// Its result when its last run ended; empty before.
    pub output: String,
    /// The folder of the workspace that it works in; empty for the root.
    pub folder: String,
    /// The model that it was started with, if one was named.
    #[json(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The name in `agents` by which it was started; empty for none.
    pub name: String,
}

/// The state of a started agent, as reported to the agent that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
pub enum SubagentState {
    /// A run is under way.
    Running,
    /// Its last run completed the task.
    Completed,
    /// Its last run ended otherwise.
    Failed,
    /// It is closed and takes no more messages.
    Closed,
}

impl SubagentState {
    /// Returns the state as the model reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Closed => "closed",
        }
    }
}

/// The way in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum RunEnd {
    /// The model was done.
    Completed,
    /// A limit of rounds or turns.
    Limit,
    /// Its budget is used up.
    Budget,
    /// Its calls repeated themselves.
    Loop,
    /// The host interrupted it.
    Interrupted,
    /// A hook of the host denied it.
    Denied,
    /// The hook before the end has denied it more often than `hooks.max_denials` allows.
    Unverified,
    /// The last reply was cut; the partial text is the run's text.
    Incomplete,
    /// The model or a filter of its provider refused.
    Refused,
    /// The model or its endpoint failed for good.
    Failed,
}
