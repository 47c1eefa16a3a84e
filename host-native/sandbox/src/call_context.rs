//! The context of one call: whose it is, where it is carried out, and what the model knows of
//! its files.

use innerloop_types::id::AgentId;

/// All that is so for one call alone. That of [`CallContext::default`] is one of the session's own
/// agent, in the workspace's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallContext {
    /// For whom: a shell stands where the agent's last command has left it.
    pub agent: AgentId,
    /// The call's id, as the model gave it.
    pub id: String,
    /// The folder of the workspace that the agent works in, from the root on, which is empty:
    /// paths of actions begin there, and programs see it as `/` and nothing else.
    pub folder: String,
    /// All that the model knows of the files that the action names: `ToolRun::known`. A file that
    /// is another one by now is left alone.
    pub known: Option<Vec<Option<String>>>,
}

impl Default for CallContext {
    fn default() -> Self {
        Self { agent: AgentId::ROOT, id: String::new(), folder: String::new(), known: None }
    }
}
