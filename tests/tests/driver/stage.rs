//! A host for the driver: it does nothing by itself, and keeps all that it is told.

use innerloop_core::{
    bytes::BodyBytes,
    config::SessionConfig,
    event::EventKind,
    id::{EffectId, EndpointId, SessionId},
    input::{Command, HttpInput, Input, RejectedInput, ResponseHead},
    time::SessionInstant,
};
use innerloop_driver::{
    ApiKey, Driver, DriverOptions, DriverOutput, DriverOutputBatch, Endpoint, EndpointTable,
    providers,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, config, text},
    wires,
};

/// The key of the endpoint that the session talks to.
pub(crate) const KEY: &str = "sk-ant-0123456789/abcdef";

/// The key of another endpoint of the table.
pub(crate) const OTHER: &str = "other-key-0123456789";

/// A table of two endpoints.
pub(crate) fn endpoints() -> EndpointTable {
    let provider = providers::find("anthropic").unwrap();
    let endpoint = |key| Endpoint::new(&provider, None, ApiKey::new(key)).unwrap();
    EndpointTable::default()
        .with(EndpointId("mock".into()), endpoint(KEY))
        .with(EndpointId("other".into()), endpoint(OTHER))
}

/// What a driver works with, its log kept.
pub(crate) fn parts() -> DriverOptions {
    DriverOptions { endpoints: endpoints(), keeps_log: true, ..DriverOptions::default() }
}

/// A driver and its host.
pub(crate) struct Stage {
    pub(crate) driver: Driver,
    pub(crate) now: u64,
    pub(crate) log: String,
    pub(crate) recording: String,
    pub(crate) snapshots: usize,
    /// What was to do or to tell, in order.
    pub(crate) seen: Vec<DriverOutput>,
}

impl Stage {
    pub(crate) fn open(config: SessionConfig, parts: DriverOptions) -> Self {
        Self::around(Driver::open(config, EPOCH, parts).unwrap())
    }

    pub(crate) fn new(parts: DriverOptions) -> Self {
        Self::open(config(), parts)
    }

    pub(crate) fn around(driver: Driver) -> Self {
        let now = driver.session().now().0;
        let (log, recording) = (String::new(), String::new());
        let mut stage = Self { driver, now, log, recording, snapshots: 0, seen: Vec::new() };
        let outputs = stage.driver.start();
        stage.take(outputs);
        stage
    }

    #[expect(clippy::result_large_err, reason = "the refused input is what tests look at")]
    pub(crate) fn offer(&mut self, input: Input) -> Result<(), RejectedInput> {
        let outputs = self.driver.handle(input, SessionInstant(self.now))?;
        self.take(outputs);
        Ok(())
    }

    pub(crate) fn input(&mut self, input: Input) {
        self.offer(input).unwrap();
    }

    pub(crate) fn submit(&mut self, said: &str) {
        self.input(Input::command(Command::submit(text(said))));
    }

    /// Lets time pass until the next deadline.
    pub(crate) fn wait(&mut self) {
        self.now = self.driver.deadline().expect("a deadline").0;
        self.input(Input::Tick);
    }

    fn take(&mut self, outputs: DriverOutputBatch) {
        let DriverOutputBatch { log, snapshot, recording, list } = outputs;
        self.log.push_str(&log);
        self.snapshots += usize::from(snapshot.is_some());
        self.log.push_str(&snapshot.unwrap_or_default());
        self.recording.push_str(&recording);
        self.seen.extend(list);
    }

    /// The newest thing to do of a kind.
    pub(crate) fn newest<T>(&self, pick: impl Fn(&DriverOutput) -> Option<T>) -> T {
        self.seen.iter().rev().find_map(pick).unwrap_or_else(|| panic!("none in {:?}", self.seen))
    }

    pub(crate) fn call(&self) -> EffectId {
        self.newest(|output| match output {
            DriverOutput::Send { id, .. } => Some(*id),
            _ => None,
        })
    }

    pub(crate) fn run(&self) -> EffectId {
        self.newest(|output| match output {
            DriverOutput::Run { id, .. } => Some(*id),
            _ => None,
        })
    }

    pub(crate) fn http(&mut self, input: HttpInput) {
        let id = self.call();
        self.input(Input::Http { id, input });
    }

    /// Answers the newest request, `size` bytes at a time.
    pub(crate) fn answer(&mut self, status: u16, content_type: &str, body: &[u8], size: usize) {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        self.http(HttpInput::Head(ResponseHead { status, headers, ..ResponseHead::default() }));
        for piece in body.chunks(size) {
            self.http(HttpInput::Chunk(BodyBytes(piece.to_vec())));
        }
        self.http(HttpInput::End);
    }

    pub(crate) fn reply(&mut self, message: &Message) {
        let wire = self.driver.session().config().model.wire;
        let stream = wires::events(wire, message).concat();
        self.answer(200, "text/event-stream", stream.as_bytes(), usize::MAX);
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &EventKind> {
        self.seen.iter().filter_map(|output| match output {
            DriverOutput::Event(event) => Some(&event.kind),
            _ => None,
        })
    }

    /// What the model was told last, as JSON.
    pub(crate) fn body(&self) -> String {
        self.newest(|output| match output {
            DriverOutput::Send { request, .. } => {
                Some(String::from_utf8_lossy(&request.body).into())
            }
            _ => None,
        })
    }

    /// Everything that can be seen, kept or sent, but for the one header of a request that holds
    /// the key.
    pub(crate) fn traces(&self) -> String {
        let snapshot = String::from_utf8(self.driver.session().snapshot()).unwrap();
        let texts =
            [format!("{:?}", self.seen), self.log.clone(), self.recording.clone(), snapshot];
        let events: Vec<_> =
            self.events().map(|kind| serde_json::to_string(kind).unwrap()).collect();
        format!("{}\n{}\n{:?}", texts.join("\n"), events.join("\n"), self.driver)
    }
}

/// A configuration with that id.
pub(crate) fn named(id: &str) -> SessionConfig {
    SessionConfig { id: SessionId(id.into()), ..config() }
}
