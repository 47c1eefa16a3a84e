//! The forms of a snapshot: what was said, how often, and where each agent stands. They are types
//! apart from the state that they stand for, so that the state can change without them. Whatever
//! follows from the rest is left out.

use super::{
    error::RestoreError,
    folding::{FoldingForm, PlanForm},
    input::InputForm,
    round::{self, ToolCallForm},
    run_form::{RunForm, SpentForm},
};
use crate::{
    machine::{
        agent::Agent,
        agent_state::{ChildAgent, SpawnOptions},
        ledger::{EffectKind, OpenEffect},
        model_call::{CallPurpose, CallState, HttpExchange, ModelCall},
        phase::{HookContinuation, PendingHook, PendingQuestion, Phase},
        route::{Route, ToolAccess},
    },
    rules::{budget::SpendTracker, guard::KnownFiles},
};
use alloc::{borrow::Cow, boxed::Box, string::String, sync::Arc, vec::Vec};
use innerloop_json::{FromJson, FromJsonCow, ToJson};
use innerloop_types::{
    config::{ApprovalRule, ModelConfig, NamedAgent, SessionConfig},
    id::{AgentId, EffectId},
    message::{Part, Reply, Turn},
    status::{RunEnd, SubagentState},
    time::SessionInstant,
    tool::ToolSpec,
};

/// A whole session.
#[derive(ToJson, FromJson)]
pub(super) struct SessionForm<'a> {
    pub(super) config: Cow<'a, SessionConfig>,
    pub(super) now: SessionInstant,
    /// The number of the last event.
    pub(super) events: u64,
    /// The number of the last effect.
    pub(super) effects: u64,
    /// The spending of all agents; earlier forms gave it by agent.
    #[json(default)]
    pub(super) purse: Option<SpendTracker>,
    /// The place of the model in force among those of the session.
    #[json(default, skip_serializing_if = "is_zero")]
    pub(super) model: usize,
    /// The times until which models are left alone.
    #[json(default, skip_serializing_if = "<[_]>::is_empty")]
    pub(super) off_until: Cow<'a, [SessionInstant]>,
    /// Effects that are cancelled and have not answered.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) cancelled: Vec<CancelledForm>,
    /// The session's own agent first, and each behind the one that started it.
    pub(super) agents: Vec<AgentForm<'a>>,
}

/// A cancelled effect.
#[derive(ToJson, FromJson)]
pub(super) struct CancelledForm {
    pub(super) id: EffectId,
    pub(super) agent: AgentId,
    pub(super) kind: KindForm,
    /// The time until which its answer is waited for.
    pub(super) until: SessionInstant,
}

#[derive(Clone, Copy, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub(super) enum KindForm {
    Http,
    Tool,
    Ask,
    Hook,
}

#[derive(ToJson, FromJson)]
pub(super) struct AgentForm<'a> {
    pub(super) id: AgentId,
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) spawned: Option<SpawnedForm<'a>>,
    pub(super) turns: Cow<'a, [Turn]>,
    #[json(default, skip_serializing_if = "is_empty")]
    pub(super) steering: Cow<'a, [Vec<Part>]>,
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) follow_ups: Vec<InputForm<'a>>,
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<ChildForm<'a>>,
    #[json(default, skip_serializing_if = "has_none")]
    pub(super) known_files: Cow<'a, KnownFiles>,
    #[json(default, skip_serializing_if = "allows_none")]
    pub(super) allowed: Cow<'a, [ApprovalRule]>,
    #[json(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) warned_of_fullness: bool,
    #[json(default, skip_serializing_if = "FoldingForm::is_nothing")]
    pub(super) folding: FoldingForm,
    #[json(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) succeeded: bool,
    /// The cost of the runs before the current one.
    #[json(default, skip_serializing_if = "SpentForm::is_nothing")]
    pub(super) past: SpentForm,
    #[json(default)]
    pub(super) run: RunForm<'a>,
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<CallForm<'a>>,
    pub(super) phase: PhaseForm<'a>,
}

const fn is_zero(place: &usize) -> bool {
    *place == 0
}

fn is_empty(queue: &[Vec<Part>]) -> bool {
    queue.is_empty()
}

fn has_none(files: &KnownFiles) -> bool {
    files.is_empty()
}

const fn allows_none(rules: &[ApprovalRule]) -> bool {
    rules.is_empty()
}

/// The options that an agent was started with.
#[derive(ToJson, FromJson)]
pub(super) struct SpawnedForm<'a> {
    pub(super) parent: AgentId,
    #[json(default, skip_serializing_if = "str::is_empty")]
    pub(super) name: Cow<'a, str>,
    /// The agent that the name stood for.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) named: Option<Cow<'a, NamedAgent>>,
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<Cow<'a, str>>,
    /// The folder that it works in. The `working_dir` of older snapshots is not this: only the
    /// prompt named it, and the agent worked in the root.
    #[json(default, skip_serializing_if = "str::is_empty")]
    pub(super) folder: Cow<'a, str>,
    #[json(default)]
    pub(super) max_turns: u32,
}

/// An agent that this one started.
#[derive(ToJson, FromJson)]
pub(super) struct ChildForm<'a> {
    pub(super) id: AgentId,
    pub(super) state: ChildStateForm,
    /// The number of turns that there were when it was started; earlier forms did not give it.
    #[json(default)]
    pub(super) since: u32,
    /// The result that it had when its last run ended, where it says something else by now.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) last: Option<LastForm<'a>>,
}

#[derive(ToJson, FromJson)]
pub(super) struct LastForm<'a> {
    pub(super) output: Cow<'a, str>,
    pub(super) turns: u32,
}

#[derive(Clone, Copy, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub(super) enum ChildStateForm {
    Running,
    Completed,
    Failed,
    Closed,
}

/// A model call.
#[derive(ToJson, FromJson)]
pub(super) struct CallForm<'a> {
    pub(super) purpose: PurposeForm<'a>,
    pub(super) attempt: u32,
    /// Its route, where another one is in force.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub(super) route: Option<RouteForm<'a>>,
    pub(super) state: CallStateForm<'a>,
}

#[derive(ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
pub(super) enum PurposeForm<'a> {
    Reply,
    Summary { plan: Box<PlanForm<'a>> },
}

/// The parts that a route is made from.
#[derive(ToJson, FromJson)]
pub(super) struct RouteForm<'a> {
    pub(super) model: Cow<'a, ModelConfig>,
    pub(super) system: Cow<'a, str>,
    pub(super) tools: Cow<'a, [Arc<ToolSpec>]>,
}

#[derive(ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one for each open call")]
pub(super) enum CallStateForm<'a> {
    Sent {
        effect: EffectId,
        /// The time when the request went out; that of `active_at` if absent.
        #[json(default, skip_serializing_if = "Option::is_none")]
        sent_at: Option<SessionInstant>,
        #[json(default, skip_serializing_if = "Option::is_none")]
        first_at: Option<SessionInstant>,
        active_at: SessionInstant,
        #[json(default, skip_serializing_if = "core::ops::Not::not")]
        held: bool,
        #[json(default, skip_serializing_if = "core::ops::Not::not")]
        shown: bool,
        #[json(default, skip_serializing_if = "core::ops::Not::not")]
        text_begun: bool,
        /// Thousandths of a token that have come, about.
        #[json(default, skip_serializing_if = "Option::is_none")]
        written: Option<u64>,
        #[json(default, skip_serializing_if = "Option::is_none")]
        whole: Option<Cow<'a, Reply>>,
        /// The text that has come of a reply that people watch.
        #[json(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    Waiting {
        until: SessionInstant,
    },
}

#[derive(ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
pub(super) enum PhaseForm<'a> {
    Idle,
    Hooked { effect: EffectId, then: ThenForm<'a> },
    Asked { effect: EffectId, question: Cow<'a, str> },
    ModelCall,
    Folding,
    Round { calls: Vec<ToolCallForm<'a>> },
    Closing,
    Closed,
}

#[derive(ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
pub(super) enum ThenForm<'a> {
    Input { parts: Cow<'a, [Part]> },
    Call,
    Round,
    Stop,
    Answer { answer: Cow<'a, str> },
    Give { answer: Cow<'a, str> },
    Out { end: RunEnd },
    Fold { plan: PlanForm<'a> },
}

impl CancelledForm {
    pub(super) fn of((id, entry): (EffectId, &OpenEffect)) -> Option<Self> {
        let kind = match entry.kind {
            EffectKind::Http => KindForm::Http,
            EffectKind::Tool => KindForm::Tool,
            EffectKind::Ask => KindForm::Ask,
            EffectKind::Hook => KindForm::Hook,
        };
        // An effect that is not cancelled is not stored here: whoever waits for it says so in its
        // own form.
        Some(Self { id, agent: entry.agent, kind, until: entry.grace? })
    }

    pub(super) const fn entry(&self) -> (EffectId, OpenEffect) {
        let kind = match self.kind {
            KindForm::Http => EffectKind::Http,
            KindForm::Tool => EffectKind::Tool,
            KindForm::Ask => EffectKind::Ask,
            KindForm::Hook => EffectKind::Hook,
        };
        (self.id, OpenEffect { agent: self.agent, kind, grace: Some(self.until) })
    }
}

impl<'a> SpawnedForm<'a> {
    pub(super) fn of(options: &'a SpawnOptions) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            parent: options.parent,
            name: Cow::Borrowed(options.name()),
            named: options.named.as_ref().map(|(_, named)| Cow::Borrowed(named)),
            model: text(&options.model),
            folder: Cow::Borrowed(&options.folder),
            max_turns: options.max_turns,
        }
    }

    pub(super) fn options(self, depth: u32) -> SpawnOptions {
        SpawnOptions {
            parent: self.parent,
            depth,
            named: self.named.map(|named| (self.name.into_owned(), FromJsonCow::read_value(named))),
            model: self.model.map(Cow::into_owned),
            folder: self.folder.into_owned(),
            max_turns: self.max_turns,
        }
    }
}

impl<'a> ChildForm<'a> {
    /// Returns the form of a child whose result is `output` after `turns` turns by now.
    pub(super) fn of(id: AgentId, child: &'a ChildAgent, output: &str, turns: u32) -> Self {
        let state = match child.state {
            SubagentState::Running => ChildStateForm::Running,
            SubagentState::Completed => ChildStateForm::Completed,
            SubagentState::Failed => ChildStateForm::Failed,
            SubagentState::Closed => ChildStateForm::Closed,
        };
        // A child that is idle says the same as when its run ended, which is most of the time: its
        // result is in its own history already.
        let is_same = child.output == output && child.turns == turns;
        let last = LastForm { output: Cow::Borrowed(&child.output), turns: child.turns };
        Self { id, state, since: child.since, last: (!is_same).then_some(last) }
    }

    /// Returns the child, whose result is `output` after `turns` turns by now, and which is `over`
    /// or not.
    pub(super) fn child(self, output: String, turns: u32, over: bool) -> ChildAgent {
        let state = match self.state {
            ChildStateForm::Running => SubagentState::Running,
            ChildStateForm::Completed => SubagentState::Completed,
            ChildStateForm::Failed => SubagentState::Failed,
            ChildStateForm::Closed => SubagentState::Closed,
        };
        let (output, turns) = match self.last {
            Some(last) => (last.output.into_owned(), last.turns),
            None => (output, turns),
        };
        ChildAgent { state, output, turns, since: self.since, over }
    }
}

impl<'a> CallForm<'a> {
    /// Returns the form of a call while `in_force` is the route of its agent.
    pub(super) fn of(call: &'a ModelCall, in_force: &Route) -> Self {
        let (purpose, tools) = match &call.purpose {
            CallPurpose::Reply(tools) => (PurposeForm::Reply, *tools),
            CallPurpose::Summary(plan) => {
                (PurposeForm::Summary { plan: Box::new(PlanForm::of(plan)) }, ToolAccess::On)
            }
        };
        let is_same = call.route.is_made_like(in_force, tools);
        Self {
            purpose,
            attempt: call.attempt,
            route: (!is_same).then(|| RouteForm::of(&call.route)),
            state: match &call.state {
                CallState::Waiting { until } => CallStateForm::Waiting { until: *until },
                CallState::Sent(exchange) => CallStateForm::Sent {
                    effect: exchange.effect,
                    sent_at: Some(exchange.sent_at),
                    first_at: exchange.first_at,
                    active_at: exchange.active_at,
                    held: exchange.held,
                    shown: exchange.shown,
                    text_begun: exchange.text_begun,
                    written: exchange.written,
                    whole: exchange.whole.as_deref().map(Cow::Borrowed),
                    said: exchange.said(),
                },
            },
        }
    }

    /// Returns the call of an agent whose route is `in_force`; `tools` is what its run lets replies
    /// use.
    pub(super) fn call(self, in_force: &Arc<Route>, tools: ToolAccess) -> ModelCall {
        ModelCall {
            purpose: match self.purpose {
                PurposeForm::Reply => CallPurpose::Reply(tools),
                PurposeForm::Summary { plan } => CallPurpose::Summary(Box::new(plan.plan())),
            },
            route: match self.route {
                Some(route) => Arc::new(route.route(tools)),
                // Shared, as before the snapshot: the head of requests is encoded once.
                None => Arc::clone(in_force),
            },
            attempt: self.attempt,
            state: match self.state {
                CallStateForm::Waiting { until } => CallState::Waiting { until },
                CallStateForm::Sent {
                    effect,
                    sent_at,
                    first_at,
                    active_at,
                    held,
                    shown,
                    text_begun,
                    written,
                    whole,
                    said,
                } => {
                    let whole = whole.map(|reply| Box::new(FromJsonCow::read_value(reply)));
                    // Without a decoder: the host carries the request out again, and the response
                    // begins anew.
                    let mut sent = HttpExchange::new(effect, sent_at.unwrap_or(active_at));
                    (sent.active_at, sent.first_at, sent.held) = (active_at, first_at, held);
                    (sent.shown, sent.text_begun) = (shown, text_begun);
                    (sent.written, sent.whole) = (written, whole);
                    sent.said = said.unwrap_or_default();
                    CallState::Sent(sent)
                }
            },
        }
    }
}

impl<'a> RouteForm<'a> {
    pub(super) fn of(route: &'a Route) -> Self {
        Self {
            model: Cow::Borrowed(&route.model),
            system: Cow::Borrowed(&route.system),
            tools: Cow::Borrowed(&route.tools),
        }
    }

    fn route(self, tools: ToolAccess) -> Route {
        let (model, system) = (FromJsonCow::read_value(self.model), self.system.into_owned());
        Route::new(model, system, FromJsonCow::read_value(self.tools), tools == ToolAccess::Off)
    }
}

impl<'a> PhaseForm<'a> {
    pub(super) fn of(agent: &'a Agent) -> Self {
        match &agent.phase {
            Phase::Idle => Self::Idle,
            Phase::Hooked(hooked) => Self::Hooked {
                effect: hooked.effect,
                then: match &hooked.then {
                    HookContinuation::Input(parts) => {
                        ThenForm::Input { parts: Cow::Borrowed(parts) }
                    }
                    HookContinuation::Call => ThenForm::Call,
                    HookContinuation::Round => ThenForm::Round,
                    HookContinuation::Stop => ThenForm::Stop,
                    HookContinuation::Answer(answer) => {
                        ThenForm::Answer { answer: Cow::Borrowed(answer) }
                    }
                    HookContinuation::Give(answer) => {
                        ThenForm::Give { answer: Cow::Borrowed(answer) }
                    }
                    HookContinuation::Out(end) => ThenForm::Out { end: *end },
                    HookContinuation::Fold(plan) => ThenForm::Fold { plan: PlanForm::of(plan) },
                },
            },
            Phase::Asked(asked) => {
                Self::Asked { effect: asked.effect, question: Cow::Borrowed(&asked.question) }
            }
            Phase::ModelCall => Self::ModelCall,
            Phase::Folding => Self::Folding,
            Phase::Round(round) => Self::Round { calls: round::forms(round, agent) },
            Phase::Closing => Self::Closing,
            Phase::Closed => Self::Closed,
        }
    }

    /// Returns the phase of that agent.
    pub(super) fn phase(self, agent: &Agent) -> Result<Phase, RestoreError> {
        Ok(match self {
            Self::Idle => Phase::Idle,
            Self::Hooked { effect, then } => {
                let then = match then {
                    ThenForm::Input { parts } => {
                        HookContinuation::Input(FromJsonCow::read_value(parts))
                    }
                    ThenForm::Call => HookContinuation::Call,
                    ThenForm::Round => HookContinuation::Round,
                    ThenForm::Stop => HookContinuation::Stop,
                    ThenForm::Answer { answer } => HookContinuation::Answer(answer.into_owned()),
                    ThenForm::Give { answer } => HookContinuation::Give(answer.into_owned()),
                    ThenForm::Out { end } => HookContinuation::Out(end),
                    ThenForm::Fold { plan } => HookContinuation::Fold(Box::new(plan.plan())),
                };
                Phase::Hooked(Box::new(PendingHook { effect, then }))
            }
            Self::Asked { effect, question } => {
                Phase::Asked(Box::new(PendingQuestion { effect, question: question.into_owned() }))
            }
            Self::ModelCall => Phase::ModelCall,
            Self::Folding => Phase::Folding,
            Self::Round { calls } => Phase::Round(round::restored(calls, agent)?),
            Self::Closing => Phase::Closing,
            Self::Closed => Phase::Closed,
        })
    }
}
