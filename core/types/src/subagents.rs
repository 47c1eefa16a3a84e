//! Agents that an agent starts (`docs/decisions.md#subagents`): their limits, and the named ones.

use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// Agents that an agent may start (`docs/decisions.md#subagents`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SubagentPolicy {
    /// The maximum nesting depth of agents; 0 allows none.
    pub max_depth: u32,
    /// The maximum number of agents that may be open at once, at all depths together.
    // Over all depths together: a limit for each agent would let their number grow with every
    // level.
    pub max_open: u32,
    /// The time limit of the agents of one `spawn_agents`, in milliseconds; agents that still work
    /// then are ended. 0 means no limit.
    pub batch_ms: u64,
    /// True if an input that asks for several agents is followed by a note on how to share the work
    /// among them.
    pub coordinate: bool,
}

impl Default for SubagentPolicy {
    fn default() -> Self {
        Self { max_depth: 1, max_open: 16, batch_ms: 300_000, coordinate: false }
    }
}

/// An agent that can be started by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct NamedAgent {
    /// The sentence by which a model chooses it.
    pub description: String,
    /// The text that begins its system prompt, in place of the family's base instructions; empty
    /// for those.
    pub prompt: String,
    /// Its model, at the session's endpoint. If absent, it is the model that the call names, or the
    /// session's.
    pub model: Option<String>,
    /// The names of its tools, among those of the session; all of them if absent.
    pub tools: Option<Vec<String>>,
    /// The maximum number of turns; 0 means no limit.
    pub max_turns: u32,
}
