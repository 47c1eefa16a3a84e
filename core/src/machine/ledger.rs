//! Which effects are open: each is owed exactly one terminal answer (DESIGN rule 1).

use crate::words::{
    id::{AgentId, EffectId},
    time::Instant,
};
use alloc::{collections::BTreeMap, vec::Vec};
use serde::{Deserialize, Serialize};

/// All effects of a session that are not settled.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    issued: u64,
    open: BTreeMap<EffectId, Entry>,
}

/// An open effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) agent: AgentId,
    pub(crate) kind: EffectKind,
    /// Set once it has been cancelled: until when its answer is waited for.
    pub(crate) grace: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EffectKind {
    Http,
    Tool,
}

/// What the ledger knows of an id.
pub(crate) enum Lookup {
    Never,
    Settled,
    Open(Entry),
}

impl Ledger {
    pub(crate) fn issue(&mut self, agent: AgentId, kind: EffectKind) -> EffectId {
        self.issued += 1;
        let id = EffectId(self.issued);
        self.open.insert(id, Entry { agent, kind, grace: None });
        id
    }

    pub(crate) fn lookup(&self, id: EffectId) -> Lookup {
        match self.open.get(&id) {
            Some(&entry) => Lookup::Open(entry),
            None if id.0 == 0 || id.0 > self.issued => Lookup::Never,
            None => Lookup::Settled,
        }
    }

    pub(crate) fn settle(&mut self, id: EffectId) {
        self.open.remove(&id);
    }

    /// Marks an effect as cancelled.
    pub(crate) fn cancel(&mut self, id: EffectId, grace: Instant) {
        if let Some(entry) = self.open.get_mut(&id) {
            entry.grace = Some(grace);
        }
    }

    /// Settles the cancelled effects whose grace is over; returns their agents.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<AgentId> {
        let due = |entry: &Entry| entry.grace.is_some_and(|grace| grace <= now);
        let agents = self.open.values().filter(|entry| due(entry)).map(|entry| entry.agent);
        let mut agents: Vec<AgentId> = agents.collect();
        agents.dedup();
        self.open.retain(|_, entry| !due(entry));
        agents
    }

    /// When the next grace is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.open.values().filter_map(|entry| entry.grace).min()
    }

    /// Whether a cancelled tool of the agent has not answered yet.
    pub(crate) fn has_cancelled_tool(&self, agent: AgentId) -> bool {
        self.open.values().any(|entry| {
            entry.agent == agent && entry.kind == EffectKind::Tool && entry.grace.is_some()
        })
    }

    /// Whether the agent has any open effect.
    pub(crate) fn has_any(&self, agent: AgentId) -> bool {
        self.open.values().any(|entry| entry.agent == agent)
    }
}
