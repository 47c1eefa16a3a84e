//! What an input that is not refused comes to.

use crate::machine::{
    cause::{News, Order},
    setup::Setup,
};
use alloc::sync::Arc;
use innerloop_types::{
    id::{AgentId, EffectId},
    message::Why,
};

/// An input that fits.
#[derive(Debug)]
pub(super) enum Admitted {
    /// A word to an agent that is not over.
    Order(AgentId, Order),
    /// The view of an idle agent is what it was when its log had so many turns.
    Rewind(AgentId, Why, u32),
    /// A new configuration that works.
    Configure(Arc<Setup>, bool),
    /// News of an effect that is open.
    News(AgentId, EffectId, News),
    /// A cancelled effect has ended; with what, does not count.
    Ended(AgentId, EffectId),
    /// Time has passed.
    Tick,
    /// News of an effect that is settled or cancelled: nothing follows.
    Late,
}
