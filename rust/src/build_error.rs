//! The reasons why an agent could not be built, each with the place and the fix.

use crate::session::SessionEndedError;
use innerloop_core::{RestoreError, config::ConfigError, input::RejectionReason, log::LogError};
use innerloop_driver::{EndpointError, SettingsError, providers::UnknownProvider};
use innerloop_host::{
    journal::JournalError, recording::RecordingError, setup::SiteError, web::DomainError,
};
use innerloop_sandbox::{manifest::ManifestError, programs::ProgramsError};
use innerloop_workspace::WorkspaceError;
use std::{io, path::PathBuf};
use tokio::task::JoinError;

/// The reason why an agent was not built.
///
/// ```
/// use innerloop::{Agent, BuildError};
///
/// # async fn example() -> Result<Agent, BuildError> {
/// match Agent::builder().provider("anthropic").build().await {
///     Err(BuildError::MissingKey { variables, .. }) => panic!("set {variables} first"),
///     other => other,
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No provider has that name.
    #[error(transparent)]
    UnknownProvider(#[from] UnknownProvider),
    /// The provider needs a key, and there is none.
    #[error("{provider} wants a key: set {variables}, or give one by `api_key`")]
    MissingKey {
        /// The provider's name for people.
        provider: String,
        /// The environment variables that are read.
        variables: String,
    },
    /// The endpoint cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// HTTP cannot be set up.
    #[error("{0}")]
    Http(String),
    /// The folder cannot be worked on.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The temporary folder for an agent without a workspace cannot be made.
    #[error("cannot make a folder to work in: {0}")]
    Folder(#[source] io::Error),
    /// A program of the sandbox cannot be used.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The manifest, the file that lists the programs, cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Reading the project's facts has panicked.
    #[error("cannot look at the project: {0}")]
    Facts(#[source] JoinError),
    /// An entry of the allowed web domains is not a domain.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// No model is named, or a patch of the configuration is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A patch of the configuration is not a JSON object.
    #[error("the patch is no JSON object: {0}")]
    Patch(String),
    /// No session can be restored from the snapshot.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// No session can be resumed from the log.
    #[error("{}: {error}", path.display())]
    Resume {
        /// The log.
        path: PathBuf,
        /// The reason why no session can be resumed from it.
        error: LogError,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason why it cannot be read.
        error: io::Error,
    },
    /// The log cannot be created.
    #[error(transparent)]
    Log(#[from] JournalError),
    /// Another agent is writing the log, in this program or in another one.
    #[error("{} is the log of an agent that goes on with it; close that one first", path.display())]
    Busy {
        /// The log.
        path: PathBuf,
    },
    /// The lock file beside the log cannot be opened or locked.
    #[error("cannot lock {}: {error}", path.display())]
    Unlocked {
        /// The file.
        path: PathBuf,
        /// The reason for the failure.
        error: io::Error,
    },
    /// The session refuses the builder's changes to its configuration.
    #[error(transparent)]
    Refused(#[from] RejectionReason),
    /// The recording cannot be read or created.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The system provides no random numbers for the session's id.
    #[error("the system gives no random numbers: {0}")]
    Random(#[source] io::Error),
    /// The session to fork is over.
    #[error(transparent)]
    Ended(#[from] SessionEndedError),
}

impl From<SiteError> for BuildError {
    fn from(error: SiteError) -> Self {
        match error {
            SiteError::Programs(error) => error.into(),
            SiteError::Manifest(error) => error.into(),
        }
    }
}
