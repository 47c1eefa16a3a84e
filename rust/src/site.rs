//! What the sessions of an agent work with: the workspace, the tools, the model's endpoint, and who
//! is asked.

use crate::{build_error::BuildError, hooks::Hooks, people::People, session::Link};
use innerloop_core::config::ProgramFacts;
use innerloop_driver::{Driver, Endpoints, Models, Parts as DriverParts, People as Asked};
use innerloop_host::{
    host::{Host, Parts, new_session_id},
    http::{Http, wall_time},
    journal::Journal,
    recording::Recording,
    tools::Tools,
};
use innerloop_sandbox::Executor;
use innerloop_workspace::Workspace;
use std::{fs::File, sync::Arc};
use tempfile::TempDir;

/// What the sessions of an agent work with.
#[derive(Debug)]
pub(crate) struct Site {
    workspace: Workspace,
    /// The folder of the workspace, if nobody else has it.
    _own: Option<TempDir>,
    sandbox: Executor,
    tools: Tools,
    model: Model,
    people: People,
    hooks: Hooks,
}

/// Where the model is.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) endpoints: Endpoints,
    pub(crate) models: Models,
}

/// What a session is written to.
#[derive(Debug, Default)]
pub(crate) struct Outlets {
    pub(crate) journal: Option<Journal>,
    pub(crate) recording: Option<Recording>,
    /// What keeps others from writing the log, as long as it is held.
    pub(crate) lock: Option<File>,
}

impl Site {
    pub(crate) fn new(
        workspace: Workspace,
        own: Option<TempDir>,
        sandbox: Executor,
        tools: Tools,
        model: Model,
        (people, hooks): (People, Hooks),
    ) -> Self {
        Self { workspace, _own: own, sandbox, tools, model, people, hooks }
    }

    pub(crate) const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) const fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The programs that the sandbox can run.
    pub(crate) fn programs(&self) -> Vec<ProgramFacts> {
        self.sandbox.programs().facts()
    }

    /// Who is there to be asked.
    pub(crate) fn people(&self) -> Asked {
        Asked {
            approve: self.people.approves(),
            answer: self.people.answers(),
            hooks: self.hooks.points(),
        }
    }

    /// What a session's driver works with here.
    pub(crate) fn parts(&self, keeps_log: bool) -> DriverParts {
        let people = self.people();
        let (endpoints, models) = (self.model.endpoints.clone(), self.model.models.clone());
        DriverParts { endpoints, models, people, keeps_log }
    }

    /// Begins the session with those tools.
    pub(crate) fn begin(
        &self,
        driver: Driver,
        tools: Tools,
        Outlets { journal, recording, lock }: Outlets,
    ) -> Result<Link, BuildError> {
        let http = match self.model.models {
            Models::Replayed { .. } => None,
            Models::Live | Models::Recorded(_) => {
                let http = Http::new(self.model.endpoints.are_loopback());
                Some(http.map_err(|failure| BuildError::Http(failure.message))?)
            }
        };
        let host = Host::new(driver, Parts { http, tools, journal, recording });
        let host = host.with_hooks(Arc::new(self.hooks.clone()));
        Ok(Link::begin(host, self.people.clone(), lock))
    }

    /// A session that has heard the first `turns` turns of a driver's, or all.
    pub(crate) fn fork(&self, driver: &Driver, turns: Option<usize>) -> Result<Driver, BuildError> {
        let parts = DriverParts {
            models: match &self.model.models {
                // What is recorded is one session.
                Models::Recorded(_) => Models::Live,
                models => models.clone(),
            },
            ..self.parts(false)
        };
        let id = new_session_id().map_err(BuildError::Random)?;
        Ok(driver.fork(id, turns.unwrap_or(usize::MAX), wall_time(), parts)?)
    }
}
