//! The ledger of effects: which are open, and whose they are. Each effect is owed exactly one
//! terminal answer. Ids are counters, so that settled effects need not be kept to tell them from
//! those that were never issued.

use alloc::vec::Vec;
use innerloop_json::IntoList;
use innerloop_types::{
    id::{AgentId, ById, EffectId},
    time::SessionInstant,
};

/// The effects of a session that are not settled. A session that is idle has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    issued: u64,
    open: ById<EffectId, OpenEffect>,
}

/// An open effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenEffect {
    pub(crate) agent: AgentId,
    pub(crate) kind: EffectKind,
    /// The time until which its answer is waited for, once it is cancelled.
    pub(crate) grace: Option<SessionInstant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectKind {
    Http,
    Tool,
    Ask,
    Hook,
}

/// The ledger's knowledge of an id.
pub(crate) enum EffectLookup {
    Never,
    Settled,
    Open(OpenEffect),
}

impl Ledger {
    /// Returns the ledger of a session that has issued so many effects, of which these are open;
    /// `None` if an id was never issued, or is there twice.
    pub(crate) fn of(issued: u64, mut open: Vec<(EffectId, OpenEffect)>) -> Option<Self> {
        innerloop_json::sort(&mut open, |(a, _), (b, _)| a.cmp(b));
        let mut ledger = Self { issued, open: ById::new() };
        for (id, entry) in open {
            let is_issued = id.0 > 0 && id.0 <= issued;
            if !is_issued || ledger.open.insert(id, entry).is_some() {
                return None;
            }
        }
        Some(ledger)
    }

    /// Returns the number of effects that were issued.
    pub(crate) const fn issued(&self) -> u64 {
        self.issued
    }

    /// Returns the effects that are cancelled and have not answered, in order.
    pub(crate) fn cancelled(&self) -> impl Iterator<Item = (EffectId, &OpenEffect)> {
        self.open.iter().filter(|(_, entry)| entry.grace.is_some())
    }

    pub(crate) fn issue(&mut self, agent: AgentId, kind: EffectKind) -> EffectId {
        self.issued += 1;
        let id = EffectId(self.issued);
        self.open.insert(id, OpenEffect { agent, kind, grace: None });
        id
    }

    pub(crate) fn lookup(&self, id: EffectId) -> EffectLookup {
        match self.open.get(id) {
            Some(entry) => EffectLookup::Open(*entry),
            None if id.0 == 0 || id.0 > self.issued => EffectLookup::Never,
            None => EffectLookup::Settled,
        }
    }

    pub(crate) fn settle(&mut self, id: EffectId) {
        self.open.remove(id);
    }

    /// Marks an effect as cancelled.
    pub(crate) fn cancel(&mut self, id: EffectId, grace: SessionInstant) {
        if let Some(entry) = self.open.get_mut(id) {
            // It stays open: a cancelled tool may still be writing, and the next one that writes
            // waits for its answer, or for the end of this time.
            entry.grace = Some(grace);
        }
    }

    /// Settles the cancelled effects whose grace is over; returns their agents.
    pub(crate) fn expire(&mut self, now: SessionInstant) -> Vec<AgentId> {
        let is_due = |entry: &OpenEffect| entry.grace.is_some_and(|grace| grace <= now);
        let due: Vec<EffectId> =
            self.open.iter().filter(|(_, entry)| is_due(entry)).map(|(id, _)| id).into_list();
        let mut agents = Vec::new();
        for entry in due.into_iter().filter_map(|id| self.open.remove(id)) {
            // Each agent once and in order: outputs follow from the list, and must be the same in a
            // replay.
            if let Err(place) = agents.binary_search(&entry.agent) {
                agents.insert(place, entry.agent);
            }
        }
        agents
    }

    /// Returns the time at which the next grace period ends.
    pub(crate) fn deadline(&self) -> Option<SessionInstant> {
        self.open.values().filter_map(|entry| entry.grace).min()
    }

    /// Returns whether a cancelled tool of the agent has not answered yet.
    pub(crate) fn has_cancelled_tool(&self, agent: AgentId) -> bool {
        self.open.values().any(|entry| {
            entry.agent == agent && entry.kind == EffectKind::Tool && entry.grace.is_some()
        })
    }

    /// Returns whether nothing is open.
    pub(crate) const fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns whether the agent has any open effect.
    pub(crate) fn has_any(&self, agent: AgentId) -> bool {
        self.open.values().any(|entry| entry.agent == agent)
    }
}
