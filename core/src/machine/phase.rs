//! Where an agent stands, and the table of all changes from one phase to another.
//!
//! A round whose calls are all answered at once leaves no trace: what is seen is the change from
//! the reply to what follows the round.

use super::{history::History, plan::Plan, round::Round};
use alloc::{boxed::Box, string::String, vec::Vec};
use innerloop_types::{
    config::HookPoint,
    id::{AgentId, EffectId},
    json::Json,
    message::{Part, joined_text},
    output::{Ask, Effect, HookRun},
    status::RunEnd,
};

/// Where an agent stands. Data that is only true in one phase lives only there.
#[derive(Debug, Default)]
pub(crate) enum Phase {
    #[default]
    Idle,
    /// The host's hook looks at what is to come.
    Hooked(Box<Hooked>),
    /// A person is asked whether to go on.
    Asked(Box<Asked>),
    /// The model is called for the next reply. The call itself stands in the agent's body, among
    /// those for other purposes.
    ModelCall,
    /// A model sums turns up that are to be folded. The call stands there, too.
    Folding,
    /// Tool calls are under way.
    Round(Round),
    /// Cancelled effects may still answer; then the agent is over.
    Closing,
    Closed,
}

/// A phase without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhaseKind {
    Idle,
    Hooked,
    Asked,
    ModelCall,
    Folding,
    Round,
    Closing,
    Closed,
}

/// A change of phase, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transition {
    /// The agent stays in its phase; what stands in that may be new.
    Stay,
    /// A run begins with a model call.
    Begin,
    /// A run begins with a hook.
    BeginHooked,
    /// The hook lets the model be called.
    Release,
    /// The hook or a limit ends the run, or the hook agrees that it has ended.
    EndHooked,
    /// The reply has calls.
    Reply,
    /// The reply ends the run, or the call has failed for good.
    EndReplied,
    /// A hook looks at what follows the reply.
    HookReply,
    /// The reply's calls are answered already, and repeat themselves: a person is asked.
    AskReplied,
    /// All calls are answered: the model is called again.
    Answer,
    /// A hook looks at what follows the round.
    HookRound,
    /// The calls repeat themselves: a person is asked.
    AskRound,
    /// The run ends with the round.
    EndRound,
    /// The person lets the run go on.
    Resume,
    /// The person lets the run go on, and a hook looks first.
    ResumeHooked,
    /// The person ends the run.
    EndAsked,
    /// The host wants turns to be folded.
    Fold,
    /// A hook lets the model be called, and turns are to be folded first; or lets them be folded.
    FoldHooked,
    /// The model is called once more, and turns are to be folded first; or it could not read them
    /// all.
    FoldReplied,
    /// All calls are answered, and turns are to be folded before the model is called again.
    FoldRound,
    /// The person lets the run go on, and turns are to be folded first.
    FoldAsked,
    /// The turns are folded, or stay as they are: the model is called.
    CallFolded,
    /// The same, and a hook looks first.
    HookFolded,
    /// The host had asked for the fold, or what was said does not become shorter.
    EndFolded,
    /// The agent is closed.
    Close,
    /// Nothing is open any more.
    Finish,
}

#[cfg(feature = "seams")]
impl PhaseKind {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Idle,
        Self::Hooked,
        Self::Asked,
        Self::ModelCall,
        Self::Folding,
        Self::Round,
        Self::Closing,
        Self::Closed,
    ];
}

impl Transition {
    /// All of them.
    #[cfg(feature = "seams")]
    pub(crate) const ALL: [Self; 26] = [
        Self::Stay,
        Self::Begin,
        Self::BeginHooked,
        Self::Release,
        Self::EndHooked,
        Self::Reply,
        Self::EndReplied,
        Self::HookReply,
        Self::AskReplied,
        Self::Answer,
        Self::HookRound,
        Self::AskRound,
        Self::EndRound,
        Self::Resume,
        Self::ResumeHooked,
        Self::EndAsked,
        Self::Fold,
        Self::FoldHooked,
        Self::FoldReplied,
        Self::FoldRound,
        Self::FoldAsked,
        Self::CallFolded,
        Self::HookFolded,
        Self::EndFolded,
        Self::Close,
        Self::Finish,
    ];

    /// The table: the transition between two phases, if there is one.
    pub(crate) const fn between(from: PhaseKind, to: PhaseKind) -> Option<Self> {
        use PhaseKind::{Asked, Closed, Closing, Folding, Hooked, Idle, ModelCall, Round};
        Some(match (from, to) {
            (Idle, Idle)
            | (Hooked, Hooked)
            | (Asked, Asked)
            | (ModelCall, ModelCall)
            | (Folding, Folding)
            | (Round, Round)
            | (Closing, Closing)
            | (Closed, Closed) => Self::Stay,
            (Idle, ModelCall) => Self::Begin,
            (Idle, Hooked) => Self::BeginHooked,
            (Hooked, ModelCall) => Self::Release,
            (Hooked, Idle) => Self::EndHooked,
            (ModelCall, Round) => Self::Reply,
            (ModelCall, Idle) => Self::EndReplied,
            (ModelCall, Hooked) => Self::HookReply,
            (ModelCall, Asked) => Self::AskReplied,
            (Round, ModelCall) => Self::Answer,
            (Round, Hooked) => Self::HookRound,
            (Round, Asked) => Self::AskRound,
            (Round, Idle) => Self::EndRound,
            (Asked, ModelCall) => Self::Resume,
            (Asked, Hooked) => Self::ResumeHooked,
            (Asked, Idle) => Self::EndAsked,
            (Idle, Folding) => Self::Fold,
            (Hooked, Folding) => Self::FoldHooked,
            (ModelCall, Folding) => Self::FoldReplied,
            (Round, Folding) => Self::FoldRound,
            (Asked, Folding) => Self::FoldAsked,
            (Folding, ModelCall) => Self::CallFolded,
            (Folding, Hooked) => Self::HookFolded,
            (Folding, Idle) => Self::EndFolded,
            (Idle | Hooked | Asked | ModelCall | Folding | Round, Closing) => Self::Close,
            (Closing, Closed) => Self::Finish,
            _ => return None,
        })
    }
}

/// The changes of phase that have been seen, a bit each.
#[cfg(feature = "seams")]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transitions(u32);

#[cfg(feature = "seams")]
impl Transitions {
    pub(crate) fn note(&mut self, from: PhaseKind, to: PhaseKind) {
        self.0 |= Transition::between(from, to).map_or(0, |seen| 1 << seen as u32);
    }

    pub(crate) const fn has(self, transition: Transition) -> bool {
        self.0 & (1 << transition as u32) != 0
    }
}

impl Phase {
    /// The phase without its data.
    pub(crate) const fn kind(&self) -> PhaseKind {
        match self {
            Self::Idle => PhaseKind::Idle,
            Self::Hooked(_) => PhaseKind::Hooked,
            Self::Asked(_) => PhaseKind::Asked,
            Self::ModelCall => PhaseKind::ModelCall,
            Self::Folding => PhaseKind::Folding,
            Self::Round(_) => PhaseKind::Round,
            Self::Closing => PhaseKind::Closing,
            Self::Closed => PhaseKind::Closed,
        }
    }

    /// Whether the agent is over, or about to be.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self, Self::Closing | Self::Closed)
    }
}

/// What waits for a hook.
#[derive(Debug)]
pub(crate) struct Hooked {
    pub(crate) effect: EffectId,
    pub(crate) then: Then,
}

#[derive(Debug)]
pub(crate) enum Then {
    /// An input of the user.
    Input(Vec<Part>),
    /// A model call.
    Call,
    /// The end of the run.
    Stop,
    /// The final answer, which ends the run.
    Answer(String),
    /// The final answer goes out.
    Give(String),
    /// What the run has come to goes out, as it ends so.
    Out(RunEnd),
    /// Turns are folded.
    Fold(Box<Plan>),
}

/// A question to the user about the run itself.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) effect: EffectId,
    pub(crate) question: String,
}

impl Asked {
    /// The open effect, made again.
    pub(super) fn owed(&self, agent: AgentId) -> Effect {
        let ask = Ask::Question { text: self.question.clone() };
        Effect::Ask { id: self.effect, agent, ask }
    }
}

impl Hooked {
    /// The open effect, made again; `said` is what the model said last.
    pub(super) fn owed(&self, agent: AgentId, said: &str, history: &History) -> Effect {
        let (point, payload) = match &self.then {
            Then::Input(parts) => (HookPoint::Submit, Json::of(&joined_text(parts))),
            Then::Call => (HookPoint::BeforeModel, Json::of("")),
            Then::Stop => (HookPoint::BeforeStop, Json::of(said)),
            Then::Answer(answer) => (HookPoint::BeforeStop, Json::of(answer)),
            Then::Give(answer) => (HookPoint::Outbound, Json::of(answer)),
            Then::Out(_) => (HookPoint::Outbound, Json::of(said)),
            Then::Fold(plan) => (HookPoint::Compact, plan.payload(history)),
        };
        let hook = HookRun { point, payload };
        Effect::RunHook { id: self.effect, agent, hook }
    }
}
