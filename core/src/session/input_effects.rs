//! The inputs that are admitted, each as the step that follows from it.

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
    /// A command to an agent that is not closed.
    Order(AgentId, AgentCommand),
    /// A rewind of an idle agent, to what it saw when its log had so many turns.
    Rewind(AgentId, RewindReason, u32),
    /// A new configuration that works; true if it says anew which calls need approval.
    Configure(Arc<AgentSetup>, bool),
    /// News of an effect that is open.
    News(AgentId, EffectId, EffectUpdate),
    /// The end of a cancelled effect; its outcome does not count.
    Ended(AgentId, EffectId),
    /// Time has passed.
    Tick,
    /// News of an effect that is settled or cancelled: nothing follows.
    Late,
}
