//! The access to the model: through the endpoint and the key that options, environment and settings
//! name, or through a recording in their place.

use super::user_wishes::SessionRequest;
use crate::{
    console::warn,
    exit::CliError,
    fallbacks,
    key_in_use::KeyInUse,
    model_recording,
    setup::{self, EndpointAccess},
};
use innerloop_core::{config::SessionConfig, input::HttpFailure, routing::RoutedModel};
use innerloop_driver::providers::Provider;
use innerloop_host::{
    recording::RecordingOrigin,
    setup::{ModelTraffic, SessionSetup},
};

/// The access to the model.
pub(super) struct ModelAccess {
    pub(super) setup: SessionSetup,
    pub(super) key: KeyInUse,
    /// The model that the replayed recording was made with, if it says so.
    replayed: Option<RecordingOrigin>,
}

impl ModelAccess {
    /// Returns the access to that provider, or to the recording of it, and to the models that take
    /// over.
    pub(super) fn of(
        provider: &Provider,
        models: &[RoutedModel],
        asked: &mut SessionRequest,
    ) -> Result<Self, CliError> {
        let SessionRequest { args, replay, .. } = asked;
        let unreachable = |failure: HttpFailure| CliError::configuration(failure.message);
        // A replay needs no key, so that it comes before the endpoint, which would ask for one.
        if let Some(replay) = replay.take() {
            let (player, replayed) = replay.parts();
            let endpoint = setup::recorded_endpoint(provider, &args.model);
            let traffic = ModelTraffic::replayed(provider, endpoint, player);
            let setup = SessionSetup::new(traffic).map_err(unreachable)?;
            return Ok(Self { setup, key: KeyInUse::recorded(provider), replayed });
        }
        let EndpointAccess { endpoint, found } = setup::endpoint_of(provider, &args.model)?;
        if let Some(found) = found.as_ref().filter(|found| found.key.is_simple()) {
            let place = found.origin.told();
            let why = "is short or a plain word, so it is not masked where it appears in text";
            warn(&format!("the key in {place} {why}"));
        }
        let key = KeyInUse::new(provider, found);
        let others = fallbacks::endpoints(provider, models, &args.model)?;
        let traffic = ModelTraffic::live(provider, endpoint);
        let traffic = others.into_iter().fold(traffic, |traffic, (provider, endpoint)| {
            traffic.with(provider.endpoint(), endpoint)
        });
        let setup = SessionSetup::new(traffic).map_err(unreachable)?;
        let setup = setup.recorded(args.files.record.as_deref()).map_err(CliError::usage)?;
        let setup = setup.with_renewal(Some(key.renewal(provider, &args.model)));
        Ok(Self { setup, key, replayed: None })
    }

    /// Writes the model's name into a recording, and warns if a replay was made with another model.
    pub(super) fn settled(mut self, provider: &Provider, config: &SessionConfig) -> Self {
        let made = model_recording::origin(provider, config);
        let replayed = self.replayed.as_ref();
        let differs = replayed.and_then(|recorded| model_recording::difference(recorded, &made));
        differs.iter().for_each(|told| warn(told));
        self.setup.name_model(&made);
        self
    }
}
