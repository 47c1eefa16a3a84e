//! Hooks of the program that embeds this crate: the questions that the loop asks at certain points.

use innerloop_core::{id::AgentId, input::HookReply, output::HookRun};
use std::{fmt::Debug, future::Future, pin::Pin};

/// Replies at the points that the driver's [`HostCapabilities`](innerloop_driver::HostCapabilities)
/// name. A reply that fails counts as lost; the configuration's `hooks.fail_closed` decides what
/// follows.
pub trait HookHandler: Debug + Send + Sync {
    /// Replies for an agent. Dropping the future stops it.
    fn reply(
        &self,
        agent: AgentId,
        run: HookRun,
    ) -> Pin<Box<dyn Future<Output = HookReply> + Send>>;
}
