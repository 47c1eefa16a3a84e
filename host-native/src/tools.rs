//! Tool runs for the driver: built-in actions go to the sandbox. A run that is stopped still
//! answers, with what there is.

use crate::sandbox::{Executor, OnDelta};
use innerloop_core::{
    action::{Outcome, ToolError},
    tool::{Job, ToolRun},
};
use std::{sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// Who runs tools.
#[derive(Clone, Debug)]
pub struct Tools {
    sandbox: Executor,
}

impl Tools {
    /// Runs built-in actions in that sandbox.
    #[must_use]
    pub const fn new(sandbox: Executor) -> Self {
        Self { sandbox }
    }

    /// Runs a tool to its end, its time limit, or the word to stop.
    pub(crate) async fn run(
        &self,
        run: Arc<ToolRun>,
        on_delta: OnDelta,
        stop: oneshot::Receiver<()>,
    ) -> Outcome {
        let sandbox = self.sandbox.within(&run.folder);
        let timeout = Duration::from_millis(run.timeout_ms);
        match &run.job {
            Job::Builtin(action) => {
                let stopped = async move { drop(stop.await) };
                sandbox.run_until(action, timeout, Some(on_delta), stopped).await
            }
            Job::Custom(_) => {
                let message = format!("this host has no tool {:?} of its own", run.name);
                Outcome::error(ToolError::UnknownTool, message)
            }
        }
    }
}
