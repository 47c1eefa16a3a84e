//! What an input that is not refused comes to.

use crate::machine::{
    cause::{AgentCommand, EffectUpdate},
    setup::AgentSetup,
};
use alloc::sync::Arc;
use innerloop_types::{
    id::{AgentId, EffectId},
    message::RewindReason,
};

/// An input that fits.
#[derive(Debug)]
pub(super) enum AdmittedInput {
    /// A word to an agent that is not over.
    Order(AgentId, AgentCommand),
    /// The view of an idle agent is what it was when its log had so many turns.
    Rewind(AgentId, RewindReason, u32),
    /// A new configuration that works.
    Configure(Arc<AgentSetup>, bool),
    /// News of an effect that is open.
    News(AgentId, EffectId, EffectUpdate),
    /// A cancelled effect has ended; with what, does not count.
    Ended(AgentId, EffectId),
    /// Time has passed.
    Tick,
    /// News of an effect that is settled or cancelled: nothing follows.
    Late,
}
