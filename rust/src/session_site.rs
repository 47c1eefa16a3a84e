//! The resources that an agent's session shares with its forks: the environment of their tools, the
//! model's traffic, and the functions for questions and hooks.

use crate::{
    approvals::UserCallbacks, build_error::BuildError, hooks::HookTable, session::SessionHandle,
};
use innerloop_driver::{Driver, HostCapabilities as Asked};
use innerloop_host::{
    host::new_session_id,
    journal::Journal,
    lock::LockFile,
    setup::{ModelTraffic, OpenSession, SessionSetup, WorkSite},
    tools::ToolRunner,
};
use innerloop_workspace::Workspace;
use std::sync::Arc;
use tempfile::TempDir;

/// The resources of an agent's sessions.
#[derive(Debug)]
pub(crate) struct SessionResources {
    work: WorkSite,
    /// The temporary folder of an agent without a user's folder. It is kept here since dropping it
    /// removes the folder.
    _own: Option<TempDir>,
    traffic: ModelTraffic,
    people: UserCallbacks,
    hooks: HookTable,
}

/// The log of a session, if one is kept.
#[derive(Debug, Default)]
pub(crate) struct SessionLog {
    pub(crate) journal: Option<Journal>,
    /// The lock that keeps others from writing the log as long as it is held.
    pub(crate) lock: Option<LockFile>,
}

impl SessionResources {
    pub(crate) fn new(
        (work, own): (WorkSite, Option<TempDir>),
        traffic: ModelTraffic,
        (people, hooks): (UserCallbacks, HookTable),
    ) -> Self {
        Self { work, _own: own, traffic, people, hooks }
    }

    pub(crate) const fn workspace(&self) -> &Workspace {
        self.work.workspace()
    }

    pub(crate) const fn work(&self) -> &WorkSite {
        &self.work
    }

    /// Returns the questions and hooks for which the program has functions.
    pub(crate) fn people(&self) -> Asked {
        Asked {
            approve: self.people.approves(),
            answer: self.people.answers(),
            hooks: self.hooks.points(),
        }
    }

    /// Returns the set-up of a session with these resources.
    pub(crate) fn setup(&self) -> Result<SessionSetup, BuildError> {
        let people = self.people();
        let setup = SessionSetup::new(self.traffic.clone());
        let setup = setup.map_err(|failure| BuildError::Http(failure.message))?;
        Ok(setup.with_people(people).with_hooks(Arc::new(self.hooks.clone())))
    }

    /// Starts driving a session with these tools.
    pub(crate) fn begin(
        &self,
        opened: OpenSession,
        tools: ToolRunner,
        outlets: SessionLog,
    ) -> SessionHandle {
        let SessionLog { journal, lock } = outlets;
        SessionHandle::begin(opened.host(tools, journal), self.people.clone(), lock)
    }

    /// Opens a session whose history is the first `turns` turns of a driver's, or all.
    pub(crate) fn fork(
        &self,
        driver: &Driver,
        turns: Option<usize>,
    ) -> Result<OpenSession, BuildError> {
        let id = new_session_id().map_err(BuildError::Random)?;
        Ok(self.setup()?.fork(driver, id, turns.unwrap_or(usize::MAX))?)
    }
}
