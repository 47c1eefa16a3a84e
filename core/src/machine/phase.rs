//! Where an agent stands.

use super::{
    model_call::{Calling, Waiting},
    round::Round,
};
use crate::{
    base::{
        id::{AgentId, EffectId},
        json::Json,
    },
    types::{
        config::HookPoint,
        message::{Part, joined_text},
        output::{Ask, Effect, HookRun},
    },
};
use alloc::{boxed::Box, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// Where an agent stands. Data that is only true in one phase lives only there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Phase {
    #[default]
    Idle,
    /// The host's hook looks at what is to come.
    Hooked(Box<Hooked>),
    /// A person is asked whether to go on.
    Asked(Box<Asked>),
    Calling(Box<Calling>),
    Waiting(Waiting),
    Running(Round),
    /// Cancelled effects may still answer; then the agent is over.
    Closing,
    Closed,
}

/// What waits for a hook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hooked {
    pub(super) effect: EffectId,
    pub(super) then: Then,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Then {
    /// An input of the user.
    Input(Vec<Part>),
    /// A model call.
    Call,
    /// The end of the run.
    Stop,
    /// The final answer, which ends the run.
    Answer(String),
}

/// A question to the user about the run itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(super) effect: EffectId,
    pub(super) question: String,
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
    pub(super) fn owed(&self, agent: AgentId, said: &str) -> Effect {
        let (point, payload) = match &self.then {
            Then::Input(parts) => (HookPoint::Submit, joined_text(parts)),
            Then::Call => (HookPoint::BeforeModel, String::new()),
            Then::Stop => (HookPoint::BeforeStop, String::from(said)),
            Then::Answer(answer) => (HookPoint::BeforeStop, answer.clone()),
        };
        let payload = Json::parse(serde_json::to_string(&payload).unwrap_or_default());
        let hook = HookRun { point, payload: payload.unwrap_or_default() };
        Effect::RunHook { id: self.effect, agent, hook }
    }
}
