//! Programs of this machine are not run on Windows: how they are confined, stopped and cleaned up
//! after is other work there.

use super::options::{LocalError, LocalOptions};
use crate::environment::{ActionRequest, Environment, OutcomeFuture};
use innerloop_driver::SecretKeys;
use innerloop_sandbox::{Executor, RunLimits};
use std::{convert::Infallible, path::PathBuf};

/// The machine as a place where commands run, of which there is none on Windows.
#[derive(Clone, Debug)]
pub struct LocalEnvironment(Infallible);

impl LocalEnvironment {
    /// Fails.
    ///
    /// # Errors
    /// [`LocalError::NotHere`].
    pub fn open(_: Executor, _: &LocalOptions) -> Result<Self, LocalError> {
        Err(LocalError::NotHere)
    }

    /// The same machine, which takes these keys out of what commands print.
    #[must_use]
    pub fn without_keys(self, _: &SecretKeys) -> Self {
        self
    }

    /// The same machine with other limits for what each command may print.
    #[must_use]
    pub fn with_limits(self, _: RunLimits) -> Self {
        self
    }

    /// Returns what it means to run commands here.
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

/// Returns where bubblewrap is installed, which it never is.
#[must_use]
pub fn bubblewrap() -> Option<PathBuf> {
    None
}
