//! The model's traffic: where requests go, and where the answers come from.

use crate::http::Http;
use innerloop_core::input::HttpFailure;
use innerloop_driver::{Endpoint, Endpoints, Keys, Models, providers::Provider, traffic::Player};

/// The place that a session's requests go to and the answers come from. Clones are for sessions
/// that speak to the same model.
#[derive(Clone, Debug)]
pub struct ModelTraffic {
    pub(super) endpoints: Endpoints,
    pub(super) models: Models,
}

impl ModelTraffic {
    /// To and from the provider's endpoint.
    #[must_use]
    pub fn live(provider: &Provider, endpoint: Endpoint) -> Self {
        let endpoints = Endpoints::default().with(provider.endpoint(), endpoint);
        Self { endpoints, models: Models::Live }
    }

    /// Out of a recording: nothing is sent to the endpoint, but its key is masked if it is known.
    #[must_use]
    pub fn replayed(provider: &Provider, endpoint: Option<Endpoint>, player: Player) -> Self {
        let named = |endpoint| Endpoints::default().with(provider.endpoint(), endpoint);
        let endpoints = endpoint.map_or_else(Endpoints::default, named);
        Self { endpoints, models: Models::Replayed { player, pace_ms: 0 } }
    }

    /// The keys that must not be seen.
    #[must_use]
    pub fn keys(&self) -> Keys {
        self.endpoints.keys()
    }

    /// The client that sends the requests; none if a recording answers them.
    pub(super) fn http(&self) -> Result<Option<Http>, HttpFailure> {
        match self.models {
            Models::Replayed { .. } => Ok(None),
            Models::Live | Models::Recorded(_) => {
                Http::new(self.endpoints.are_loopback()).map(Some)
            }
        }
    }
}
