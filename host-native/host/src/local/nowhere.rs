//! The machine on Windows, where its programs are not run: they would have to be confined, stopped
//! and cleaned up after in other ways. The type is there, so that callers need no conditions, and
//! can't be created.

use super::{
    hook_command::{HookCommand, HookSite},
    options::{LocalError, LocalOptions},
};
use crate::{
    environment::{ActionRequest, Environment, OutcomeFuture},
    hooks::HookHandler,
};
use innerloop_core::{config::HookPoint, id::AgentId, input::HookReply, output::HookRun};
use innerloop_driver::SecretKeys;
use innerloop_sandbox::{Executor, RunLimits};
use std::{convert::Infallible, future::Future, path::PathBuf, pin::Pin};

/// The machine as a place where commands run, which does not exist on Windows.
#[derive(Clone, Debug)]
pub struct LocalEnvironment(Infallible);

impl LocalEnvironment {
    /// Always fails.
    ///
    /// # Errors
    /// [`LocalError::NotHere`].
    pub fn open(_: Executor, _: &LocalOptions) -> Result<Self, LocalError> {
        Err(LocalError::NotHere)
    }

    /// Returns the same machine, which removes these keys from what commands print.
    #[must_use]
    pub fn without_keys(self, _: &SecretKeys) -> Self {
        self
    }

    /// Returns the same machine with other limits for the output of each command.
    #[must_use]
    pub fn with_limits(self, _: RunLimits) -> Self {
        self
    }

    /// Returns a line on what it means to run commands here.
    #[must_use]
    pub fn notice(&self) -> String {
        match self.0 {}
    }
}

impl Environment for LocalEnvironment {
    fn carry_out(&self, _: ActionRequest) -> OutcomeFuture<'_> {
        match self.0 {}
    }
}

/// Hooks that are commands, which are not run on Windows.
#[derive(Clone, Debug)]
pub struct HookCommands(Infallible);

impl HookCommands {
    /// Always fails.
    ///
    /// # Errors
    /// [`LocalError::NotHere`].
    pub fn open(_: Vec<HookCommand>, _: HookSite) -> Result<Self, LocalError> {
        Err(LocalError::NotHere)
    }

    /// Returns the points at which there are commands.
    #[must_use]
    pub fn points(&self) -> Vec<HookPoint> {
        match self.0 {}
    }
}

impl HookHandler for HookCommands {
    fn reply(&self, _: AgentId, _: HookRun) -> Pin<Box<dyn Future<Output = HookReply> + Send>> {
        match self.0 {}
    }
}

/// Returns where bubblewrap is installed: nowhere on Windows.
#[must_use]
pub fn bubblewrap() -> Option<PathBuf> {
    None
}
