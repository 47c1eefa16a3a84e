//! The reasons why an agent could not be built, each with the fix.

use innerloop_core::{RestoreError, config::ConfigError, input::RejectedInput};
use innerloop_driver::{
    EndpointError, SettingsError, providers::UnknownProvider, traffic::TrafficError,
};

/// The reason why an agent was not built.
///
/// ```
/// use innerloop_web::{Agent, BuildError};
///
/// # fn example(show: impl Fn(&str)) -> Result<Agent, BuildError> {
/// let built = Agent::builder().provider("anthropic").build();
/// if let Err(BuildError::MissingKey { provider }) = &built {
///     show(&format!("Type your key of {provider}"));
/// }
/// built
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No provider has that name.
    #[error(transparent)]
    UnknownProvider(#[from] UnknownProvider),
    /// The provider needs a key, and there is none.
    #[error(
        "{provider} wants a key: give one by `api_key`, or the `base_url` of a proxy that adds one"
    )]
    MissingKey {
        /// The provider's name for people.
        provider: String,
    },
    /// The endpoint cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
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
    /// The session refuses the builder's changes to its configuration.
    #[error(transparent)]
    Refused(#[from] Box<RejectedInput>),
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] TrafficError),
    /// The options from JavaScript are invalid.
    #[error("{0}")]
    Options(String),
    /// The page provides no random numbers for the session's id.
    #[error("the page gives no random numbers: {0}")]
    Random(#[source] getrandom::Error),
}
