//! Things to know (`docs/decisions.md#events`). As JSON an event is flat and told apart by `type`.

use crate::{
    action::Outcome,
    base::{
        id::{AgentId, EffectId, SessionId},
        json::Json,
        time::{SessionInstant, UnixMillis},
    },
    compaction::FoldReason,
    config::Limits,
    corrections::ReplyFault,
    message::{FoldKind, Part, RewindReason, Usage},
    model::{ProfileKind, VocabularyKind},
    status::{AgentState, RunEnd},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// One thing to know.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct Event {
    /// Counted from 1 over the whole session, without gaps.
    pub seq: u64,
    /// The session time of the event: milliseconds since the session was opened.
    pub at: SessionInstant,
    /// The time of the event in milliseconds since 1970, by the host's wall clock as it was when
    /// the session was opened or restored.
    pub wall: UnixMillis,
    /// The id of its session.
    pub session: Arc<SessionId>,
    /// The effect (a request, a tool's run, a question) whose answer led to it; none if a command
    /// or the time did.
    #[json(skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectId>,
    /// The agent that the event belongs to; the session's own agent is 0.
    pub agent: AgentId,
    /// The kind of event, with its content.
    #[json(flatten)]
    pub kind: EventKind,
}

/// The kind of an event, with its content.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The session is open.
    SessionStart {
        /// The model's name.
        model: String,
        /// The host's name for the endpoint that serves it.
        provider: String,
        /// The model family whose tools and prompt are used.
        profile: ProfileKind,
        /// Under which names the family's tools are shown.
        vocabulary: VocabularyKind,
        /// The names of the tools.
        tools: Vec<String>,
        /// The number of tokens that the model can read and write in one call.
        context_window: u32,
        /// The limits of rounds, turns and spending.
        limits: Limits,
    },
    /// The session is closed. The last event.
    SessionEnd {
        /// The state that it was in when it was closed.
        state: AgentState,
    },
    /// The user said something; a run, or a further input of it, begins.
    UserInput {
        /// The content of the user's input.
        parts: Vec<Part>,
    },
    /// A run is over and the agent is idle.
    ProcessingEnd {
        /// The way in which it ended.
        end: RunEnd,
        /// The last text of the model.
        text: String,
        /// Tokens of the run.
        usage: Usage,
        /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), as far as the prices are
        /// known.
        #[json(skip_serializing_if = "Option::is_none")]
        cost_nano_usd: Option<u64>,
        /// Model replies of the run.
        replies: u32,
        /// Tool calls of the run.
        tool_calls: u32,
        /// Rounds of tool calls of the run.
        rounds: u32,
    },
    /// The model began to write text.
    AssistantTextStart,
    /// More of the model's text.
    AssistantTextDelta {
        /// The new piece.
        text: String,
    },
    /// More of the model's thinking.
    AssistantReasoningDelta {
        /// The new piece.
        text: String,
    },
    /// A reply is whole. Comes once for each, with or without text.
    AssistantTextEnd {
        /// The whole text.
        text: String,
        /// The whole thinking, if there was any.
        #[json(skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// The tokens that the reply used, if the provider said so.
        #[json(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is
        /// known.
        #[json(skip_serializing_if = "Option::is_none")]
        cost_nano_usd: Option<u64>,
    },
    /// The output of the current reply so far does not count: the call is tried again.
    TextReset,
    /// A request for the next reply goes to the model.
    RequestStart {
        /// Which try it is, counted from 1.
        attempt: u32,
    },
    /// The host holds the request back: others go first.
    Queued {
        /// The number of requests that go first.
        ahead: u32,
    },
    /// The model writes a tool call: it begins, or more of its arguments came. Nothing is carried
    /// out before the reply is whole; `text_reset` takes it back.
    ToolCallDelta {
        /// Tells the calls of a reply apart.
        index: usize,
        /// The call's id as the model has it. `tool_call_start` has another one where that is
        /// missing or not the only one.
        call_id: String,
        /// The tool's name, as far as it has come.
        name: String,
        /// The new piece of the arguments' JSON text; empty where the call begins.
        text: String,
    },
    /// A tool call began.
    ToolCallStart {
        /// The call's id.
        call_id: String,
        /// The tool.
        name: String,
        /// The arguments' JSON text, as the model wrote it.
        arguments: String,
    },
    /// More output of a running tool.
    ToolCallOutputDelta {
        /// The call's id.
        call_id: String,
        /// The new piece.
        text: String,
    },
    /// A tool call is over.
    ToolCallEnd {
        /// The call's id.
        call_id: String,
        /// The tool.
        name: String,
        /// The full, untruncated outcome.
        outcome: Arc<Outcome>,
    },
    /// A steering message entered the history.
    SteeringInjected {
        /// The content of the message.
        parts: Vec<Part>,
    },
    /// A limit of rounds or turns ended the run.
    TurnLimit {
        /// Which limit: `max_turns` or `max_tool_rounds_per_input`.
        #[json(one_of("max_turns", "max_tool_rounds_per_input"))]
        limit: &'static str,
        /// Its value.
        value: u32,
    },
    /// The budget is used up, which ends the run; the model may still be asked to sum up.
    BudgetLimit {
        /// Which limit: `run` or `session`, a dot, and the field of it.
        #[json(one_of(
            "run.cost_nano_usd",
            "run.tokens",
            "run.ms",
            "session.cost_nano_usd",
            "session.tokens",
            "session.ms"
        ))]
        which: &'static str,
        /// The amount that is used.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// The newest calls follow a repeating pattern; the model has been told.
    LoopDetection {
        /// The text that the model was told.
        message: String,
        /// The number of calls in the pattern.
        period: usize,
    },
    /// A reply had a fault; the model has been told, and is asked again.
    Corrected {
        /// The fault.
        fault: ReplyFault,
        /// The number of times that this fault was corrected in the run, counted from 1.
        attempt: u32,
        /// The text that the model was told.
        text: String,
    },
    /// An agent was started. Its events carry its own number.
    AgentStarted {
        /// The agent that started it.
        parent: AgentId,
        /// The task that it was given.
        task: String,
        /// The model that it uses.
        model: String,
        /// The folder of the workspace that it works in, from the root on, which is empty.
        #[json(skip_serializing_if = "String::is_empty")]
        folder: String,
    },
    /// An agent is over.
    AgentEnded {
        /// True if its last run succeeded.
        success: bool,
        /// The last text that it said.
        output: String,
    },
    /// The model has written down or changed its plan.
    Plan {
        /// The whole plan, in order.
        items: Vec<PlanItem>,
    },
    /// The run's final answer in the form that was asked for.
    FinalAnswer {
        /// The answer; it fits the schema.
        value: Json,
    },
    /// A failed model call is tried again.
    Retry {
        /// Which try comes next, counted from 2.
        attempt: u32,
        /// After how long, in milliseconds.
        delay_ms: u64,
        /// The text that says what went wrong.
        message: String,
    },
    /// The model sees again what it saw before. Files are as they were.
    Rewound {
        /// The kind of rewind that the host asked for.
        why: RewindReason,
        /// The number of turns that the log had when the model saw that.
        to: u32,
        /// The number of steps that can be undone from here.
        undo_left: u32,
        /// The number of steps that can be redone.
        redo_left: u32,
    },
    /// Turns are to be folded, which takes a model or the host's hook: `compacted` or
    /// `compaction_failed` follows.
    CompactionStarted {
        /// The way in which the turns are to be folded.
        kind: FoldKind,
        /// The reason why they are to be folded.
        why: FoldReason,
        /// Tokens of the conversation, about.
        tokens: u64,
    },
    /// The model reads less of the conversation from now on. The history still has all of it.
    Compacted {
        /// The way in which the turns were folded.
        kind: FoldKind,
        /// The reason why they were folded.
        why: FoldReason,
        /// The number of turns that are left out.
        turns: usize,
        /// Tokens of the conversation before, about.
        before: u64,
        /// Tokens of the conversation from now on, about.
        after: u64,
        /// The text that stands in the place of the turns that are left out.
        #[json(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The tokens that the summary has used, if the provider said so.
        #[json(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is
        /// known.
        #[json(skip_serializing_if = "Option::is_none")]
        cost_nano_usd: Option<u64>,
    },
    /// The conversation stays as it is.
    CompactionFailed {
        /// The way in which it was to become shorter.
        kind: FoldKind,
        /// The reason why it was to become shorter.
        why: FoldReason,
        /// The reason why it did not become shorter.
        message: String,
        /// The tokens that a summary has used all the same, if the provider said so.
        #[json(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is
        /// known.
        #[json(skip_serializing_if = "Option::is_none")]
        cost_nano_usd: Option<u64>,
    },
    /// The provider's cached prefix of earlier requests no longer fits.
    PrefixRebased {
        /// The reason why it no longer fits.
        reason: &'static str,
    },
    /// Something to be aware of; the run goes on.
    Warning {
        /// The text of the warning.
        message: String,
    },
    /// Something failed for good.
    Error {
        /// The kind.
        kind: ErrorKind,
        /// The text that says what failed, and what to do.
        message: String,
    },
}

/// A step of the model's plan.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct PlanItem {
    /// The text that says what is to be done.
    pub text: String,
    /// The status of the step.
    pub status: PlanStatus,
}

/// The status of a step of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
    /// Not wanted any more.
    Cancelled,
    /// Waits for something else.
    Blocked,
}

impl PlanStatus {
    /// The status as JSON has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
        }
    }
}

/// The kinds of failure that end a run, as `incomplete`, `refused` or `failed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The endpoint does not accept the key.
    Authentication,
    /// The account's credit, quota or plan is used up.
    Quota,
    /// The endpoint limits the rate, and the retries are used up.
    RateLimit,
    /// The endpoint is overloaded, and the retries are used up.
    Overloaded,
    /// The conversation no longer fits the model.
    ContextOverflow,
    /// The endpoint does not accept the request.
    InvalidRequest,
    /// A filter of the provider refused the request or the reply.
    ContentFilter,
    /// The model refused.
    Refusal,
    /// The output limit has cut the reply.
    OutputLimit,
    /// The model's replies are empty or broken, and asking again did not help.
    Reply,
    /// The endpoint failed, and the retries are used up.
    Server,
    /// The connection failed, and the retries are used up.
    Network,
    /// The host did not send the request.
    Host,
    /// The provider sent what is not its protocol, and the retries are used up.
    Protocol,
    /// A limit is reached, and that is to count as a failure.
    Limit,
    /// The model did not give the final answer in the form that was asked for.
    Answer,
    /// A fault of our own.
    Internal,
}
