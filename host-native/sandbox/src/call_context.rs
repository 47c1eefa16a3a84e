//! The context of one call: its agent, its folder, and the model's knowledge of its files. The
//! executor has no such state, so that calls of several agents run at the same time.

use innerloop_types::id::AgentId;

/// Whatever belongs to one call alone. [`CallContext::default`] is that of the session's own agent
/// in the workspace's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallContext {
    /// The agent that calls. Each agent has a shell of its own.
    pub agent: AgentId,
    /// The call's id, as the model gave it.
    pub id: String,
    /// The folder in which the agent works, as a path from the workspace's root; empty for the root
    /// itself. Paths of actions begin there, and programs see it as `/` and nothing else.
    pub folder: String,
    /// The versions of the action's files that the model knows: `ToolRun::known`. A file that has
    /// changed since is left alone.
    pub known: Option<Vec<Option<String>>>,
}

impl Default for CallContext {
    fn default() -> Self {
        Self { agent: AgentId::ROOT, id: String::new(), folder: String::new(), known: None }
    }
}
