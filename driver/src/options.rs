//! The options of a driver: its endpoints, the source of models' answers, and the people and hooks
//! that can be asked.

use crate::{
    endpoints::EndpointTable,
    journal::SessionLogEncoder,
    traffic::{TrafficPlayer, TrafficRecorder},
    unattended::HostCapabilities,
};

/// The settings and tables that a driver works with.
#[derive(Clone, Debug, Default)]
pub struct DriverOptions {
    /// The endpoints to which requests go. No key of the table gets into the session.
    pub endpoints: EndpointTable,
    /// The source of the models' answers.
    pub models: ModelSource,
    /// The people and hooks that the session can ask.
    pub people: HostCapabilities,
    /// True if the host keeps the session's log; otherwise no line of it is encoded.
    #[cfg(feature = "log")]
    pub keeps_log: bool,
}

impl DriverOptions {
    pub(crate) const fn journal(&self) -> SessionLogEncoder {
        #[cfg(feature = "log")]
        return SessionLogEncoder::new(self.keeps_log);
        #[cfg(not(feature = "log"))]
        SessionLogEncoder::none()
    }
}

/// The source of the answers of models.
#[derive(Clone, Debug, Default)]
pub enum ModelSource {
    /// From the endpoints.
    #[default]
    Live,
    /// From the endpoints; each exchange also becomes a line of a recording.
    Recorded(TrafficRecorder),
    /// From a recording.
    Replayed {
        /// The recording.
        player: TrafficPlayer,
        /// The pause before each piece of a reply, in milliseconds, so that people can watch.
        pace_ms: u64,
    },
}
