//! What happened: everything that goes into a session, and why it may be refused.

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

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Input {
    /// A word of the host to an agent.
    Command {
        /// The agent; the session's own is 0.
        agent: AgentId,
        /// The word.
        command: Command,
    },
    /// News of an HTTP exchange.
    Http {
        /// The effect that asked for it.
        id: EffectId,
        /// The news.
        input: HttpInput,
    },
    /// News of a tool's run.
    Tool {
        /// The effect that asked for it.
        id: EffectId,
        /// The news.
        input: ToolInput,
    },
    /// A person's answer.
    Answer {
        /// The effect that asked for it.
        id: EffectId,
        /// The answer.
        answer: Answer,
    },
    /// A hook's reply.
    Hook {
        /// The effect that asked for it.
        id: EffectId,
        /// The reply.
        reply: HookReply,
    },
    /// The host cannot know what became of an effect, for example after a crash.
    Lost {
        /// The effect.
        id: EffectId,
    },
    /// Time has passed. Only a tick fires deadlines, and one tick fires all that are due.
    Tick,
}

impl Input {
    /// A command to the session's own agent.
    #[must_use]
    pub const fn command(command: Command) -> Self {
        Self::Command { agent: AgentId::ROOT, command }
    }

    /// The effect that this input is news of.
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

    /// The effect that this input answers for good; nothing for news that more may follow.
    #[must_use]
    pub const fn answered(&self) -> Option<EffectId> {
        match self {
            Self::Http { id, input } if input.is_terminal() => Some(*id),
            Self::Tool { id, input: ToolInput::Done(_) }
            | Self::Answer { id, .. }
            | Self::Hook { id, .. }
            | Self::Lost { id } => Some(*id),
            Self::Http { .. } | Self::Tool { .. } | Self::Command { .. } | Self::Tick => None,
        }
    }
}

/// A word of the host to an agent.
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
    /// An input for when the current one is done (`docs/decisions.md#steering-and-follow-ups`).
    FollowUp {
        /// The content of the input.
        parts: Vec<Part>,
        /// The options for this input only.
        #[json(default, skip_serializing_if = "Option::is_none")]
        options: Option<Box<TurnOptions>>,
    },
    /// A change of the configuration, in force from the next model call.
    Configure {
        /// A merge patch (RFC 7396) of the configuration's JSON. The session's id stays.
        #[json(like = "innerloop_json::schema::MergePatch<crate::config::SessionConfig>")]
        patch: JsonObject,
    },
    /// Makes the conversation that the model reads shorter: the oldest turns are summed up. Refused
    /// while a run is under way, and where all turns are among those that stay.
    Compact {
        /// The instructions for the summary: what it is to focus on.
        #[json(default)]
        instructions: Option<String>,
    },
    /// Takes back the newest steps; a step begins with each input. Refused while a run is under
    /// way, as are the four below (`docs/decisions.md#the-view`).
    Undo {
        /// The maximum number of steps.
        #[json(default = "one")]
        steps: u32,
    },
    /// Puts back steps that were taken back, the last one first.
    Redo {
        /// The maximum number of steps.
        #[json(default = "one")]
        steps: u32,
    },
    /// The model sees again what it saw when the log had so many turns.
    Restore {
        /// The number of turns.
        at: u32,
    },
    /// The model sees nothing of what was said so far. Can be undone.
    Clear,
    /// Takes over what was said elsewhere, behind what is there.
    Import {
        /// The turns, oldest first. Calls of the last one that have no answer are answered as
        /// interrupted.
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
    /// An input without options of its own.
    #[must_use]
    pub const fn submit(parts: Vec<Part>) -> Self {
        Self::Submit { parts, options: None }
    }

    /// An input without options of its own, for when the current one is done.
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
    /// The tools that may be called, by the names that the model is shown; all if absent. A call
    /// of another one is refused in words. The final answer can always be given.
    #[json(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// True if the other tools are not shown to the model either, which costs the provider's cache
    /// of earlier requests twice: now, and when they come back.
    #[json(skip_serializing_if = "core::ops::Not::not")]
    pub hide: bool,
    /// Files and folders of the workspace, from its root on, that calls may name; all if absent.
    /// What is not about files that it names, as a shell, is refused. Links are not followed to
    /// see where they lead.
    #[json(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// The rule for tool calls, in place of the configuration's: the model must, may or must not
    /// make them. A call that must be made must be made only once.
    #[json(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// The model's temperature: a number, 0 or more.
    #[json(skip_serializing_if = "Option::is_none", like = "Option<f64>")]
    pub temperature: Option<Json>,
}

/// News of an HTTP exchange, in the order head, chunks, end; a failure may come at any time, and
/// before the head that the request is held. A further head begins the response anew: the host was
/// restarted and carries the request out again.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum HttpInput {
    /// The host holds the request back, for others go first: the time in which something must come
    /// does not run before the request goes out.
    Held {
        /// The number of requests that go first; absent when this one goes out.
        #[json(default)]
        ahead: Option<u32>,
    },
    /// Status and headers are there.
    Head(ResponseHead),
    /// A piece of the body, cut anywhere.
    Chunk(BodyBytes),
    /// The body is whole. Answers the effect.
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
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case.
    #[json(default)]
    pub headers: Vec<(String, String)>,
    /// The wall time, for headers that name a date; 0 if unknown.
    #[json(default)]
    pub at: UnixMillis,
}

impl ResponseHead {
    /// Returns whether the status is one of success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of that name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The failure of an exchange.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct HttpFailure {
    /// The kind, which decides whether a retry makes sense.
    pub kind: HttpFailureKind,
    /// A sentence that tells the user what failed.
    pub message: String,
}

/// The kinds of broken exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum HttpFailureKind {
    /// No connection, or it broke. Worth a retry.
    Network,
    /// Nothing came for too long. Worth a retry.
    Timeout,
    /// The exchange was cancelled, as asked.
    Cancelled,
    /// The host does not send this request: unknown endpoint, missing key, redirect. No retry.
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
    /// The call may not run: a person says so, for that reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into(), by: DeniedBy::Person }
    }

    /// The call may not run: nobody is there to allow it, for that reason.
    pub fn nobody(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into(), by: DeniedBy::Nobody }
    }
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum Answer {
    /// The call may run.
    Allow,
    /// The call may run, and so may every later one of its tool.
    AllowAlways,
    /// The call may run, and so may later ones that the rule names.
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

/// A hook's reply.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
pub enum HookReply {
    /// Go on.
    Allow,
    /// Do not.
    Deny {
        /// The reason, for the model to read.
        reason: String,
    },
    /// Go on with this in its place.
    Replace(Json),
    /// The hook itself broke.
    Failed {
        /// The text that says how it broke.
        message: String,
    },
}

/// A refused input: the session is as it was, and the input comes back.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, thiserror::Error)]
#[error("{reason}")]
pub struct RejectedInput {
    /// The input, whole.
    pub input: Input,
    /// The reason why it was refused.
    pub reason: RejectionReason,
}

/// The reason why an input was refused. Each is a mistake of the host.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, thiserror::Error)]
#[json(rename_all = "snake_case", keyed)]
#[non_exhaustive]
pub enum RejectionReason {
    /// A submit, or a word to the view, while a run is under way.
    #[error("a run is under way: use steer or follow_up, or interrupt it first")]
    Busy,
    /// Any command after the session has closed.
    #[error("the session is closed: open a new one, or fork it from its log")]
    Closed,
    /// The session has no such agent.
    #[error("the session has no {0}")]
    UnknownAgent(AgentId),
    /// The session never issued such an effect.
    #[error("the session never issued {0}")]
    UnknownEffect(EffectId),
    /// The answer does not fit the effect: HTTP news for a tool's run, for example.
    #[error("that is not an answer to {0}")]
    WrongKind(EffectId),
    /// HTTP news out of order: a body before its head.
    #[error("{0} got a body before its head")]
    OutOfOrder(EffectId),
    /// A submit, steer or follow-up with nothing in it.
    #[error("the message is empty")]
    Empty,
    /// There is nothing to do it to.
    #[error("{0}")]
    Nothing(&'static str),
    /// An input that would take a model while the budget of the session is used up.
    #[error("what the session may spend is used up: raise the limit first")]
    Budget,
    /// Turns that cannot be taken over.
    #[error("the turns cannot be imported: {0}")]
    Import(&'static str),
    /// A configuration that cannot work.
    #[error("{0}")]
    Config(Box<ConfigError>),
    /// Not offered by this version.
    #[error("{0}")]
    Unsupported(&'static str),
}

impl From<ConfigError> for RejectionReason {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}
