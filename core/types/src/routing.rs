//! Settings for several models in one session: which of them takes over when another one fails, and
//! which is asked for what (`docs/decisions.md#routing`). The defaults have none beside the
//! session's own.

use crate::model::ModelConfig;
use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// The models beside the session's own, and the rules by which they are chosen.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct RoutingPolicy {
    /// The further models. When a model fails, the next one of this order takes over that has not
    /// failed itself.
    pub models: Vec<RoutedModel>,
    /// The time for which a model is left alone that is overloaded or has had too many requests, in
    /// milliseconds; longer where its provider asks for more.
    pub backoff_ms: u64,
    /// True if a model with a larger window takes over a conversation that does not fit.
    pub overflow_to_larger: bool,
}

/// A model that a session may ask beside its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct RoutedModel {
    /// The model, and how to talk to it.
    pub model: ModelConfig,
    /// True if it writes the summaries. It takes over for others only when none of them is left.
    #[json(default)]
    pub cheap: bool,
    /// The kinds of tasks for which it goes before the others.
    #[json(default, like = "Vec<TaskKind>")]
    pub tasks: Vec<String>,
}

/// The names of [`RoutedModel::tasks`], for those who describe its JSON.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum TaskKind {
    /// To check that something is secure.
    SecurityReview,
    /// To have several agents work at once.
    Orchestration,
    /// To write tests.
    UnitTest,
    /// To find a fault.
    Debug,
    /// To change the form of code and not what it does.
    Refactor,
    /// To judge code.
    Review,
    /// To plan or design.
    Planning,
    /// To explain.
    Explain,
    /// To set up what every project has.
    Boilerplate,
    /// To write something new.
    Generation,
}

impl Default for RoutingPolicy {
    fn default() -> Self {
        Self { models: Vec::new(), backoff_ms: 300_000, overflow_to_larger: false }
    }
}
