//! What a phase works with, and what it writes.

use super::{
    body::Body,
    ledger::{EffectKind, Ledger},
    setup::Setup,
};
use crate::{
    nouns::{
        event::EventKind,
        message::{Turn, TurnKind},
        output::Effect,
    },
    words::{
        id::{AgentId, EffectId},
        time::{Instant, UnixMillis},
    },
};
use alloc::vec::Vec;

/// A thing to do or to know, not yet stamped.
#[derive(Debug)]
pub(crate) enum Step {
    Effect(Effect),
    Event(AgentId, EventKind),
}

/// All that a phase may touch.
pub(crate) struct Ctx<'a> {
    pub(crate) body: &'a mut Body,
    pub(crate) setup: &'a Setup,
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) steps: &'a mut Vec<Step>,
    pub(crate) now: Instant,
    pub(crate) wall: UnixMillis,
}

impl Ctx<'_> {
    pub(crate) fn event(&mut self, kind: EventKind) {
        self.steps.push(Step::Event(self.body.id, kind));
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
}
