//! An environment in which no file is changed, and nothing is run unless that is allowed.

use super::interface::{ActionRequest, Environment, OutcomeFuture};
use innerloop_core::{
    action::{Action, Outcome, ToolError},
    config::EnvironmentFacts,
};

/// Refuses actions that change files, and those that run a program or a command unless that was
/// allowed. Everything else goes to the environment inside. It has no say in the host's own tools.
#[derive(Clone, Debug)]
pub struct ReadOnly<E> {
    inner: E,
    runs_programs: bool,
}

impl<E: Environment> ReadOnly<E> {
    /// Wraps an environment, and runs no programs in it.
    pub const fn new(inner: E) -> Self {
        Self { inner, runs_programs: false }
    }

    /// Returns the same environment, in which programs and commands still run. What they change is
    /// not watched.
    #[must_use]
    pub fn with_programs(self) -> Self {
        Self { runs_programs: true, ..self }
    }

    /// Returns the reason for refusing an action, or nothing if it is carried out.
    fn refusal(&self, action: &Action) -> Option<&'static str> {
        match action {
            Action::Read { .. }
            | Action::ViewImage { .. }
            | Action::ReadMany { .. }
            | Action::List { .. }
            | Action::Glob { .. }
            | Action::Grep { .. }
            | Action::Fetch { .. } => None,
            Action::RunProgram { .. } | Action::Shell { .. } if self.runs_programs => None,
            Action::RunProgram { .. } | Action::Shell { .. } => {
                Some("Programs are disabled in read-only mode.")
            }
            Action::Write { .. } | Action::Edit { .. } | Action::Patch { .. } => {
                Some("Write operations are disabled in read-only mode.")
            }
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
