//! Where a session's tools work: the workspace, the sandbox over it, and another place for the
//! built-in actions where one is wanted.

use crate::{
    environment::{Environment, ReadOnly},
    facts,
    local::Local,
    tools::Tools,
};
use innerloop_core::config::{Facts, ProfileKind};
use innerloop_driver::Keys;
use innerloop_sandbox::{
    Executor, Isolation, SandboxEngine,
    manifest::ManifestError,
    programs::{Programs, ProgramsError},
};
use innerloop_workspace::{Workspace, places};
use std::{path::Path, sync::Arc};
use tokio::task::{JoinError, spawn_blocking};

/// Where a session's tools work.
#[derive(Debug)]
pub struct WorkSite {
    sandbox: Executor,
    place: Place,
}

/// Where built-in actions are carried out.
#[derive(Debug)]
enum Place {
    Sandbox,
    /// In the sandbox, where they change and run nothing.
    ReadOnly,
    Local(Box<Local>),
    Elsewhere(Arc<dyn Environment>),
}

/// Why there is no sandbox over a workspace.
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
        let programs = Programs::find(programs)?.in_project(&workspace)?;
        Ok(Self { sandbox: Executor::new(engine, workspace, programs), place: Place::Sandbox })
    }

    /// With what only reads carried out there.
    #[must_use]
    pub fn with_isolation(self, isolation: Isolation) -> Self {
        Self { sandbox: self.sandbox.with_isolation(isolation), ..self }
    }

    /// With nothing changed and nothing run.
    #[must_use]
    pub fn reading_only(self) -> Self {
        Self { place: Place::ReadOnly, ..self }
    }

    /// With commands on the machine itself.
    #[must_use]
    pub fn with_local(self, local: Local) -> Self {
        Self { place: Place::Local(Box::new(local)), ..self }
    }

    /// With built-in actions carried out there.
    #[must_use]
    pub fn with_environment(self, environment: Arc<dyn Environment>) -> Self {
        Self { place: Place::Elsewhere(environment), ..self }
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

    /// Where built-in actions are carried out, without a look at keys.
    #[must_use]
    pub fn place(&self) -> &dyn Environment {
        match &self.place {
            Place::Sandbox | Place::ReadOnly => &self.sandbox,
            Place::Local(local) => &**local,
            Place::Elsewhere(environment) => environment,
        }
    }

    /// Whether commands run on the machine itself.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        matches!(self.place, Place::Local(_))
    }

    /// Lets nothing that the agent does change these files, nor what the next session obeys, should
    /// they lie in the workspace.
    pub fn reserve<'a>(&self, files: impl IntoIterator<Item = &'a Path>) {
        let workspace = self.workspace();
        files.into_iter().for_each(|file| workspace.reserve(file));
        places::of_next_run().for_each(|folder| workspace.reserve_folder(&folder));
    }

    /// What a model of that family is told of the place. It may take seconds where a repository is
    /// large, and holds up nobody else.
    ///
    /// # Errors
    /// What looks at the project has panicked.
    pub async fn facts(&self, family: ProfileKind) -> Result<Facts, JoinError> {
        let (workspace, programs) = (self.workspace().clone(), self.sandbox.programs().facts());
        let found = spawn_blocking(move || facts::collect(&workspace, programs, family)).await?;
        Ok(self.place().facts(found))
    }

    /// What runs tools here and takes these keys out of what they say; those of the host's own are
    /// added to it.
    #[must_use]
    pub fn tools(&self, keys: &Keys) -> Tools {
        let sandbox = self.sandbox.clone().without_keys(keys);
        let tools = Tools::new(sandbox.clone());
        match &self.place {
            Place::Sandbox => tools,
            Place::ReadOnly => tools.with_environment(ReadOnly::new(sandbox)),
            Place::Local(local) => tools.with_environment(Local::clone(local).without_keys(keys)),
            Place::Elsewhere(environment) => tools.with_environment(Arc::clone(environment)),
        }
    }
}
