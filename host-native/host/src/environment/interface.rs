//! What an environment is asked, and what it owes; and the sandbox as one.

use innerloop_core::{
    action::{Action, Outcome},
    config::EnvironmentFacts,
};
use innerloop_sandbox::{CallContext, Executor, OnDelta};
use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc, time::Duration};

/// The end of a run that is under way.
pub type OutcomeFuture<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// The word that a run is to stop: it comes when this is done.
pub type StopFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One action that is to be carried out.
pub struct ActionRequest {
    /// The action to carry out.
    pub action: Action,
    /// For whom and where, and what the model knows of the files that the action names.
    pub call: CallContext,
    /// After how long it is stopped and answered with what there is, `timed_out` set.
    pub timeout: Duration,
    /// The callback that receives what a program prints, as it comes.
    pub on_delta: Option<OnDelta>,
    /// The future that is done when the run is to stop. The answer is still waited for, with what
    /// there is by then.
    pub stop: StopFuture,
}

/// A place where actions are carried out.
pub trait Environment: Debug + Send + Sync {
    /// Carries out an action. What goes wrong is an outcome that the model reads. Dropping the
    /// future stops the run.
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_>;

    /// Returns what the model is told of the place, made from what the host has found out about the
    /// workspace: for example its working directory, its system and its programs.
    fn facts(&self, found: EnvironmentFacts) -> EnvironmentFacts {
        found
    }
}

impl<T: Environment + ?Sized> Environment for Arc<T> {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        (**self).carry_out(request)
    }

    fn facts(&self, found: EnvironmentFacts) -> EnvironmentFacts {
        (**self).facts(found)
    }
}

/// The sandbox.
impl Environment for Executor {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        let ActionRequest { action, call, timeout, on_delta, stop } = request;
        Box::pin(async move { self.run_until(&call, &action, timeout, on_delta, stop).await })
    }
}
