//! What follows: effects, for which the host owes exactly one terminal answer each, and events,
//! for which it owes nothing, in one list in causal order.

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

/// All that follows from one input.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson)]
#[must_use = "effects that are not carried out leave the session waiting"]
pub struct OutputBatch(pub Vec<Output>);

impl OutputBatch {
    /// The outputs in causal order.
    pub fn iter(&self) -> core::slice::Iter<'_, Output> {
        self.0.iter()
    }

    /// The effects, in order.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.iter().filter_map(|output| match output {
            Output::Effect(effect) => Some(effect),
            Output::Event(_) => None,
        })
    }

    /// The events, in order.
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

/// A thing to do or a thing to know.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Output {
    /// A thing to do.
    Effect(Effect),
    /// A thing to know.
    Event(Event),
}

/// A thing to do.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Effect {
    /// Send a request and report the response as [`HttpInput`](crate::input::HttpInput)s.
    Http {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The request.
        request: HttpRequest,
        /// The purpose of the request.
        purpose: RequestPurpose,
    },
    /// Run a tool and report it as [`ToolInput`](crate::input::ToolInput)s.
    RunTool {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The run to carry out; the session keeps it until the answer has come.
        run: Arc<ToolRun>,
    },
    /// Ask a person and report the [`Answer`](crate::input::Answer).
    Ask {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The question.
        ask: Ask,
    },
    /// Run a hook and report its [`HookReply`](crate::input::HookReply).
    RunHook {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The hook to run.
        hook: HookRun,
    },
    /// Stop an open effect. Owes no answer of its own: the effect that it names still owes its
    /// one, with what there is.
    Cancel {
        /// The effect to stop.
        id: EffectId,
        /// After how long the session goes on without the answer.
        grace_ms: u64,
    },
}

impl Effect {
    /// The id of the effect; of a [`Effect::Cancel`] that of the effect to stop.
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
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The path below the endpoint's base URL, with its leading `/`.
    pub path: String,
    /// Headers without any secret, names in lower case.
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
    /// A tool server.
    Mcp,
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Ask {
    /// May this call run?
    Approval {
        /// The call's id.
        call_id: String,
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Json,
        /// The folder of the workspace that the calling agent works in, from the root on, which
        /// is empty: the arguments' paths begin there.
        #[json(skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The ids of the calls before it in the same reply that are not over yet: what it finds
        /// depends on them.
        #[json(skip_serializing_if = "Vec::is_empty")]
        after: Vec<String>,
    },
    /// A question of the model.
    Question {
        /// The question.
        text: String,
    },
    /// A question of a tool server.
    Elicitation {
        /// The question.
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
    /// The data that it is given.
    pub payload: Json,
}

/// The time to send a tick if nothing else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
pub struct Deadline {
    /// The time.
    pub at: SessionInstant,
    /// The thing that is waited for.
    pub reason: DeadlineReason,
}

/// The thing that a deadline waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeadlineReason {
    /// The next try of a model call.
    Retry,
    /// A model call that has gone quiet.
    ModelIdle,
    /// The last answer of a cancelled effect.
    Grace,
    /// The end of another agent's run.
    Wait,
    /// The end of the time that a run may take.
    Budget,
}
