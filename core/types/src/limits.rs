//! Limits at which a session or a run stops: rounds, turns, and spending
//! (`docs/decisions.md#limits`). The loop checks them before each model call.

use innerloop_json::{FromJson, ToJson};

/// The limits at which to stop; 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct Limits {
    /// The maximum number of user and assistant turns in the whole session.
    pub max_turns: u32,
    /// The maximum number of rounds of tool calls for one input of the user.
    pub max_tool_rounds_per_input: u32,
    /// The maximum spending of a run, including the agents that it started.
    #[json(skip_serializing_if = "SpendAmount::is_none")]
    // Agents that a run starts count for it: a limit of each agent's own would be none, since a
    // model can start another agent (`docs/decisions.md#budgets`).
    pub run: SpendAmount,
    /// The maximum spending of all runs of the session together.
    #[json(skip_serializing_if = "SpendAmount::is_none")]
    pub session: SpendAmount,
    /// The reaction when one of these limits is reached.
    pub action: LimitAction,
}

/// An amount of money, tokens and time; as a limit, 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SpendAmount {
    /// Nano-dollars (10⁻⁹ US dollars).
    // Whole nano-dollars, not a float: sums are exact and the same on every machine, and a
    // session's total must replay to the same bytes.
    pub cost_nano_usd: u64,
    /// Tokens, in and out.
    pub tokens: u64,
    /// Milliseconds of runs, including the time spent waiting for people, tools and providers.
    pub ms: u64,
}

impl SpendAmount {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The reaction when a limit is reached (`docs/decisions.md#limits`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum LimitAction {
    /// The run ends, and the agent is idle.
    #[default]
    Idle,
    /// The model summarises its findings without tools, and the run ends.
    Summarize,
    /// The run ends with all of the model's texts in it.
    Partial,
    /// The run ends as failed.
    Error,
}
