//! The site of a session's tools: the workspace, the sandbox over it, and another place for the
//! built-in actions if one is wanted.

use crate::{
    environment::{Environment, ReadOnly},
    facts,
    local::LocalEnvironment,
    tools::ToolRunner,
};
use innerloop_core::config::{EnvironmentFacts, ProfileKind};
use innerloop_driver::SecretKeys;
use innerloop_sandbox::{
    Executor, ReadIsolation, SandboxEngine,
    manifest::ManifestError,
    programs::{ProgramRegistry, ProgramsError},
};
use innerloop_workspace::{Workspace, app_dirs};
use std::{path::Path, sync::Arc};
use tokio::task::{JoinError, spawn_blocking};

/// The site of a session's tools.
#[derive(Debug)]
pub struct WorkSite {
    sandbox: Executor,
    place: ActionPlace,
}

/// The place where built-in actions are carried out.
#[derive(Debug)]
enum ActionPlace {
    Sandbox,
    /// The sandbox, where actions change and run nothing.
    ReadOnly,
    Local(Box<LocalEnvironment>),
    Elsewhere(Arc<dyn Environment>),
}

/// The reason that there is no sandbox over a workspace.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The file that lists the programs can't be used.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The project's file that lists its programs can't be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl WorkSite {
    /// Opens the sandbox over a workspace, with the programs of that folder or `tools.toml`, or
    /// else the user's, as far as the project allows them.
    ///
    /// # Errors
    /// [`SiteError`]: what says which programs there are cannot be used.
    pub fn open(
        workspace: Workspace,
        programs: Option<&Path>,
        engine: Arc<SandboxEngine>,
    ) -> Result<Self, SiteError> {
        let programs = ProgramRegistry::find(programs)?.in_project(&workspace)?;
        Ok(Self {
            sandbox: Executor::new(engine, workspace, programs),
            place: ActionPlace::Sandbox,
        })
    }

    /// Returns the site with actions that only read carried out there.
    #[must_use]
    pub fn with_isolation(self, isolation: ReadIsolation) -> Self {
        Self { sandbox: self.sandbox.with_isolation(isolation), ..self }
    }

    /// Returns the site with nothing changed and nothing run.
    #[must_use]
    pub fn reading_only(self) -> Self {
        Self { place: ActionPlace::ReadOnly, ..self }
    }

    /// Returns the site with commands on the machine itself.
    #[must_use]
    pub fn with_local(self, local: LocalEnvironment) -> Self {
        Self { place: ActionPlace::Local(Box::new(local)), ..self }
    }

    /// Returns the site with built-in actions carried out by that environment.
    #[must_use]
    pub fn with_environment(self, environment: Arc<dyn Environment>) -> Self {
        Self { place: ActionPlace::Elsewhere(environment), ..self }
    }

    /// Returns the workspace, as the agent sees it.
    #[must_use]
    pub const fn workspace(&self) -> &Workspace {
        self.sandbox.workspace()
    }

    /// Returns the sandbox over the workspace.
    #[must_use]
    pub const fn sandbox(&self) -> &Executor {
        &self.sandbox
    }

    /// Returns the place of built-in actions, which does not yet remove keys from its output.
    #[must_use]
    pub fn place(&self) -> &dyn Environment {
        match &self.place {
            ActionPlace::Sandbox | ActionPlace::ReadOnly => &self.sandbox,
            ActionPlace::Local(local) => &**local,
            ActionPlace::Elsewhere(environment) => environment,
        }
    }

    /// Returns whether commands run on the machine itself.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        matches!(self.place, ActionPlace::Local(_))
    }

    /// Protects these files, and those that configure the next session, from all changes by the
    /// agent, if they are in the workspace.
    pub fn reserve<'a>(&self, files: impl IntoIterator<Item = &'a Path>) {
        let workspace = self.workspace();
        files.into_iter().for_each(|file| workspace.reserve(file));
        // Whoever writes those files decides what the next session may do, so that an agent must
        // not.
        app_dirs::of_next_run().for_each(|folder| workspace.reserve_folder(&folder));
    }

    /// Returns the facts that a model of that family reads. It may take seconds where a repository
    /// is large, and blocks no other task.
    ///
    /// # Errors
    /// The look at the project has panicked.
    pub async fn facts(&self, family: ProfileKind) -> Result<EnvironmentFacts, JoinError> {
        let (workspace, programs) = (self.workspace().clone(), self.sandbox.programs().facts());
        let found = spawn_blocking(move || facts::collect(&workspace, programs, family)).await?;
        Ok(self.place().facts(found))
    }

    /// Returns the tools of this site, which remove these keys from their output; the host's own
    /// are added to them.
    #[must_use]
    pub fn tools(&self, keys: &SecretKeys) -> ToolRunner {
        let sandbox = self.sandbox.clone().without_keys(keys);
        let tools = ToolRunner::new(sandbox.clone());
        match &self.place {
            ActionPlace::Sandbox => tools,
            ActionPlace::ReadOnly => tools.with_environment(ReadOnly::new(sandbox)),
            ActionPlace::Local(local) => {
                tools.with_environment(LocalEnvironment::clone(local).without_keys(keys))
            }
            ActionPlace::Elsewhere(environment) => tools.with_environment(Arc::clone(environment)),
        }
    }
}
