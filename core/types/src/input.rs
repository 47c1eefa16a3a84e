//! Inputs of a session: everything that happened, and why an input may be refused. The log is the
//! list of accepted inputs, so all of them can be written and read back; time and randomness enter
//! only through inputs.

use crate::{
    action::{DeniedBy, Outcome},
    base::{
        bytes::BodyBytes,
        id::{AgentId, EffectId},
        json::{Json, JsonObject},
        time::UnixMillis,
    },
    config::{ApprovalRule, ConfigError, ToolChoice},
    message::{Part, Turn},
};
use alloc::{boxed::Box, string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// An input: one thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Input {
    /// A command of the host to an agent.
    Command {
        /// The agent; the session's own is 0.
        agent: AgentId,
        /// The command to carry out.
        command: Command,
    },
    /// A part of an HTTP exchange.
    Http {
        /// The effect that asked for it.
        id: EffectId,
        /// The part of the exchange.
        input: HttpInput,
    },
    /// A report on a tool's run.
    Tool {
        /// The effect that asked for it.
        id: EffectId,
        /// The report on the run.
        input: ToolInput,
    },
    /// An answer to a question that was asked.
    Answer {
        /// The effect that asked for it.
        id: EffectId,
        /// The answer to the question.
        answer: Answer,
    },
    /// A reply of a hook.
    Hook {
        /// The effect that asked for it.
        id: EffectId,
        /// The reply of the hook.
        reply: HookReply,
    },
    /// The host cannot know the outcome of an effect, for example after a crash.
    // Not a failure: the run may have taken effect, and the model is told so instead of being given
    // a result that nobody knows.
    Lost {
        /// The effect that is lost.
        id: EffectId,
    },
    /// Time has passed. One tick fires all deadlines that are due.
    // Every input comes with a time, but only a tick fires deadlines: an answer that comes late
    // still counts if no tick came before it.
    Tick,
}

impl Input {
    /// Creates a command to the session's own agent.
    #[must_use]
    pub const fn command(command: Command) -> Self {
        Self::Command { agent: AgentId::ROOT, command }
    }

    /// Returns the effect that this input belongs to, if any.
    #[must_use]
    pub const fn effect(&self) -> Option<EffectId> {
        match self {
            Self::Http { id, .. }
            | Self::Tool { id, .. }
            | Self::Answer { id, .. }
            | Self::Hook { id, .. }
            | Self::Lost { id } => Some(*id),
            Self::Command { .. } | Self::Tick => None,
        }
    }

    /// Returns the effect that this input answers for good; `None` for parts that others may
    /// follow.
    #[must_use]
    pub const fn answered(&self) -> Option<EffectId> {
        match self {
            Self::Http { id, input } if input.is_terminal() => Some(*id),
            Self::Tool { id, input: ToolInput::Done(_) }
            | Self::Answer { id, .. }
            | Self::Hook { id, .. }
            | Self::Lost { id } => Some(*id),
            // Spelled out instead of `_`: a new kind of input must say whether it settles its
            // effect, since each effect has exactly one terminal answer.
            Self::Http { .. } | Self::Tool { .. } | Self::Command { .. } | Self::Tick => None,
        }
    }
}

/// A command of the host to an agent.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Command {
    /// The user's input; starts a run. Refused while one is under way.
    Submit {
        /// The content of the input.
        parts: Vec<Part>,
        /// The options for this input only.
        #[json(default, skip_serializing_if = "Option::is_none")]
        options: Option<Box<TurnOptions>>,
    },
    /// A message for the model after the current tool round
    /// (`docs/decisions.md#steering-and-follow-ups`); while idle it waits for the next submit.
    Steer {
        /// The content of the message.
        parts: Vec<Part>,
    },
    /// An input that starts when the current one is done
    /// (`docs/decisions.md#steering-and-follow-ups`).
    FollowUp {
        /// The content of the input.
        parts: Vec<Part>,
        /// The options for this input only.
        #[json(default, skip_serializing_if = "Option::is_none")]
        options: Option<Box<TurnOptions>>,
    },
    /// A change of the configuration, which takes effect at the next model call.
    Configure {
        /// A merge patch (RFC 7396) of the configuration's JSON. The session's id stays.
        #[json(like = "innerloop_json::schema::MergePatch<crate::config::SessionConfig>")]
        patch: JsonObject,
    },
    /// Shortens the conversation that the model reads: the oldest turns are summarised. Refused
    /// while a run is under way, and if no turn is old enough.
    Compact {
        /// The instructions for the summary: what it should focus on.
        #[json(default)]
        instructions: Option<String>,
    },
    /// Undoes the newest steps; a step begins with each input. Refused while a run is under way, as
    /// are the four commands below (`docs/decisions.md#the-view`).
    Undo {
        /// The maximum number of steps.
        #[json(default = "one")]
        steps: u32,
    },
    /// Redoes steps that were undone, the last one first.
    Redo {
        /// The maximum number of steps.
        #[json(default = "one")]
        steps: u32,
    },
    /// Restores the model's view of the time when the log had this many turns.
    Restore {
        /// The number of turns.
        at: u32,
    },
    /// Hides the whole conversation so far from the model. Can be undone.
    Clear,
    /// Appends the turns of another conversation.
    Import {
        /// The turns, oldest first. Calls of the last one without a result get one that says that
        /// they were interrupted.
        turns: Vec<Turn>,
    },
    /// Stops the run; the session stays usable.
    Interrupt,
    /// Ends the session after its shutdown sequence (`docs/decisions.md#ends-of-a-run`).
    Close,
}

const fn one() -> u32 {
    1
}

impl Command {
    /// Creates a `submit` without options.
    #[must_use]
    pub const fn submit(parts: Vec<Part>) -> Self {
        Self::Submit { parts, options: None }
    }

    /// Creates a `follow_up` without options.
    #[must_use]
    pub const fn follow_up(parts: Vec<Part>) -> Self {
        Self::FollowUp { parts, options: None }
    }
}

/// The options for one input only: they hold until its run ends, or until the run's next input
/// begins (`docs/decisions.md#options-of-an-input`). Agents that are started meanwhile have the
/// same tools and paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct TurnOptions {
    /// The tools that may be called, by the names that the model sees; all if absent. A call of
    /// another tool is denied, and the model reads why. The final answer can always be given.
    #[json(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// True if the other tools are not shown to the model either, which costs the provider's cache
    /// of earlier requests twice: now, and when they come back.
    #[json(skip_serializing_if = "core::ops::Not::not")]
    // Off by default: a denial in words leaves the request's beginning as it was, so that the
    // provider's cache holds.
    pub hide: bool,
    /// Files and folders of the workspace, relative to its root, that calls may name; all if
    /// absent. Tools that do not name their files, such as a shell, are denied. Links are not
    /// resolved.
    #[json(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// The rule for tool calls, which overrides the configuration's: the model must, may or must
    /// not make them. A required call is required only once.
    #[json(skip_serializing_if = "Option::is_none")]
    // Only the first reply must be a call: if every reply had to be one, no run would end.
    pub tool_choice: Option<ToolChoice>,
    /// The model's temperature: a number, 0 or more.
    #[json(skip_serializing_if = "Option::is_none", like = "Option<f64>")]
    // Opaque, so that the number goes out with the digits that came in.
    pub temperature: Option<Json>,
}

/// A part of an HTTP exchange, in the order head, chunks, end. A failure may come at any time;
/// before the head, the host may report that it holds the request back. A further head restarts the
/// response: the host was restarted and sends the request again.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum HttpInput {
    /// The host holds the request back, since others are ahead of it. The idle timeout is paused
    /// until the request is sent.
    Held {
        /// The number of requests ahead of it; absent when this one is sent.
        #[json(default)]
        ahead: Option<u32>,
    },
    /// The status and the headers of the response.
    Head(ResponseHead),
    /// A piece of the body, cut at any byte.
    Chunk(BodyBytes),
    /// The body is complete. Answers the effect.
    End,
    /// The exchange broke or was cancelled. Answers the effect.
    Failed(HttpFailure),
}

impl HttpInput {
    /// Returns whether this answers the effect, so that nothing may follow.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::End | Self::Failed(_))
    }
}

/// Status and headers of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct ResponseHead {
    /// The status code of the response.
    pub status: u16,
    /// The headers, names in lower case.
    #[json(default)]
    pub headers: Vec<(String, String)>,
    /// The wall time in milliseconds since 1970; 0 if unknown.
    #[json(default)]
    // `retry-after` may be a date, and the core has no clock to hold it against.
    pub at: UnixMillis,
}

impl ResponseHead {
    /// Returns whether the status means success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the value of the first header with that name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        // Names should come in lower case, but a host may pass on what the server sent, and HTTP's
        // names have no case.
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The failure of an exchange.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct HttpFailure {
    /// The kind, which decides whether a retry makes sense.
    pub kind: HttpFailureKind,
    /// A sentence that describes the failure to the user.
    pub message: String,
}

/// The kinds of broken exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum HttpFailureKind {
    /// No connection, or it broke. Worth a retry.
    Network,
    /// Nothing was received for too long. Worth a retry.
    Timeout,
    /// The exchange was cancelled on request.
    Cancelled,
    /// The host does not send this request: unknown endpoint, missing key, redirect. Not worth a
    /// retry.
    Refused,
}

/// News of a tool's run.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum ToolInput {
    /// Output while it runs, for people to watch.
    Delta(String),
    /// The run goes on in the background; this answers the model's call.
    Parked {
        /// The host's name for the run.
        handle: String,
        /// The outcome that the model reads for now.
        outcome: Outcome,
    },
    /// The run is over. Answers the effect.
    Done(Outcome),
}

impl Answer {
    /// Creates a denial by a person, with the reason for the model.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into(), by: DeniedBy::Person }
    }

    /// Creates a denial because nobody is there to approve the call, with the reason for the model.
    pub fn nobody(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into(), by: DeniedBy::Nobody }
    }
}

/// An answer to an [`Ask`](crate::output::Ask).
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Answer {
    /// The call may run.
    Allow,
    /// The call may run, and so may every later one of its tool.
    AllowAlways,
    /// The call may run, and so may later ones that match the rule.
    AllowRule(ApprovalRule),
    /// The call may run with these arguments, which are checked again.
    AllowEdited(Json),
    /// The call may not run.
    Deny {
        /// The reason, for the model to read.
        reason: String,
        /// The one who denied the call: a person, or nobody if nobody is there.
        #[json(default, skip_serializing_if = "DeniedBy::is_person")]
        by: DeniedBy,
    },
    /// The run is to stop.
    Abort,
    /// The text of the person's answer.
    Text(String),
}

/// A reply to a [`HookRun`](crate::output::HookRun).
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum HookReply {
    /// The run goes on unchanged.
    Allow,
    /// The hook denies the step.
    Deny {
        /// The reason, for the model to read.
        reason: String,
    },
    /// The run goes on with this replacement.
    Replace(Json),
    /// The hook itself failed.
    Failed {
        /// The text that describes the failure.
        message: String,
    },
}

/// A refused input, which has not changed the session.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, thiserror::Error)]
#[error("{reason}")]
pub struct RejectedInput {
    /// The unchanged input.
    // Given back, since it was moved into the session: a host can put a refused message where it
    // was written.
    pub input: Input,
    /// The reason why it was refused.
    pub reason: RejectionReason,
}

/// The reason why an input was refused. Each is a mistake of the host.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, thiserror::Error)]
#[json(rename_all = "snake_case", keyed)]
#[non_exhaustive]
pub enum RejectionReason {
    /// A submit, or a change of the view, while a run is under way.
    #[error("a run is under way: use steer or follow_up, or interrupt it first")]
    Busy,
    /// Any command after the session has closed.
    #[error("the session is closed: open a new one, or fork it from its log")]
    Closed,
    /// A text that holds secrets of these kinds, which the firewall refuses, or a secret at that
    /// place of an option, where none can be.
    #[error("it holds a secret ({0}): take that out, or let the firewall mask it")]
    HoldsSecret(String),
    /// The session has no such agent.
    #[error("the session has no {0}")]
    UnknownAgent(AgentId),
    /// The session never issued such an effect.
    #[error("the session never issued {0}")]
    UnknownEffect(EffectId),
    /// The answer does not fit the effect, such as a part of an HTTP exchange for a tool's run.
    #[error("that is not an answer to {0}")]
    WrongKind(EffectId),
    /// A part of an HTTP exchange out of order: a body before its head.
    #[error("{0} got a body before its head")]
    OutOfOrder(EffectId),
    /// A submit, steer or follow-up without content.
    #[error("the message is empty")]
    Empty,
    /// The command has nothing to act on.
    #[error("{0}")]
    Nothing(&'static str),
    /// An input that needs a model call while the session's budget is used up.
    #[error("what the session may spend is used up: raise the limit first")]
    Budget,
    /// Turns that cannot be taken over.
    #[error("the turns cannot be imported: {0}")]
    Import(&'static str),
    /// An invalid configuration.
    #[error("{0}")]
    Config(Box<ConfigError>),
    /// This version does not support the input.
    #[error("{0}")]
    Unsupported(&'static str),
}

impl From<ConfigError> for RejectionReason {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}
