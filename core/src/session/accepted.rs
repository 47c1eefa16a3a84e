//! What an input that is not refused comes to.

use crate::machine::{ledger::Entry, setup::Setup};
use alloc::sync::Arc;

/// What an input that is not refused comes to.
pub(super) enum Accepted {
    /// A command that fits.
    Command,
    /// A new configuration that works.
    Patch(Arc<Setup>),
    /// News of an open effect.
    Answer(Entry),
    /// Time has passed.
    Tick,
    /// The effect is settled already.
    Late,
}
