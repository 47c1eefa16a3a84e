//! The model's traffic: where requests go, and where the answers come from.

use crate::http::HttpClient;
use innerloop_core::input::HttpFailure;
use innerloop_driver::{
    Endpoint, EndpointTable, ModelSource, SecretKeys, providers::Provider, traffic::TrafficPlayer,
};

/// The place that a session's requests go to and the answers come from. Clones are for sessions
/// that speak to the same model.
#[derive(Clone, Debug)]
pub struct ModelTraffic {
    pub(super) endpoints: EndpointTable,
    pub(super) models: ModelSource,
}

impl ModelTraffic {
    /// To and from the provider's endpoint.
    #[must_use]
    pub fn live(provider: &Provider, endpoint: Endpoint) -> Self {
        let endpoints = EndpointTable::default().with(provider.endpoint(), endpoint);
        Self { endpoints, models: ModelSource::Live }
    }

    /// Out of a recording: nothing is sent to the endpoint, but its key is masked if it is known.
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

    /// The keys that must not be seen.
    #[must_use]
    pub fn keys(&self) -> SecretKeys {
        self.endpoints.keys()
    }

    /// The client that sends the requests; none if a recording answers them.
    pub(super) fn http(&self) -> Result<Option<HttpClient>, HttpFailure> {
        match self.models {
            ModelSource::Replayed { .. } => Ok(None),
            ModelSource::Live | ModelSource::Recorded(_) => {
                HttpClient::new(self.endpoints.are_loopback()).map(Some)
            }
        }
    }
}
