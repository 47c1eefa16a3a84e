//! Settings for several models in one session: which one takes over when another fails, and which
//! one is used for which tasks (`docs/decisions.md#routing`). By default there is only the
//! session's own model.

use crate::model::ModelConfig;
use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// The models besides the session's own, and the rules for choosing among them.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct RoutingPolicy {
    /// The further models. When a model fails, the next one in this order that has not failed
    /// itself takes over.
    pub models: Vec<RoutedModel>,
    /// The time for which an overloaded or rate-limited model is not used, in milliseconds; longer
    /// if its provider asks for more.
    pub backoff_ms: u64,
    /// True if a model with a larger window takes over a conversation that does not fit.
    pub overflow_to_larger: bool,
}

/// A model that a session may use besides its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct RoutedModel {
    /// The model and its endpoint.
    pub model: ModelConfig,
    /// True if it writes the summaries. It takes over for other models only when no other is left.
    #[json(default)]
    pub cheap: bool,
    /// The kinds of tasks for which it is preferred.
    #[json(default, like = "Vec<TaskKind>")]
    pub tasks: Vec<String>,
}

/// The names of [`RoutedModel::tasks`], for the schema of its JSON.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum TaskKind {
    /// To check that something is secure.
    SecurityReview,
    /// To make several agents work at once.
    Orchestration,
    /// To write tests.
    UnitTest,
    /// To find a bug.
    Debug,
    /// To change the form of code but not its behaviour.
    Refactor,
    /// To review code.
    Review,
    /// To plan or design.
    Planning,
    /// To explain.
    Explain,
    /// To set up the standard parts of a project.
    Boilerplate,
    /// To write something new.
    Generation,
}

impl Default for RoutingPolicy {
    fn default() -> Self {
        Self { models: Vec::new(), backoff_ms: 300_000, overflow_to_larger: false }
    }
}
