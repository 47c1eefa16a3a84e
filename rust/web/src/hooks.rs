//! The hooks of the page: functions that the loop calls at certain points, one for each point.

use futures::future::LocalBoxFuture;
use innerloop_core::{config::HookPoint, input::HookReply, json::Json, output::HookRun};
use std::{fmt, rc::Rc};

type HookFunction = Rc<dyn Fn(Json) -> LocalBoxFuture<'static, HookReply>>;

/// The page's hooks, each with its point.
#[derive(Clone, Default)]
pub(crate) struct HookTable(Vec<(HookPoint, HookFunction)>);

impl HookTable {
    /// Sets the hook of a point; an earlier one is replaced.
    pub(crate) fn set(
        &mut self,
        point: HookPoint,
        hook: impl AsyncFn(Json) -> HookReply + 'static,
    ) {
        let hook = Rc::new(hook);
        self.0.retain(|(known, _)| *known != point);
        self.0.push((
            point,
            Rc::new(move |payload| {
                let hook = Rc::clone(&hook);
                Box::pin(async move { hook(payload).await })
            }),
        ));
    }

    /// Returns the points that have a hook.
    pub(crate) fn points(&self) -> Vec<HookPoint> {
        self.0.iter().map(|(point, _)| *point).collect()
    }

    /// Returns the reply of a point's hook. It is not called for points without one.
    pub(crate) fn reply(&self, run: HookRun) -> LocalBoxFuture<'static, HookReply> {
        match self.0.iter().find(|(point, _)| *point == run.point) {
            Some((_, hook)) => hook(run.payload),
            None => Box::pin(async { HookReply::Allow }),
        }
    }
}

impl fmt::Debug for HookTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HookTable").field(&self.points()).finish()
    }
}
