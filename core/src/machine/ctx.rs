//! What a phase works with, and what it writes.

use super::{
    body::Body,
    ledger::{EffectKind, Ledger},
    setup::Setup,
};
use crate::{
    base::{
        id::{AgentId, EffectId, SessionId},
        json::Json,
        time::{Instant, UnixMillis},
    },
    profile::inner::SpawnCall,
    types::{
        config::HookPoint,
        event::EventKind,
        message::{Part, Turn, TurnKind},
        output::{Effect, HookRun},
    },
};
use alloc::vec::Vec;
use serde::Serialize;

/// A thing to do or to know, not yet stamped, or a word to another agent.
#[derive(Debug)]
pub(crate) enum Step {
    Effect(Effect),
    Event(AgentId, EventKind),
    /// Start an agent under that id.
    Spawn {
        child: AgentId,
        parent: AgentId,
        call: SpawnCall,
    },
    /// Say something to an agent.
    Tell {
        agent: AgentId,
        parts: Vec<Part>,
    },
    /// End an agent.
    Shut {
        agent: AgentId,
    },
    /// Stop an agent's run.
    Halt {
        agent: AgentId,
    },
    /// The tools are told in the prompt from now on, and an agent that waits goes on at once.
    InText {
        agent: AgentId,
    },
    /// An agent's run is over: whoever started it may be waiting.
    Ended {
        agent: AgentId,
        success: bool,
    },
    /// An agent that is closing may be able to finish.
    Finish {
        agent: AgentId,
    },
}

/// All that a phase may touch.
pub(crate) struct Ctx<'a> {
    pub(crate) body: &'a mut Body,
    pub(crate) setup: &'a Setup,
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) steps: &'a mut Vec<Step>,
    pub(crate) agents: &'a mut Roll,
    /// The session's id, which stands in for chance.
    pub(crate) session: &'a SessionId,
    pub(crate) now: Instant,
    pub(crate) wall: UnixMillis,
}

/// How many agents there were and are.
#[derive(Clone, Copy, Debug, Default, Serialize, serde::Deserialize)]
pub(crate) struct Roll {
    /// The number of the newest agent.
    pub(crate) newest: u32,
    /// How many agents are open beside the session's own.
    pub(crate) open: u32,
}

impl Ctx<'_> {
    pub(crate) fn event(&mut self, kind: EventKind) {
        self.steps.push(Step::Event(self.body.id, kind));
    }

    pub(crate) fn warn(&mut self, message: &str) {
        self.event(EventKind::Warning { message: message.into() });
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.steps.push(Step::Effect(effect));
    }

    pub(crate) fn issue(&mut self, kind: EffectKind) -> EffectId {
        self.ledger.issue(self.body.id, kind)
    }

    pub(crate) fn cancel(&mut self, id: EffectId) {
        let grace_ms = self.setup.config.timeouts.grace_ms;
        self.ledger.cancel(id, self.now.plus_ms(grace_ms));
        self.effect(Effect::Cancel { id, grace_ms });
    }

    pub(crate) fn append(&mut self, kind: TurnKind) {
        self.body.history.push(Turn { at: self.wall, kind });
    }

    /// Asks the host's hook at `point`, if it stands there.
    pub(crate) fn hook(&mut self, point: HookPoint, payload: &impl Serialize) -> Option<EffectId> {
        if !self.setup.config.hooks.points.contains(&point) {
            return None;
        }
        let id = self.issue(EffectKind::Hook);
        let text = serde_json::to_string(payload).unwrap_or_default();
        let payload = Json::parse(text).unwrap_or_default();
        let agent = self.body.id;
        self.effect(Effect::RunHook { id, agent, hook: HookRun { point, payload } });
        Some(id)
    }
}
