//! Which effects are open, and whose they are: each is owed exactly one terminal answer.

use crate::base::{
    id::{AgentId, EffectId},
    order,
    time::Instant,
};
use alloc::vec::Vec;

/// All effects of a session that are not settled, in the order of their ids. There are few of
/// them, and none while a session is idle: a list costs such a session nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    issued: u64,
    open: Vec<(EffectId, Entry)>,
}

/// An open effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) agent: AgentId,
    pub(crate) kind: EffectKind,
    /// Set once it has been cancelled: until when its answer is waited for.
    pub(crate) grace: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectKind {
    Http,
    Tool,
    Ask,
    Hook,
}

/// What the ledger knows of an id.
pub(crate) enum Lookup {
    Never,
    Settled,
    Open(Entry),
}

impl Ledger {
    /// The ledger of a session that has issued so many effects, of which these are open. Nothing
    /// if they do not fit together.
    pub(crate) fn of(issued: u64, open: Vec<(EffectId, Entry)>) -> Option<Self> {
        let open = order::by_key(open, |(id, _)| Some(id.0));
        let is_issued = |(id, _): &(EffectId, Entry)| id.0 > 0 && id.0 <= issued;
        let is_twice = open.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
        (open.iter().all(is_issued) && !is_twice).then_some(Self { issued, open })
    }

    /// How many effects were issued.
    pub(crate) const fn issued(&self) -> u64 {
        self.issued
    }

    /// The effects that are cancelled and have not answered, in order.
    pub(crate) fn cancelled(&self) -> impl Iterator<Item = &(EffectId, Entry)> {
        self.open.iter().filter(|(_, entry)| entry.grace.is_some())
    }

    pub(crate) fn issue(&mut self, agent: AgentId, kind: EffectKind) -> EffectId {
        self.issued += 1;
        let id = EffectId(self.issued);
        self.open.push((id, Entry { agent, kind, grace: None }));
        id
    }

    pub(crate) fn lookup(&self, id: EffectId) -> Lookup {
        match self.place(id) {
            Some(place) => self.open.get(place).map_or(Lookup::Settled, |(_, e)| Lookup::Open(*e)),
            None if id.0 == 0 || id.0 > self.issued => Lookup::Never,
            None => Lookup::Settled,
        }
    }

    pub(crate) fn settle(&mut self, id: EffectId) {
        if let Some(place) = self.place(id) {
            self.open.remove(place);
            self.rest();
        }
    }

    /// Marks an effect as cancelled.
    pub(crate) fn cancel(&mut self, id: EffectId, grace: Instant) {
        let place = self.place(id);
        if let Some((_, entry)) = place.and_then(|place| self.open.get_mut(place)) {
            entry.grace = Some(grace);
        }
    }

    /// Settles the cancelled effects whose grace is over; returns their agents.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<AgentId> {
        let due = |entry: &Entry| entry.grace.is_some_and(|grace| grace <= now);
        let mut agents = Vec::new();
        for entry in self.entries().filter(|entry| due(entry)) {
            if let Err(place) = agents.binary_search(&entry.agent) {
                agents.insert(place, entry.agent);
            }
        }
        self.open.retain(|(_, entry)| !due(entry));
        self.rest();
        agents
    }

    /// When the next grace is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.entries().filter_map(|entry| entry.grace).min()
    }

    /// Whether a cancelled tool of the agent has not answered yet.
    pub(crate) fn has_cancelled_tool(&self, agent: AgentId) -> bool {
        self.entries().any(|entry| {
            entry.agent == agent && entry.kind == EffectKind::Tool && entry.grace.is_some()
        })
    }

    /// Whether nothing is open.
    pub(crate) const fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether the agent has any open effect.
    pub(crate) fn has_any(&self, agent: AgentId) -> bool {
        self.entries().any(|entry| entry.agent == agent)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.open.iter().map(|(_, entry)| entry)
    }

    fn place(&self, id: EffectId) -> Option<usize> {
        self.open.binary_search_by_key(&id, |(open, _)| *open).ok()
    }

    /// Gives the memory back once nothing is open.
    fn rest(&mut self) {
        if self.open.is_empty() {
            self.open = Vec::new();
        }
    }
}
