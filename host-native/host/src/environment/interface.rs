//! The interface of an environment: what it is asked, what it owes, and the sandbox as the one that
//! is used unless the host gives another.

use innerloop_core::{
    action::{Action, Outcome},
    config::EnvironmentFacts,
};
use innerloop_sandbox::{CallContext, Executor, OnDelta};
use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc, time::Duration};

/// The outcome of an action that is under way.
pub type OutcomeFuture<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// The signal to stop an action: it is given when this future is done.
pub type StopFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An action that is to be carried out.
pub struct ActionRequest {
    /// The action to carry out.
    pub action: Action,
    /// The caller and its folder, and what the model knows of the files that the action names.
    pub call: CallContext,
    /// The time after which the action is stopped and answered with what there is, `timed_out` set.
    pub timeout: Duration,
    /// The callback that receives what a program prints, as it comes.
    pub on_delta: Option<OnDelta>,
    /// The signal to stop the action. Its outcome is still waited for, with what there is by then.
    pub stop: StopFuture,
}

/// A place where actions are carried out.
pub trait Environment: Debug + Send + Sync {
    /// Carries out an action. A failure is an outcome, too, which the model reads. Dropping the
    /// future stops the action.
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_>;

    /// Returns the facts that the model reads about the environment, made from what the host has
    /// found out about the workspace: for example its working directory, its system and its
    /// programs.
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

/// The sandbox as an environment.
impl Environment for Executor {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        let ActionRequest { action, call, timeout, on_delta, stop } = request;
        Box::pin(async move { self.run_until(&call, &action, timeout, on_delta, stop).await })
    }
}
