//! Snapshots of version 2, which held the machine's own state. What follows from the rest is
//! passed over.

use super::{
    folding::FoldingForm,
    form::{
        AgentForm, CallForm, CallStateForm, CancelledForm, ChildForm, ChildStateForm, KindForm,
        LastForm, PhaseForm, PurposeForm, RepairsForm, RouteForm, RunForm, SpawnedForm, SpentForm,
        State, ThenForm,
    },
    input::InputForm,
    round::{ToolCallForm, ToolCallStateForm},
};
use crate::{
    base::{
        id::{AgentId, EffectId},
        json::Json,
        time::Instant,
    },
    machine::setup::Setup,
    profile::inner::FINAL_ANSWER,
    rules::guard::KnownFiles,
    types::{
        action::Outcome,
        config::{ApprovalRule, ConfigError, SessionConfig},
        message::{Part, Reply, ToolCall, ToolResult, Turn, Usage},
        status::RunEnd,
    },
};
use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use innerloop_json::{Error, FromJson, Reader};

#[derive(FromJson)]
pub(super) struct State2 {
    config: SessionConfig,
    now: Instant,
    seq: u64,
    ledger: Ledger2,
    agents: Vec<Agent2>,
}

#[derive(FromJson)]
struct Ledger2 {
    issued: u64,
    open: Vec<(EffectId, Entry2)>,
}

#[derive(FromJson)]
struct Entry2 {
    agent: AgentId,
    kind: Kind2,
    grace: Option<Instant>,
}

#[derive(FromJson)]
enum Kind2 {
    Http,
    Tool,
    Ask,
    Hook,
}

#[derive(FromJson)]
struct Agent2 {
    id: AgentId,
    scope: Option<Scope2>,
    turns: Vec<Turn>,
    memory: Memory2,
    run: Run2,
    phase: Phase2,
    /// The configuration that the open model call was made with, where another one is in force.
    sent_with: Option<SessionConfig>,
}

#[derive(FromJson)]
struct Scope2 {
    parent: AgentId,
    depth: u32,
    model: Option<String>,
    max_turns: u32,
}

#[derive(FromJson)]
struct Memory2 {
    aside: Option<Aside2>,
    full: bool,
    succeeded: bool,
    past: Counts2,
}

#[derive(Default, FromJson)]
struct Aside2 {
    steering: Vec<Vec<Part>>,
    follow_ups: Vec<Vec<Part>>,
    children: Children2,
    known: KnownFiles,
    allowed: Vec<ApprovalRule>,
}

/// The agents that were started, by number.
#[derive(Default)]
struct Children2(Vec<(AgentId, Child2)>);

#[derive(FromJson)]
struct Child2 {
    state: ChildStateForm,
    output: String,
    turns: u32,
}

#[derive(FromJson)]
struct Run2 {
    counts: Counts2,
    repairs: RepairsForm,
    epilogue: Option<RunEnd>,
    answer: Option<String>,
    result: Option<String>,
}

#[derive(FromJson)]
struct Counts2 {
    inputs: u32,
    replies: u32,
    tool_calls: u32,
    usage: Usage,
    cost_nano_usd: Option<u64>,
}

#[derive(FromJson)]
enum Phase2 {
    Idle,
    Hooked(Box<Hooked2>),
    Asked(Box<Asked2>),
    Calling(Box<Calling2>),
    Waiting(Waiting2),
    Running(Round2),
    Closing,
    Closed,
}

#[derive(FromJson)]
struct Hooked2 {
    effect: EffectId,
    then: Then2,
}

#[derive(FromJson)]
enum Then2 {
    Input(Vec<Part>),
    Call,
    Stop,
    Answer(String),
}

#[derive(FromJson)]
struct Asked2 {
    effect: EffectId,
    question: String,
}

#[derive(FromJson)]
struct Calling2 {
    effect: EffectId,
    attempt: u32,
    heard: Instant,
    shown: bool,
    text_begun: bool,
    whole: Option<Reply>,
}

#[derive(FromJson)]
struct Waiting2 {
    until: Instant,
    attempt: u32,
}

#[derive(FromJson)]
struct Round2 {
    slots: Vec<Slot2>,
}

#[derive(FromJson)]
struct Slot2 {
    call: ToolCall,
    state: SlotState2,
}

#[derive(FromJson)]
enum SlotState2 {
    Stopped,
    Hooked {
        effect: EffectId,
    },
    Asking {
        effect: EffectId,
    },
    /// What it asks for follows from its arguments.
    Queued(Json),
    Running {
        effect: EffectId,
    },
    Waiting {
        child: AgentId,
        until: Option<Instant>,
    },
    Question {
        effect: EffectId,
    },
    After {
        effect: EffectId,
        outcome: Outcome,
    },
    Done(ToolResult),
}

impl State2 {
    /// The same session in the form of today.
    ///
    /// # Errors
    /// A configuration in it cannot work.
    pub(super) fn migrated(self) -> Result<State<'static>, ConfigError> {
        let agents = self.agents.into_iter().map(Agent2::migrated).collect::<Result<_, _>>()?;
        Ok(State {
            config: Cow::Owned(self.config),
            now: self.now,
            events: self.seq,
            effects: self.ledger.issued,
            purse: None,
            cancelled: self.ledger.open.into_iter().filter_map(cancelled).collect(),
            agents,
        })
    }
}

fn cancelled((id, entry): (EffectId, Entry2)) -> Option<CancelledForm> {
    let kind = match entry.kind {
        Kind2::Http => KindForm::Http,
        Kind2::Tool => KindForm::Tool,
        Kind2::Ask => KindForm::Ask,
        Kind2::Hook => KindForm::Hook,
    };
    Some(CancelledForm { id, agent: entry.agent, kind, until: entry.grace? })
}

impl Agent2 {
    fn migrated(self) -> Result<AgentForm<'static>, ConfigError> {
        let depth = self.scope.as_ref().map_or(0, |scope| scope.depth);
        let route = match self.sent_with {
            Some(config) => Some(RouteForm::owned(&Setup::of(config, depth, String::new())?.route)),
            None => None,
        };
        // An answer that a hook still looks at was noted already.
        let mut run = self.run.migrated();
        run.answer = run.answer.filter(|_| !self.phase.has_open_answer());
        let (phase, call) = self.phase.migrated(route);
        let aside = self.memory.aside.unwrap_or_default();
        Ok(AgentForm {
            id: self.id,
            spawned: self.scope.map(Scope2::migrated),
            turns: Cow::Owned(self.turns),
            steering: Cow::Owned(aside.steering),
            follow_ups: aside.follow_ups.into_iter().map(InputForm::plain).collect(),
            children: aside.children.0.into_iter().map(Child2::migrated).collect(),
            known_files: Cow::Owned(aside.known),
            allowed: Cow::Owned(aside.allowed),
            warned_of_fullness: self.memory.full,
            folding: FoldingForm::default(),
            succeeded: self.memory.succeeded,
            past: self.memory.past.spent(),
            run,
            calls: call.into_iter().collect(),
            phase,
        })
    }
}

impl Scope2 {
    fn migrated(self) -> SpawnedForm<'static> {
        SpawnedForm {
            parent: self.parent,
            model: self.model.map(Cow::Owned),
            folder: Cow::default(),
            max_turns: self.max_turns,
        }
    }
}

impl<'a> FromJson<'a> for Children2 {
    fn blank() -> Self {
        Self(Vec::new())
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        reader.object()?;
        while let Some(id) = reader.key()? {
            let id = id.parse().map(AgentId);
            let id = id.map_err(|_| reader.error("an agent is named by its number"))?;
            self.0.push((id, Child2::read(reader)?));
        }
        Ok(())
    }
}

impl Child2 {
    fn migrated((id, child): (AgentId, Self)) -> ChildForm<'static> {
        let last = LastForm { output: Cow::Owned(child.output), turns: child.turns };
        ChildForm { id, state: child.state, since: 0, last: Some(last) }
    }
}

impl Run2 {
    fn migrated(self) -> RunForm<'static> {
        RunForm {
            inputs: self.counts.inputs,
            replies: self.counts.replies,
            spent: self.counts.spent(),
            repairs: self.repairs,
            epilogue: self.epilogue,
            answer: self.answer.map(Cow::Owned),
            result: self.result.map(Cow::Owned),
            released: false,
            options: None,
        }
    }
}

impl Counts2 {
    const fn spent(&self) -> SpentForm {
        let Self { tool_calls, usage, cost_nano_usd, .. } = *self;
        SpentForm { tool_calls, usage, cost_nano_usd }
    }
}

impl Slot2 {
    fn migrated(self) -> ToolCallForm<'static> {
        let state = match self.state {
            SlotState2::Stopped => ToolCallStateForm::Stopped,
            SlotState2::Hooked { effect } => ToolCallStateForm::Hooked { effect },
            SlotState2::Asking { effect } => ToolCallStateForm::Asking { effect },
            SlotState2::Queued(_) => ToolCallStateForm::Queued,
            SlotState2::Running { effect } => ToolCallStateForm::Running { effect, known: None },
            SlotState2::Waiting { child, until } => ToolCallStateForm::Waiting { child, until },
            SlotState2::Question { effect } => ToolCallStateForm::Question { effect },
            SlotState2::After { effect, outcome } => {
                ToolCallStateForm::After { effect, outcome: Cow::Owned(outcome) }
            }
            SlotState2::Done(ToolResult { parts, is_error, .. }) => {
                ToolCallStateForm::Done { parts: Cow::Owned(parts), is_error }
            }
        };
        let arguments = Some(Cow::Owned(self.call.arguments));
        ToolCallForm { arguments, since: None, state }
    }
}

impl Phase2 {
    /// Whether the final answer has been given and not yet been let through.
    fn has_open_answer(&self) -> bool {
        let Self::Running(round) = self else { return false };
        round.slots.iter().any(|slot| {
            slot.call.name == FINAL_ANSWER.name() && matches!(slot.state, SlotState2::After { .. })
        })
    }

    /// The phase, and the model call that stood in it.
    fn migrated(
        self,
        route: Option<RouteForm<'static>>,
    ) -> (PhaseForm<'static>, Option<CallForm<'static>>) {
        let purpose = PurposeForm::Reply;
        match self {
            Self::Idle => (PhaseForm::Idle, None),
            Self::Hooked(hooked) => {
                let then = match hooked.then {
                    Then2::Input(parts) => ThenForm::Input { parts: Cow::Owned(parts) },
                    Then2::Call => ThenForm::Call,
                    Then2::Stop => ThenForm::Stop,
                    Then2::Answer(answer) => ThenForm::Answer { answer: Cow::Owned(answer) },
                };
                (PhaseForm::Hooked { effect: hooked.effect, then }, None)
            }
            Self::Asked(asked) => {
                let question = Cow::Owned(asked.question);
                (PhaseForm::Asked { effect: asked.effect, question }, None)
            }
            Self::Calling(call) => {
                let Calling2 { effect, attempt, heard, shown, text_begun, whole } = *call;
                let (active_at, whole) = (heard, whole.map(Cow::Owned));
                let (held, written, effect_at) = (false, None, active_at);
                let state = CallStateForm::Sent {
                    effect,
                    active_at: effect_at,
                    held,
                    shown,
                    text_begun,
                    written,
                    whole,
                    said: None,
                };
                (PhaseForm::ModelCall, Some(CallForm { purpose, attempt, route, state }))
            }
            Self::Waiting(Waiting2 { until, attempt }) => {
                let state = CallStateForm::Waiting { until };
                (PhaseForm::ModelCall, Some(CallForm { purpose, attempt, route, state }))
            }
            Self::Running(round) => {
                let calls = round.slots.into_iter().map(Slot2::migrated).collect();
                (PhaseForm::Round { calls }, None)
            }
            Self::Closing => (PhaseForm::Closing, None),
            Self::Closed => (PhaseForm::Closed, None),
        }
    }
}
