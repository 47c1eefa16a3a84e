//! A session between a model and the site of its tools, from its set-up to the host that drives it.
//! The order of its steps is that of the types: what is needed first is part of what comes later.

use super::traffic::ModelTraffic;
use crate::{
    hooks::HookHandler,
    host::{Host, HostParts, KeyRenewal},
    http::{HttpClient, wall_time},
    journal::Journal,
    recording::{RecordingError, RecordingOrigin, RecordingWriter},
    tools::ToolRunner,
};
use innerloop_core::{
    RestoreError, Session,
    config::{ConfigError, SessionConfig},
    id::SessionId,
    input::HttpFailure,
    log::LogError,
};
use innerloop_driver::{
    Driver, DriverOptions as DriverParts, HostCapabilities, ModelSource, SecretKeys,
    traffic::TrafficRecorder,
};
use std::{path::Path, sync::Arc};

/// Everything that a session begins with.
#[derive(Debug)]
pub struct SessionSetup {
    traffic: ModelTraffic,
    http: Option<HttpClient>,
    people: HostCapabilities,
    keeps_log: bool,
    extras: HostExtras,
}

/// The parts of the host that the session's beginning does not depend on.
#[derive(Debug, Default)]
struct HostExtras {
    recording: Option<RecordingWriter>,
    renewal: Option<KeyRenewal>,
    hooks: Option<Arc<dyn HookHandler>>,
}

/// A session that has begun, and that no host drives yet.
#[derive(Debug)]
pub struct OpenSession {
    driver: Driver,
    http: Option<HttpClient>,
    extras: HostExtras,
}

impl SessionSetup {
    /// Creates a set-up with that model, in which nobody is asked and no log is kept.
    ///
    /// # Errors
    /// HTTP cannot be set up: the system's certificates cannot be read.
    pub fn new(traffic: ModelTraffic) -> Result<Self, HttpFailure> {
        let http = traffic.http()?;
        let (people, extras) = (HostCapabilities::default(), HostExtras::default());
        Ok(Self { traffic, http, people, keeps_log: false, extras })
    }

    /// Records the traffic into a new file, if one is named.
    ///
    /// # Errors
    /// [`RecordingError`]: the file cannot be made, or is there already.
    pub fn recorded(mut self, file: Option<&Path>) -> Result<Self, RecordingError> {
        if let Some(file) = file {
            self.extras.recording = Some(RecordingWriter::create(file)?);
            self.traffic.models = ModelSource::Recorded(TrafficRecorder::default());
        }
        Ok(self)
    }

    /// Writes the origin to the beginning of the recording, if one is made.
    pub fn name_model(&mut self, origin: &RecordingOrigin) {
        self.extras.recording.iter_mut().for_each(|recording| recording.begin(origin));
    }

    /// Returns the set-up with these people to ask.
    #[must_use]
    pub fn with_people(self, people: HostCapabilities) -> Self {
        Self { people, ..self }
    }

    /// Returns the set-up with hooks, at the points that its people name.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Arc<dyn HookHandler>) -> Self {
        self.extras.hooks = Some(hooks);
        self
    }

    /// Returns the set-up with a key that may change, if there is a way to know.
    #[must_use]
    pub fn with_renewal(mut self, renewal: Option<KeyRenewal>) -> Self {
        self.extras.renewal = renewal;
        self
    }

    /// Returns the set-up with or without a log. With one, [`OpenSession::host`] must be given a
    /// journal.
    #[must_use]
    pub fn with_log(self, keeps_log: bool) -> Self {
        Self { keeps_log, ..self }
    }

    /// Returns the keys that must not be seen.
    #[must_use]
    pub fn keys(&self) -> SecretKeys {
        self.traffic.keys()
    }

    /// Opens a new session of that configuration.
    ///
    /// # Errors
    /// As [`Driver::open`].
    pub fn open(self, config: SessionConfig) -> Result<OpenSession, ConfigError> {
        self.begun(|parts| Driver::open(config, wall_time(), parts))
    }

    /// Restores the session of a snapshot.
    ///
    /// # Errors
    /// As [`Driver::restore`].
    pub fn restore(self, snapshot: &[u8]) -> Result<OpenSession, RestoreError> {
        self.begun(|parts| Driver::restore(snapshot, wall_time(), parts))
    }

    /// Resumes the session of a log.
    ///
    /// # Errors
    /// As [`Driver::resume`].
    pub fn resume(self, log: &str) -> Result<OpenSession, LogError> {
        self.begun(|parts| Driver::resume(log, wall_time(), parts))
    }

    /// Forks a session of that id, which has heard the first `turns` turns of another.
    ///
    /// # Errors
    /// As [`Driver::fork`].
    pub fn fork(
        self,
        of: &Driver,
        id: SessionId,
        turns: usize,
    ) -> Result<OpenSession, ConfigError> {
        self.begun(|parts| of.fork(id, turns, wall_time(), parts))
    }

    fn begun<E>(
        self,
        begin: impl FnOnce(DriverParts) -> Result<Driver, E>,
    ) -> Result<OpenSession, E> {
        let Self { traffic, http, people, keeps_log, extras } = self;
        let ModelTraffic { endpoints, models } = traffic;
        let driver = begin(DriverParts { endpoints, models, people, keeps_log })?;
        Ok(OpenSession { driver, http, extras })
    }
}

impl OpenSession {
    /// Returns the session as it stands.
    #[must_use]
    pub const fn session(&self) -> &Session {
        self.driver.session()
    }

    /// Creates the host that drives it, with those tools and its log.
    #[must_use]
    pub fn host(self, tools: ToolRunner, journal: Option<Journal>) -> Host {
        let Self { driver, http, extras: HostExtras { recording, renewal, hooks } } = self;
        let host = Host::new(driver, HostParts { http, tools, journal, recording });
        let host = host.with_renewal(renewal);
        hooks.into_iter().fold(host, Host::with_hooks)
    }
}
