//! When to stop: rounds, turns, and what may be spent (`docs/decisions.md#limits`).

use innerloop_json::{FromJson, ToJson};

/// The limits at which to stop; 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct Limits {
    /// Most user and assistant turns of the whole session.
    pub max_turns: u32,
    /// Most rounds of tool calls for one input of the user.
    pub max_tool_rounds_per_input: u32,
    /// Most that a run may use, that of the agents included that it started.
    #[json(skip_serializing_if = "SpendAmount::is_none")]
    pub run: SpendAmount,
    /// Most that all runs of the session may use together.
    #[json(skip_serializing_if = "SpendAmount::is_none")]
    pub session: SpendAmount,
    /// The reaction when one of them is reached.
    pub action: LimitAction,
}

/// The amount that models and their work use; as a limit, 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SpendAmount {
    /// Nano-dollars (10⁻⁹ US dollars).
    pub cost_nano_usd: u64,
    /// Tokens, in and out.
    pub tokens: u64,
    /// Milliseconds of runs, whatever was waited for.
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
    /// The run ends.
    #[default]
    Idle,
    /// The model says without tools what it has found, and the run ends.
    Summarize,
    /// The run ends with all that the model said in it.
    Partial,
    /// The run ends as failed.
    Error,
}
