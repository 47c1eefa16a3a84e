//! The hooks of the program: functions that the loop calls at certain points, one for each point.

use innerloop_core::json::Json;
use innerloop_core::{config::HookPoint, id::AgentId, input::HookReply, output::HookRun};
use innerloop_host::hooks;
use std::{fmt, future::Future, pin::Pin, sync::Arc};

type HookFuture = Pin<Box<dyn Future<Output = HookReply> + Send>>;
type HookFunction = Arc<dyn Fn(Json) -> HookFuture + Send + Sync>;

/// The program's hooks, each with its point.
#[derive(Clone, Default)]
pub(crate) struct HookTable(Vec<(HookPoint, HookFunction)>);

impl HookTable {
    /// Sets the hook of a point; an earlier one is replaced.
    pub(crate) fn set<R>(
        &mut self,
        point: HookPoint,
        hook: impl Fn(Json) -> R + Send + Sync + 'static,
    ) where
        R: Future<Output = HookReply> + Send + 'static,
    {
        self.0.retain(|(known, _)| *known != point);
        self.0.push((point, Arc::new(move |payload| Box::pin(hook(payload)))));
    }

    /// Returns the points that have a hook.
    pub(crate) fn points(&self) -> Vec<HookPoint> {
        self.0.iter().map(|(point, _)| *point).collect()
    }
}

impl hooks::HookHandler for HookTable {
    fn reply(&self, _: AgentId, run: HookRun) -> HookFuture {
        let hook = self.0.iter().find(|(point, _)| *point == run.point);
        match hook {
            Some((_, hook)) => hook(run.payload),
            // Not asked at all: the driver answers for points that the host does not name.
            None => Box::pin(async { HookReply::Allow }),
        }
    }
}

impl fmt::Debug for HookTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hooks").field(&self.points()).finish()
    }
}
