//! The site of a session's tools: the workspace, the sandbox over it, and another place for the
//! built-in actions where one is wanted.

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
    /// In the sandbox, where they change and run nothing.
    ReadOnly,
    Local(Box<LocalEnvironment>),
    Elsewhere(Arc<dyn Environment>),
}

/// The reason that there is no sandbox over a workspace.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The file that says which programs there are cannot be used.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The file of the project that says so cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl WorkSite {
    /// The sandbox over a workspace, with the programs of that folder or `tools.toml`, or else the
    /// user's, as far as the project lets them be.
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

    /// With what only reads carried out there.
    #[must_use]
    pub fn with_isolation(self, isolation: ReadIsolation) -> Self {
        Self { sandbox: self.sandbox.with_isolation(isolation), ..self }
    }

    /// With nothing changed and nothing run.
    #[must_use]
    pub fn reading_only(self) -> Self {
        Self { place: ActionPlace::ReadOnly, ..self }
    }

    /// With commands on the machine itself.
    #[must_use]
    pub fn with_local(self, local: LocalEnvironment) -> Self {
        Self { place: ActionPlace::Local(Box::new(local)), ..self }
    }

    /// With built-in actions carried out there.
    #[must_use]
    pub fn with_environment(self, environment: Arc<dyn Environment>) -> Self {
        Self { place: ActionPlace::Elsewhere(environment), ..self }
    }

    /// The workspace, as the agent sees it.
    #[must_use]
    pub const fn workspace(&self) -> &Workspace {
        self.sandbox.workspace()
    }

    /// The sandbox over it.
    #[must_use]
    pub const fn sandbox(&self) -> &Executor {
        &self.sandbox
    }

    /// The place of built-in actions, as it is before keys are taken out of what it says.
    #[must_use]
    pub fn place(&self) -> &dyn Environment {
        match &self.place {
            ActionPlace::Sandbox | ActionPlace::ReadOnly => &self.sandbox,
            ActionPlace::Local(local) => &**local,
            ActionPlace::Elsewhere(environment) => environment,
        }
    }

    /// True if commands run on the machine itself.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        matches!(self.place, ActionPlace::Local(_))
    }

    /// Lets nothing that the agent does change these files, nor what the next session obeys, should
    /// they lie in the workspace.
    pub fn reserve<'a>(&self, files: impl IntoIterator<Item = &'a Path>) {
        let workspace = self.workspace();
        files.into_iter().for_each(|file| workspace.reserve(file));
        app_dirs::of_next_run().for_each(|folder| workspace.reserve_folder(&folder));
    }

    /// The facts that a model of that family is told. It may take seconds where a repository is
    /// large, and holds up nobody else.
    ///
    /// # Errors
    /// The look at the project has panicked.
    pub async fn facts(&self, family: ProfileKind) -> Result<EnvironmentFacts, JoinError> {
        let (workspace, programs) = (self.workspace().clone(), self.sandbox.programs().facts());
        let found = spawn_blocking(move || facts::collect(&workspace, programs, family)).await?;
        Ok(self.place().facts(found))
    }

    /// The tools of this site, with these keys taken out of what they say; the host's own are added
    /// to them.
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
