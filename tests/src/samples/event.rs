//! What there is to know, and where an agent stands.

use super::{
    action::outcome,
    message::{opaque, parts, usage},
    visitor::{Visitor, one_of_each},
};
use innerloop_core::{
    compaction::FoldReason,
    config::{Limits, ModelOrigin, ProfileKind, VocabularyKind},
    corrections::ReplyFault,
    event::{ErrorKind, Event, EventKind, PlanItem, PlanStatus},
    id::{AgentId, EffectId, EndpointId, SessionId},
    message::{FoldKind, RewindReason, Usage},
    status::{AgentState, RunEnd, Status},
    time::{SessionInstant, UnixMillis},
};
use std::sync::Arc;

pub(super) fn visit(visitor: &mut impl Visitor) {
    let states: Vec<AgentState> = one_of_each!(AgentState: Idle, Processing, AwaitingInput, Closed);
    visitor.visit("AgentState", &states);
    let ends: Vec<RunEnd> = one_of_each!(RunEnd:
        Completed, Limit, Budget, Loop, Interrupted, Denied, Unverified,
        Incomplete, Refused, Failed,
    );
    visitor.visit("RunEnd", &ends);
    visitor.visit("ErrorKind", &error_kinds());
    let reasons: Vec<FoldReason> = one_of_each!(FoldReason: Full, Overflow, Asked);
    visitor.visit_read("FoldReason", &reasons);
    let status = |state, cost_nano_usd| {
        let compacting = state == AgentState::Processing;
        Status { state, compacting, turns: 2, tool_calls: 1, usage: usage(), cost_nano_usd }
    };
    let idle = |cost_nano_usd| status(AgentState::Idle, cost_nano_usd);
    let statuses = [idle(None), idle(Some(1_500)), status(AgentState::Processing, None)];
    visitor.visit("Status", &statuses);
    visitor.visit("ReplyFault", &ReplyFault::ALL);
    let kinds = kinds().into_iter().chain(fold_kinds()).chain(plain_kinds());
    let kinds = kinds.chain(limit_kinds()).chain(result_kinds());
    let events: Vec<Event> = (1..).zip(kinds).map(stamped).collect();
    visitor.visit("Event", &events);
}

pub(super) fn stamped((seq, kind): (u64, EventKind)) -> Event {
    let effect = matches!(kind, EventKind::AssistantTextDelta { .. }).then_some(EffectId(7));
    let session = Arc::new(SessionId("s-1".into()));
    let (at, wall) = (SessionInstant(40), UnixMillis(1_800_000_040));
    Event { seq, at, wall, session, agent: AgentId::ROOT, effect, kind }
}

fn plan() -> Vec<PlanItem> {
    let statuses: Vec<PlanStatus> =
        one_of_each!(PlanStatus: Pending, InProgress, Completed, Cancelled, Blocked);
    statuses.into_iter().map(|status| PlanItem { text: "a step".into(), status }).collect()
}

fn error_kinds() -> Vec<ErrorKind> {
    one_of_each!(open ErrorKind:
        Authentication, Quota, RateLimit, Overloaded, ContextOverflow, InvalidRequest,
        ContentFilter, Refusal, OutputLimit, Reply, Server, Network, Host, Protocol, Limit,
        Answer, Internal,
    )
}

fn kinds() -> Vec<EventKind> {
    let (call_id, name) = (String::from("call_1"), String::from("read_file"));
    let [text, reasoning] = ["Hello", "Hmm"].map(String::from);
    let (told, cost_nano_usd, ttft_ms, ms) = (Some(usage()), Some(700), Some(400), Some(2_000));
    one_of_each!(open EventKind:
        SessionStart {
            model: "claude-sonnet-4-5".into(),
            provider: "anthropic".into(),
            profile: ProfileKind::Anthropic,
            vocabulary: VocabularyKind::Seed,
            tools: vec!["read_file".into(), "grep".into()],
            context_window: 200_000,
            limits: Limits::default(),
        },
        SessionEnd { state: AgentState::Idle },
        UserInput { parts: parts() },
        ProcessingEnd {
            end: RunEnd::Completed,
            text: "done".into(),
            usage: usage(),
            cost_nano_usd: Some(1_500),
            replies: 2,
            tool_calls: 1,
            rounds: 1,
        },
        AssistantTextStart,
        AssistantTextDelta { text: "He".into() },
        AssistantReasoningDelta { text: "Hm".into() },
        AssistantTextEnd { text, reasoning, usage: told, cost_nano_usd, ttft_ms, ms },
        TextReset,
        RequestStart { attempt: 1, model: "mock-1".into() },
        ToolCallDelta {
            index: 1,
            call_id: call_id.clone(),
            name: name.clone(),
            text: "{\"file_path\":\"a".into(),
        },
        ToolCallStart { call_id: call_id.clone(), name: name.clone(), arguments: "{}".into() },
        ToolCallOutputDelta { call_id: call_id.clone(), text: "so far".into() },
        ToolCallEnd { call_id, name, outcome: Arc::new(outcome()) },
        SteeringInjected { parts: parts() },
        TurnLimit { limit: "max_turns", value: 3 },
        BudgetLimit { which: "run.tokens", used: 5_200, limit: 5_000 },
        LoopDetection { message: "You repeat yourself.".into(), period: 1 },
        Corrected { fault: ReplyFault::Greeting, attempt: 1, text: "Go on.".into() },
        AgentStarted {
            parent: AgentId::ROOT,
            task: "look".into(),
            model: "mock-1".into(),
            folder: "sub".into(),
            name: "reviewer".into(),
        },
        AgentEnded { success: true, output: "found".into() },
        Plan { items: plan() },
        FinalAnswer { value: opaque() },
        Retry { attempt: 2, delay_ms: 500, message: "overloaded".into() },
        Routed { to: origin("mock-1"), task: Some("debug") },
        Rerouted { failed: origin("m-1"), to: origin("m-2"), message: "overloaded".into() },
        PrefixRebased { reason: "the model changed" },
        Warning { message: "mind".into() },
        Error { kind: ErrorKind::Limit, message: "too many turns".into() },
        Rewound { why: RewindReason::Undo, to: 6, undo_left: 2, redo_left: 1 },
    )
}

fn origin(model: &str) -> ModelOrigin {
    ModelOrigin { endpoint: EndpointId("mock".into()), model: model.into() }
}

fn fold_kinds() -> Vec<EventKind> {
    one_of_each!(open EventKind:
        CompactionStarted {
            kind: FoldKind::Summary,
            why: FoldReason::Full,
            tokens: 180_000,
        },
        Compacted {
            kind: FoldKind::Summary,
            why: FoldReason::Overflow,
            turns: 42,
            before: 180_000,
            after: 62_000,
            text: Some("The summary".into()),
            usage: Some(usage()),
            cost_nano_usd: Some(700),
        },
        CompactionFailed {
            kind: FoldKind::Archive,
            why: FoldReason::Asked,
            message: "the disk is full".into(),
            usage: Some(usage()),
            cost_nano_usd: Some(700),
        },
    )
}

/// Events without what may be absent, and with other names of what has only names.
fn plain_kinds() -> Vec<EventKind> {
    let (text, usage) = (String::new(), Usage::default());
    vec![
        EventKind::ProcessingEnd {
            end: RunEnd::Failed,
            text: text.clone(),
            usage,
            cost_nano_usd: None,
            replies: 0,
            tool_calls: 0,
            rounds: 0,
        },
        EventKind::AssistantTextEnd {
            text,
            reasoning: String::new(),
            usage: None,
            cost_nano_usd: None,
            ttft_ms: None,
            ms: None,
        },
        EventKind::TurnLimit { limit: "max_tool_rounds_per_input", value: 3 },
        EventKind::Compacted {
            kind: FoldKind::Stub,
            why: FoldReason::Full,
            turns: 0,
            before: 6_000,
            after: 4_000,
            text: None,
            usage: None,
            cost_nano_usd: None,
        },
        EventKind::CompactionFailed {
            kind: FoldKind::Summary,
            why: FoldReason::Full,
            message: "the summary is blank".into(),
            usage: None,
            cost_nano_usd: None,
        },
        EventKind::Queued { ahead: 2 },
    ]
}

/// The other limits of what may be spent.
fn limit_kinds() -> impl Iterator<Item = EventKind> {
    let names =
        ["run.cost_nano_usd", "run.ms", "session.cost_nano_usd", "session.tokens", "session.ms"];
    names.into_iter().map(|which| EventKind::BudgetLimit { which, used: 5_200, limit: 5_000 })
}

fn result_kinds() -> Vec<EventKind> {
    one_of_each!(open EventKind:
        ResultKept {
            id: "result-17".into(),
            call_id: "call_17".into(),
            name: "shell".into(),
            chars: 48_210,
            text: "the whole output".into(),
        },
    )
}
