//! Agents that an agent starts (`docs/decisions.md#subagents`): how many there may be, and the
//! kinds of them that have a name.

use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// Agents that an agent may start (`docs/decisions.md#subagents`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SubagentPolicy {
    /// The maximum depth to which agents may be nested; 0 offers none.
    pub max_depth: u32,
    /// The maximum number of agents that may be open at once, at all depths together.
    // Over all depths together: a limit for each agent would let their number grow with every
    // level.
    pub max_open: u32,
    /// The time that the agents of one `spawn_agents` have, in milliseconds; those that still work
    /// then are ended. 0 means no limit.
    pub batch_ms: u64,
    /// True if an input that asks for several agents brings a note on how to share the work out
    /// among them.
    pub coordinate: bool,
}

impl Default for SubagentPolicy {
    fn default() -> Self {
        Self { max_depth: 1, max_open: 16, batch_ms: 300_000, coordinate: false }
    }
}

/// An agent that can be started by a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct NamedAgent {
    /// The sentence by which a model chooses it.
    pub description: String,
    /// The text that its system prompt begins with, in place of the family's own words; empty for
    /// these.
    pub prompt: String,
    /// Its model, at the endpoint of the session's. Without one it is the model that the call
    /// names, or the session's.
    pub model: Option<String>,
    /// The names of the tools that it has, among those of the session; all of them if absent.
    pub tools: Option<Vec<String>>,
    /// Most turns that it may take; 0 means no limit.
    pub max_turns: u32,
}
