//! Hooks of the page: functions that the loop asks at certain points.

use futures::future::LocalBoxFuture;
use innerloop_core::{config::HookPoint, input::HookReply, json::Json, output::HookRun};
use std::{fmt, rc::Rc};

type HookFunction = Rc<dyn Fn(Json) -> LocalBoxFuture<'static, HookReply>>;

/// The functions, each with its point.
#[derive(Clone, Default)]
pub(crate) struct HookTable(Vec<(HookPoint, HookFunction)>);

impl HookTable {
    /// Sets the function of a point, in place of one that was there.
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

    /// Returns where they stand.
    pub(crate) fn points(&self) -> Vec<HookPoint> {
        self.0.iter().map(|(point, _)| *point).collect()
    }

    /// Returns what the function of a point replies; none asks at a point without one.
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
