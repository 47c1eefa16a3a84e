//! A blueprint: one configuration for many sessions. What is made of it (system prompt, tools, the
//! encoded head of a request) exists once and is shared.

use super::Session;
use crate::machine::setup::AgentSetup;
use alloc::{string::String, sync::Arc};
use innerloop_types::{
    config::{ConfigError, SessionConfig},
    id::SessionId,
    output::OutputBatch,
    time::UnixMillis,
};

/// A configuration that sessions are opened with.
#[derive(Clone, Debug)]
pub struct SessionBlueprint(Arc<AgentSetup>);

impl SessionBlueprint {
    /// Checks a configuration and prepares all that its sessions share. Its `id` may be any.
    ///
    /// # Errors
    /// The field of the configuration that cannot work, and why.
    pub fn new(config: SessionConfig) -> Result<Self, ConfigError> {
        AgentSetup::new(config).map(|setup| Self(Arc::new(setup)))
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.0.config
    }

    /// Opens a session as [`Session::open`] does, under an id of its own.
    ///
    /// # Errors
    /// The id is empty.
    pub fn open(
        &self,
        id: SessionId,
        wall: UnixMillis,
    ) -> Result<(Session, OutputBatch), ConfigError> {
        // The configuration was checked under the blueprint's id; this one is new.
        if id.0.trim().is_empty() {
            let message = String::from("is empty: give the session a unique id");
            return Err(ConfigError::new("id", message));
        }
        Ok(Session::with(id, Arc::clone(&self.0), wall))
    }
}
