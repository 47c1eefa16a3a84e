//! The traffic with the model: the endpoint that requests go to, or the recording that answers them
//! in its place.

use crate::http::HttpClient;
use innerloop_core::{id::EndpointId, input::HttpFailure};
use innerloop_driver::{
    Endpoint, EndpointTable, ModelSource, SecretKeys, providers::Provider, traffic::TrafficPlayer,
};

/// The endpoint or the recording that a session talks to. Clones are for sessions that talk to the
/// same model.
#[derive(Clone, Debug)]
pub struct ModelTraffic {
    pub(super) endpoints: EndpointTable,
    pub(super) models: ModelSource,
}

impl ModelTraffic {
    /// Creates traffic with the provider's endpoint.
    #[must_use]
    pub fn live(provider: &Provider, endpoint: Endpoint) -> Self {
        let endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
        Self { endpoints, models: ModelSource::Live }
    }

    /// Adds the endpoint of another model.
    #[must_use]
    pub fn with(mut self, id: EndpointId, endpoint: Endpoint) -> Self {
        self.endpoints = self.endpoints.with(id, endpoint);
        self
    }

    /// Returns whether there is an endpoint of that name.
    #[must_use]
    pub fn has(&self, id: &EndpointId) -> bool {
        self.endpoints.find(id).is_some()
    }

    /// Creates traffic out of a recording: nothing is sent to the endpoint, but its key is masked
    /// if it is known.
    #[must_use]
    pub fn replayed(
        provider: &Provider,
        endpoint: Option<Endpoint>,
        player: TrafficPlayer,
    ) -> Self {
        let named = |endpoint| EndpointTable::default().with(provider.endpoint(), endpoint);
        let endpoints = endpoint.map_or_else(EndpointTable::default, named);
        Self { endpoints, models: ModelSource::Replayed { player, pace_ms: 0 } }
    }

    /// Returns the keys that must not be seen.
    #[must_use]
    pub fn keys(&self) -> SecretKeys {
        self.endpoints.keys()
    }

    /// Returns the client that sends the requests; `None` if a recording answers them.
    pub(super) fn http(&self) -> Result<Option<HttpClient>, HttpFailure> {
        match self.models {
            // A replay works without certificates and without a network.
            ModelSource::Replayed { .. } => Ok(None),
            ModelSource::Live | ModelSource::Recorded(_) => {
                HttpClient::new(self.endpoints.are_loopback()).map(Some)
            }
        }
    }
}
