//! Why an agent could not be made.

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
    /// The provider wants a key, and there is none.
    #[error("{provider} wants a key: set {variables}, or give one by `api_key`")]
    MissingKey {
        /// The provider's name for people.
        provider: String,
        /// The variables of the environment that are looked at.
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
    /// A folder of one's own cannot be made.
    #[error("cannot make a folder to work in: {0}")]
    Folder(#[source] io::Error),
    /// The file that says which programs there are cannot be used.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The file of the project that says so cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The look at the project has broken.
    #[error("cannot look at the project: {0}")]
    Facts(#[source] JoinError),
    /// A domain whose pages may be read is none.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// No model is named, or a patch of the configuration does not fit.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A patch of the configuration is no JSON object.
    #[error("the patch is no JSON object: {0}")]
    Patch(String),
    /// The snapshot is none that a session can be made of.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// The log is none that a session can be made of.
    #[error("{}: {error}", path.display())]
    Resume {
        /// The log.
        path: PathBuf,
        /// The reason why no session can be made of it.
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
    /// The log cannot be made.
    #[error(transparent)]
    Log(#[from] JournalError),
    /// Another agent writes the log, of this program or of another.
    #[error("{} is the log of an agent that goes on with it; close that one first", path.display())]
    Busy {
        /// The log.
        path: PathBuf,
    },
    /// The file beside a log that says who writes it cannot be had.
    #[error("cannot lock {}: {error}", path.display())]
    Unlocked {
        /// The file.
        path: PathBuf,
        /// The reason for the failure.
        error: io::Error,
    },
    /// The session refuses the configuration that goes over its own.
    #[error(transparent)]
    Refused(#[from] RejectionReason),
    /// The recording cannot be read or made.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The system gives no random numbers, of which a session's id is made.
    #[error("the system gives no random numbers: {0}")]
    Random(#[source] io::Error),
    /// The session that was to be forked is over.
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
