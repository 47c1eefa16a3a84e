//! The way to the model: by the endpoint and the key that options, environment and settings name,
//! or a recording in their place.

use super::user_wishes::SessionRequest;
use crate::{
    console::warn,
    exit::CliError,
    key_in_use::KeyInUse,
    model_recording,
    setup::{self, EndpointAccess},
};
use innerloop_core::{config::SessionConfig, input::HttpFailure};
use innerloop_driver::providers::Provider;
use innerloop_host::{
    recording::RecordingOrigin,
    setup::{ModelTraffic, SessionSetup},
};

/// The way to the model.
pub(super) struct ModelAccess {
    pub(super) setup: SessionSetup,
    pub(super) key: KeyInUse,
    /// The model that the recording which answers was made of, if it says so.
    replayed: Option<RecordingOrigin>,
}

impl ModelAccess {
    /// To that provider, or to what the recording has of it.
    pub(super) fn of(provider: &Provider, asked: &mut SessionRequest) -> Result<Self, CliError> {
        let SessionRequest { args, replay, .. } = asked;
        let unreachable = |failure: HttpFailure| CliError::configuration(failure.message);
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
        let traffic = ModelTraffic::live(provider, endpoint);
        let setup = SessionSetup::new(traffic).map_err(unreachable)?;
        let setup = setup.recorded(args.files.record.as_deref()).map_err(CliError::usage)?;
        let setup = setup.with_renewal(Some(key.renewal(provider, &args.model)));
        Ok(Self { setup, key, replayed: None })
    }

    /// Writes which model a recording is made of, and tells where that of a replay is another one.
    pub(super) fn settled(mut self, provider: &Provider, config: &SessionConfig) -> Self {
        let made = model_recording::origin(provider, config);
        let replayed = self.replayed.as_ref();
        let differs = replayed.and_then(|recorded| model_recording::difference(recorded, &made));
        differs.iter().for_each(|told| warn(told));
        self.setup.name_model(&made);
        self
    }
}
