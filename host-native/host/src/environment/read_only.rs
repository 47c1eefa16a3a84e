//! An environment in which nothing is changed.

use super::interface::{ActionRequest, Environment, OutcomeFuture};
use innerloop_core::{
    action::{Action, Outcome, ToolError},
    config::EnvironmentFacts,
};

/// Refuses what changes files, and what runs a program or a command unless that was allowed; all
/// else is left to the environment inside. The host's own tools are not its business.
#[derive(Clone, Debug)]
pub struct ReadOnly<E> {
    inner: E,
    runs_programs: bool,
}

impl<E: Environment> ReadOnly<E> {
    /// Around that environment.
    pub const fn new(inner: E) -> Self {
        Self { inner, runs_programs: false }
    }

    /// The same, where programs and commands run all the same: what they change is theirs.
    #[must_use]
    pub fn with_programs(self) -> Self {
        Self { runs_programs: true, ..self }
    }

    /// Returns why an action is refused, if it is.
    fn refusal(&self, action: &Action) -> Option<&'static str> {
        match action {
            Action::Write { .. } | Action::Edit { .. } | Action::Patch { .. } => {
                Some("Write operations are disabled in read-only mode.")
            }
            Action::RunProgram { .. } | Action::Shell { .. } if !self.runs_programs => {
                Some("Programs are disabled in read-only mode.")
            }
            _ => None,
        }
    }
}

impl<E: Environment> Environment for ReadOnly<E> {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        match self.refusal(&request.action) {
            Some(why) => {
                let refused = Outcome::error(ToolError::PermissionDenied, why);
                Box::pin(std::future::ready(refused))
            }
            None => self.inner.carry_out(request),
        }
    }

    fn facts(&self, found: EnvironmentFacts) -> EnvironmentFacts {
        self.inner.facts(found)
    }
}
