//! The phases in which an agent waits, each with the data that is true in it alone. What follows
//! from a cause is in `table`. Model calls are not here but in the agent's data, since news find
//! them by their effect, whatever the phase.

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
    /// The model is called for the next reply. The call itself is in the data of the agent.
    ModelCall,
    /// A model summarises turns that are to be folded. The call is in the data of the agent, too.
    Folding,
    /// Tool calls are under way.
    Round(ToolRound),
    /// Cancelled effects may still answer; then the agent is closed.
    Closing,
    Closed,
}

impl Phase {
    /// Returns the name that it has in `docs/architecture.md`.
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

    /// Returns whether the agent is closed or closing.
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
    /// The next model call after a round.
    Round,
    /// The end of the run.
    Stop,
    /// The final answer, which ends the run.
    Answer(String),
    /// The release of the final answer.
    Give(String),
    /// The release of the result of a run that ends this way.
    Out(RunEnd),
    /// The fold of turns.
    Fold(Box<FoldPlan>),
}

/// A question to the user about the run itself.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    pub(crate) effect: EffectId,
    pub(crate) question: String,
}

impl PendingQuestion {
    /// Returns the open effect, made anew.
    pub(super) fn owed(&self, agent: AgentId) -> Effect {
        let ask = Ask::Question { text: self.question.clone() };
        Effect::Ask { id: self.effect, agent, ask }
    }
}

impl PendingHook {
    /// Returns the open effect, made anew; `said` is what the model said last.
    pub(super) fn owed(&self, agent: AgentId, said: &str, history: &History) -> Effect {
        // The payloads are those of the first time, derived again: nothing is appended while a hook
        // is asked, so that a restored host sees what the first one saw.
        let (point, payload) = match &self.then {
            HookContinuation::Input(parts) => (HookPoint::Submit, Json::of(&joined_text(parts))),
            HookContinuation::Call => (HookPoint::BeforeModel, Json::of("")),
            HookContinuation::Round => (HookPoint::AfterIteration, Json::of(said)),
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
