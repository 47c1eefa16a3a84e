//! Outputs of a session, in one list in causal order: effects, each of which the host must answer
//! exactly once, and events, which need no answer. Outputs are written, never read back: a replay
//! makes them again.

use crate::{
    base::{
        bytes::BodyBytes,
        id::{AgentId, EffectId, EndpointId},
        json::Json,
        time::SessionInstant,
    },
    config::HookPoint,
    event::Event,
    tool::ToolRun,
};
use alloc::{string::String, sync::Arc, vec::Vec};
use innerloop_json::ToJson;

/// The list of everything that follows from one input.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson)]
#[must_use = "effects that are not carried out leave the session waiting"]
// One list, not one for each kind: an event before an effect tells what led to it, and a host that
// shows the one and carries out the other must not reorder them.
pub struct OutputBatch(pub Vec<Output>);

impl OutputBatch {
    /// Iterates over the outputs in causal order.
    pub fn iter(&self) -> core::slice::Iter<'_, Output> {
        self.0.iter()
    }

    /// Iterates over the effects, in order.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.iter().filter_map(|output| match output {
            Output::Effect(effect) => Some(effect),
            Output::Event(_) => None,
        })
    }

    /// Iterates over the events, in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.iter().filter_map(|output| match output {
            Output::Event(event) => Some(event),
            Output::Effect(_) => None,
        })
    }

    /// Returns whether nothing follows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for OutputBatch {
    type Item = Output;
    type IntoIter = alloc::vec::IntoIter<Output>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a OutputBatch {
    type Item = &'a Output;
    type IntoIter = core::slice::Iter<'a, Output>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One output: an effect to carry out or an event to observe.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Output {
    /// An effect to carry out.
    Effect(Effect),
    /// An event to observe.
    Event(Event),
}

/// An effect: something that the host carries out.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Effect {
    /// Send a request and report the response as [`HttpInput`](crate::input::HttpInput)s.
    Http {
        /// The id of the effect.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The request to send.
        request: HttpRequest,
        /// The purpose of the request.
        purpose: RequestPurpose,
    },
    /// Run a tool and report it as [`ToolInput`](crate::input::ToolInput)s.
    RunTool {
        /// The id of the effect.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The run to carry out; the session keeps it until the answer has come.
        // Shared with the host: a call may carry a whole file, and a copy for each would double it.
        run: Arc<ToolRun>,
    },
    /// Ask a person and report the [`Answer`](crate::input::Answer).
    Ask {
        /// The id of the effect.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The question to ask.
        ask: Ask,
    },
    /// Run a hook and report its [`HookReply`](crate::input::HookReply).
    RunHook {
        /// The id of the effect.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The hook to run.
        hook: HookRun,
    },
    /// Stop an open effect. It needs no answer of its own: the effect that it names is still
    /// answered once, with its output so far.
    Cancel {
        /// The effect to stop.
        id: EffectId,
        /// The time after which the session goes on without the answer, in milliseconds.
        grace_ms: u64,
    },
}

impl Effect {
    /// Returns the id of the effect; for [`Effect::Cancel`], that of the effect to stop.
    #[must_use]
    pub const fn id(&self) -> EffectId {
        match self {
            Self::Http { id, .. }
            | Self::RunTool { id, .. }
            | Self::Ask { id, .. }
            | Self::RunHook { id, .. }
            | Self::Cancel { id, .. } => *id,
        }
    }
}

/// A request to an endpoint of the host's table, which adds origin and key.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct HttpRequest {
    /// The endpoint to send it to.
    pub endpoint: EndpointId,
    /// The path below the endpoint's base URL, with its leading `/`.
    pub path: String,
    /// Headers without any secret, names in lower case.
    // A list, since the order goes into the log; and never the key, which the host adds on the way
    // out.
    pub headers: Vec<(String, String)>,
    /// The body of a POST: JSON text.
    #[json(like = "String")]
    pub body: BodyBytes,
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
pub enum RequestPurpose {
    /// A reply of the model.
    Model,
    /// A summary of the history.
    Summary,
    /// A request to a tool server.
    Mcp,
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Ask {
    /// May this call run?
    Approval {
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The arguments of the call.
        arguments: Json,
        /// The folder of the workspace that the calling agent works in, relative to the root (empty
        /// for the root itself); paths in the arguments are relative to it.
        #[json(skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The ids of earlier calls of the same reply that are not over yet, whose changes this
        /// call will see.
        #[json(skip_serializing_if = "Vec::is_empty")]
        after: Vec<String>,
    },
    /// A question of the model.
    Question {
        /// The question to the user.
        text: String,
    },
    /// A question of a tool server.
    Elicitation {
        /// The question to the user.
        message: String,
        /// The schema that the answer must fit.
        schema: Json,
    },
}

/// One run of a hook.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct HookRun {
    /// The point in the loop at which it runs.
    pub point: HookPoint,
    /// The data passed to the hook.
    pub payload: Json,
}

/// The time at which the host sends a tick if nothing else happens before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
// One deadline for the whole session, the earliest: a host keeps one timer, and one tick fires all
// that are due.
pub struct Deadline {
    /// The time of the tick.
    pub at: SessionInstant,
    /// The event that the deadline is for.
    pub reason: DeadlineReason,
}

/// The event that a deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeadlineReason {
    /// The next retry of a model call.
    Retry,
    /// The timeout of a silent model call.
    ModelIdle,
    /// The last answer of a cancelled effect.
    Grace,
    /// The end of another agent's run.
    Wait,
    /// The end of a run's time budget.
    Budget,
}
