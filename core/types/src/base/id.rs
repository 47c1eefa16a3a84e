//! Ids of agents, effects, sessions and endpoints. Ids that the core issues are counters, so that a
//! replay issues the same ones; ids from the host are strings, which the core only compares.

pub use super::by_id::ById;
use alloc::string::String;
use core::fmt;
use innerloop_json::{FromJson, ToJson};

/// An agent of a session. The session's own agent is [`AgentId::ROOT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
// An id is never used again, also after its agent has closed: a late answer must not reach another
// agent.
pub struct AgentId(pub u32);

impl AgentId {
    /// The agent that a session starts with.
    pub const ROOT: Self = Self(0);
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent {}", self.0)
    }
}

/// An effect of a session, counted from 1. Together with the session's id it is the effect's
/// idempotency key: a retry is a new effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
// A counter, not a random id: the core has no randomness, and an id beyond the last issued one is
// known to be a fault of the host (`docs/decisions.md#ids`).
pub struct EffectId(pub u64);

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "effect {}", self.0)
    }
}

/// The session's id, a UUID or any other non-empty string that the host guarantees to be unique.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
pub struct SessionId(pub String);

/// A name that the host's own table maps to an origin, an authentication scheme and a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
// The core never sees more of an endpoint than this name. So no request, event, log or snapshot can
// hold a key, and a log may be replayed by a host with other keys.
pub struct EndpointId(pub String);
