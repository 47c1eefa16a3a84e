//! Events: what a host may show (`docs/decisions.md#events`). As JSON an event is flat, and `type`
//! is its kind. An event needs no answer, and no session reads events back.

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
    model::{ModelOrigin, ProfileKind, VocabularyKind},
    status::{AgentState, RunEnd},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// One event for the host.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct Event {
    /// Counted from 1 over the whole session, without gaps.
    // Without gaps, so that a host that was away can tell what it has missed.
    pub seq: u64,
    /// The session time of the event, in milliseconds since the session was opened.
    pub at: SessionInstant,
    /// The time of the event in milliseconds since 1970, derived from the host's wall clock when
    /// the session was opened or restored.
    // Computed from the session time, never read anew: a replay must give the same events, byte for
    // byte.
    pub wall: UnixMillis,
    /// The id of its session.
    // Shared: each event carries it, also the many deltas of a long reply.
    pub session: Arc<SessionId>,
    /// The effect (a request, a tool's run, a question) whose answer led to it; absent if a command
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
        /// The name of the model.
        model: String,
        /// The host's name for the endpoint that serves it.
        provider: String,
        /// The model family whose tools and prompt are used.
        profile: ProfileKind,
        /// The vocabulary under which the family's tools are shown.
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
    /// The user's input: a run begins, or a further input of the same run.
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
        /// The number of the model's replies in the run.
        replies: u32,
        /// The number of tool calls in the run.
        tool_calls: u32,
        /// The number of rounds of tool calls in the run.
        rounds: u32,
    },
    /// The model began to write text.
    AssistantTextStart,
    /// More of the model's text.
    AssistantTextDelta {
        /// The new piece of text.
        text: String,
    },
    /// More of the model's thinking.
    AssistantReasoningDelta {
        /// The new piece of thinking.
        text: String,
    },
    /// A reply is complete. This event comes once for each reply, with or without text.
    // Whole texts come besides the deltas: a host may leave the deltas out, and a key that a server
    // sent in pieces is masked only here.
    AssistantTextEnd {
        /// The whole text of the reply.
        text: String,
        /// The whole thinking, if there was any.
        #[json(skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// The tokens that the reply used, if the provider reported them.
        #[json(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is
        /// known.
        #[json(skip_serializing_if = "Option::is_none")]
        cost_nano_usd: Option<u64>,
        /// The time from the request to the first piece of the reply, in milliseconds; absent if
        /// the reply was not streamed, or was cut off.
        #[json(skip_serializing_if = "Option::is_none")]
        ttft_ms: Option<u64>,
        /// The time from the request to the end of the reply, in milliseconds; absent if it was cut
        /// off.
        #[json(skip_serializing_if = "Option::is_none")]
        ms: Option<u64>,
    },
    /// The current reply's output so far is void: the model is called again.
    TextReset,
    /// A request for the next reply is sent to the model.
    RequestStart {
        /// The number of the try, counted from 1.
        attempt: u32,
        /// The model that it goes to.
        model: String,
    },
    /// The host holds the request back, since others are ahead of it.
    Queued {
        /// The number of requests ahead of it.
        ahead: u32,
    },
    /// The model writes a tool call: the call begins, or more of its arguments arrived. Nothing is
    /// carried out before the reply is complete; `text_reset` voids it.
    ToolCallDelta {
        /// The number that distinguishes the calls of a reply.
        index: usize,
        /// The model's id for the call. `tool_call_start` has another one if this one is empty or
        /// not unique.
        call_id: String,
        /// The tool's name, as far as it has arrived.
        name: String,
        /// The new piece of the arguments' JSON text; empty when the call begins.
        text: String,
    },
    /// A tool call began.
    ToolCallStart {
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The arguments' JSON text, as the model wrote it.
        arguments: String,
    },
    /// More output of a running tool.
    ToolCallOutputDelta {
        /// The id of the call.
        call_id: String,
        /// The new piece of output.
        text: String,
    },
    /// A tool call is over.
    ToolCallEnd {
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The full, untruncated outcome.
        // Shared with the call that is being answered, and in full: only what the model reads is
        // cut.
        outcome: Arc<Outcome>,
    },
    /// An output of which the model has read only a part is kept for `read_result`.
    ResultKept {
        /// The id under which it is kept.
        id: String,
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The number of its characters.
        chars: u64,
        /// The whole text, for the driver that keeps it; the driver's hosts get an empty text.
        // Not only in `tool_call_end`: a hook may have put another text in the output's place,
        // since what it took out must not be read by another way.
        #[json(skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// A steering message entered the history.
    SteeringInjected {
        /// The content of the message.
        parts: Vec<Part>,
    },
    /// A limit of rounds or turns ended the run.
    TurnLimit {
        /// The limit: `max_turns` or `max_tool_rounds_per_input`.
        #[json(one_of("max_turns", "max_tool_rounds_per_input"))]
        // A field's path in the configuration, as a constant: hosts compare it, and it names what
        // to raise.
        limit: &'static str,
        /// The value of the limit.
        value: u32,
    },
    /// The budget is used up, which ends the run; the model may still be asked for a summary.
    BudgetLimit {
        /// The limit's path below `limits`, for example `run.tokens`.
        #[json(one_of(
            "run.cost_nano_usd",
            "run.tokens",
            "run.ms",
            "session.cost_nano_usd",
            "session.tokens",
            "session.ms"
        ))]
        which: &'static str,
        /// The amount used.
        used: u64,
        /// The value of the limit.
        limit: u64,
    },
    /// The newest calls follow a repeating pattern; the model has been told.
    LoopDetection {
        /// The text that the model was told.
        message: String,
        /// The number of calls in the pattern.
        period: usize,
    },
    /// A reply had a fault; the model has been told, and is called again.
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
        /// The folder of the workspace that it works in, relative to the root; empty for the root.
        #[json(skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The name in `agents` by which it was started, if it has one.
        #[json(skip_serializing_if = "String::is_empty")]
        name: String,
    },
    /// An agent is over.
    AgentEnded {
        /// True if its last run succeeded.
        success: bool,
        /// Its last text.
        output: String,
    },
    /// The model has written or changed its plan.
    Plan {
        /// The whole plan, in order.
        items: Vec<PlanItem>,
    },
    /// The run's final answer in the required form.
    FinalAnswer {
        /// The answer; it fits the schema.
        value: Json,
    },
    /// A failed model call is tried again.
    Retry {
        /// The number of the next try, counted from 2.
        attempt: u32,
        /// The delay before it, in milliseconds.
        delay_ms: u64,
        /// The text that says what went wrong.
        message: String,
    },
    /// A model was chosen for an input, in a session that has several.
    Routed {
        /// The model.
        to: ModelOrigin,
        /// The kind of the task, if the input shows one and models are chosen by it.
        #[json(skip_serializing_if = "Option::is_none")]
        task: Option<&'static str>,
    },
    /// A model has failed, and another one takes over at once.
    Rerouted {
        /// The model that has failed.
        failed: ModelOrigin,
        /// The one that takes over.
        to: ModelOrigin,
        /// The text that says what went wrong.
        message: String,
    },
    /// The model's view of an earlier time is restored. Files do not change.
    Rewound {
        /// The kind of rewind that the host asked for.
        why: RewindReason,
        /// The number of turns in the log at that time.
        to: u32,
        /// The number of steps that can be undone from here.
        undo_left: u32,
        /// The number of steps that can be redone.
        redo_left: u32,
    },
    /// Turns are about to be folded by a model or the host's hook; `compacted` or
    /// `compaction_failed` follows.
    CompactionStarted {
        /// The way in which the turns are to be folded.
        kind: FoldKind,
        /// The reason why they are to be folded.
        why: FoldReason,
        /// The approximate number of tokens of the conversation.
        tokens: u64,
    },
    /// The model reads less of the conversation from now on. The history keeps all of it.
    // The text is in the event as well as in the history: it stands in place of turns that the
    // model no longer reads, so that a person must be able to see it.
    Compacted {
        /// The way in which the turns were folded.
        kind: FoldKind,
        /// The reason why they were folded.
        why: FoldReason,
        /// The number of turns that are left out.
        turns: usize,
        /// The approximate number of tokens of the conversation before.
        before: u64,
        /// The approximate number of tokens of the conversation from now on.
        after: u64,
        /// The text that replaces the turns that are left out.
        #[json(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The tokens that the summary has used, if the provider reported them.
        #[json(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is
        /// known.
        #[json(skip_serializing_if = "Option::is_none")]
        cost_nano_usd: Option<u64>,
    },
    /// The conversation could not be shortened and does not change.
    CompactionFailed {
        /// The way in which it was to be shortened.
        kind: FoldKind,
        /// The reason why it was to be shortened.
        why: FoldReason,
        /// The reason why it was not shortened.
        message: String,
        /// The tokens that a summary has used nevertheless, if the provider reported them.
        #[json(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is
        /// known.
        #[json(skip_serializing_if = "Option::is_none")]
        cost_nano_usd: Option<u64>,
    },
    /// The prefix of earlier requests that the provider has cached no longer matches.
    PrefixRebased {
        /// The reason why it no longer matches.
        reason: &'static str,
    },
    /// Something to be aware of; the run goes on.
    Warning {
        /// The text of the warning.
        message: String,
    },
    /// A permanent failure.
    Error {
        /// The kind of failure.
        kind: ErrorKind,
        /// The text that describes the failure, and what to do.
        message: String,
    },
}

/// A step of the model's plan.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct PlanItem {
    /// The task of the step.
    pub text: String,
    /// The status of the step.
    pub status: PlanStatus,
}

/// The status of a step of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum PlanStatus {
    /// The step has not begun.
    Pending,
    /// The step is under way.
    InProgress,
    /// The step is done.
    Completed,
    /// The step is no longer wanted.
    Cancelled,
    /// The step waits for something else.
    Blocked,
}

impl PlanStatus {
    /// Returns the status as in JSON.
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
    /// The endpoint refused the key.
    Authentication,
    /// The account's credit, quota or plan is used up.
    Quota,
    /// The endpoint limits the rate, and the retries are used up.
    RateLimit,
    /// The endpoint is overloaded, and the retries are used up.
    Overloaded,
    /// The conversation no longer fits the model.
    ContextOverflow,
    /// The endpoint refused the request.
    InvalidRequest,
    /// A filter of the provider refused the request or the reply.
    ContentFilter,
    /// The model refused to answer.
    Refusal,
    /// The output limit cut the reply.
    OutputLimit,
    /// The model's replies are empty or broken, and a retry did not help.
    Reply,
    /// The endpoint failed, and the retries are used up.
    Server,
    /// The connection failed, and the retries are used up.
    Network,
    /// The host did not send the request.
    Host,
    /// The provider broke its protocol, and the retries are used up.
    Protocol,
    /// A limit is reached, and `limits.action` makes that a failure.
    Limit,
    /// The model did not give the final answer in the required form.
    Answer,
    /// A bug in Innerloop itself.
    Internal,
}
