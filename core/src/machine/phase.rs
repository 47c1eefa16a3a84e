//! Where an agent stands while it waits. What follows from news is in `table`.

use super::{fold_plan::FoldPlan, history::History, round::ToolRound};
use alloc::{boxed::Box, string::String, vec::Vec};
use innerloop_types::{
    config::HookPoint,
    id::{AgentId, EffectId},
    json::Json,
    message::{Part, joined_text},
    output::{Ask, Effect, HookRun},
    status::RunEnd,
};

/// The phase of an agent. Data that is only true in one phase lives only there.
#[derive(Debug, Default)]
pub(crate) enum Phase {
    #[default]
    Idle,
    /// The host's hook looks at what is to come.
    Hooked(Box<PendingHook>),
    /// A person is asked whether to go on.
    Asked(Box<PendingQuestion>),
    /// The model is called for the next reply. The call itself stands in the agent's body, among
    /// those for other purposes.
    ModelCall,
    /// A model sums turns up that are to be folded. The call stands there, too.
    Folding,
    /// Tool calls are under way.
    Round(ToolRound),
    /// Cancelled effects may still answer; then the agent is over.
    Closing,
    Closed,
}

impl Phase {
    /// The name that it has in `docs/architecture.md`.
    #[cfg(feature = "seams")]
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Idle => "Idle",
            Self::Hooked(_) => "Hooked",
            Self::Asked(_) => "Asked",
            Self::ModelCall => "ModelCall",
            Self::Folding => "Folding",
            Self::Round(_) => "Round",
            Self::Closing => "Closing",
            Self::Closed => "Closed",
        }
    }

    /// Returns whether the agent is over, or about to be.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self, Self::Closing | Self::Closed)
    }
}

/// The work that waits for a hook.
#[derive(Debug)]
pub(crate) struct PendingHook {
    pub(crate) effect: EffectId,
    pub(crate) then: HookContinuation,
}

#[derive(Debug)]
pub(crate) enum HookContinuation {
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
    /// The result of the run goes out, and the run ends this way.
    Out(RunEnd),
    /// Turns are folded.
    Fold(Box<FoldPlan>),
}

/// A question to the user about the run itself.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    pub(crate) effect: EffectId,
    pub(crate) question: String,
}

impl PendingQuestion {
    /// The open effect, made again.
    pub(super) fn owed(&self, agent: AgentId) -> Effect {
        let ask = Ask::Question { text: self.question.clone() };
        Effect::Ask { id: self.effect, agent, ask }
    }
}

impl PendingHook {
    /// The open effect, made again; `said` is what the model said last.
    pub(super) fn owed(&self, agent: AgentId, said: &str, history: &History) -> Effect {
        let (point, payload) = match &self.then {
            HookContinuation::Input(parts) => (HookPoint::Submit, Json::of(&joined_text(parts))),
            HookContinuation::Call => (HookPoint::BeforeModel, Json::of("")),
            HookContinuation::Stop => (HookPoint::BeforeStop, Json::of(said)),
            HookContinuation::Answer(answer) => (HookPoint::BeforeStop, Json::of(answer)),
            HookContinuation::Give(answer) => (HookPoint::Outbound, Json::of(answer)),
            HookContinuation::Out(_) => (HookPoint::Outbound, Json::of(said)),
            HookContinuation::Fold(plan) => (HookPoint::Compact, plan.payload(history)),
        };
        let hook = HookRun { point, payload };
        Effect::RunHook { id: self.effect, agent, hook }
    }
}
