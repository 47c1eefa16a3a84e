//! A host for the tests: it holds a session, a clock that it moves itself, and whatever effects
//! are open, and it answers them from a script. What comes out is kept and can be shown in short
//! lines.

use crate::{anthropic::Message, wires};
use innerloop_core::{
    Session,
    action::{Outcome, ToolError},
    config::{SessionConfig, VocabularyKind, WireKind},
    event::{Event, EventKind},
    id::{AgentId, EffectId, EndpointId, SessionId},
    input::{
        Command, HttpFailure, HttpFailureKind, HttpInput, Input, RejectedInput, ResponseHead,
        ToolInput,
    },
    log,
    message::Part,
    output::{Ask, Effect, HookRun, HttpRequest, Output, OutputBatch},
    preset::ConfigPreset,
    time::{SessionInstant, UnixMillis},
    tool::ToolRun,
};
use std::{collections::BTreeMap, sync::Arc};

/// The wall time at which the sessions of the tests open.
pub const EPOCH: UnixMillis = UnixMillis(1_800_000_000_000);

/// A session and its host.
#[derive(Debug)]
pub struct TestHost {
    /// The session.
    pub session: Session,
    /// The time, in milliseconds of session time.
    pub now: u64,
    /// The session's log.
    pub log: String,
    /// All events so far.
    pub events: Vec<Event>,
    /// All requests so far.
    pub requests: Vec<HttpRequest>,
    /// Whose the requests are.
    pub askers: Vec<AgentId>,
    /// Whose the effects are.
    pub owners: BTreeMap<EffectId, AgentId>,
    /// The questions that have no answer yet.
    pub asks: Vec<(EffectId, Ask)>,
    /// The hooks that have no reply yet.
    pub hooks: Vec<(EffectId, HookRun)>,
    /// The HTTP effects that have no answer yet.
    pub calls: Vec<EffectId>,
    /// The tool runs that have no answer yet.
    pub runs: BTreeMap<EffectId, Arc<ToolRun>>,
    /// The effects that were cancelled.
    pub cancelled: Vec<EffectId>,
}

/// A configuration that opens.
#[must_use]
pub fn config() -> SessionConfig {
    let mut config = SessionConfig { id: SessionId("test".into()), ..SessionConfig::default() };
    config.model.endpoint = EndpointId("mock".into());
    config.model.name = "mock-1".into();
    config
}

/// A preset as a configuration that opens, with a model that speaks that protocol and the
/// specification's names of tools.
#[must_use]
pub fn preset(preset: ConfigPreset, wire: WireKind) -> SessionConfig {
    let base = config();
    let mut config = preset.config();
    config.id = base.id;
    config.model.endpoint = base.model.endpoint;
    wires::speak(&mut config.model, wire);
    config.model.vocabulary = VocabularyKind::Seed;
    config
}

/// A text part in a list.
#[must_use]
pub fn text(text: &str) -> Vec<Part> {
    vec![Part::text(text)]
}

impl Default for TestHost {
    fn default() -> Self {
        Self::open(config())
    }
}

impl TestHost {
    /// Opens a session.
    ///
    /// # Panics
    /// The configuration cannot work.
    #[must_use]
    pub fn open(config: SessionConfig) -> Self {
        let log = log::LogHeader::new(&config, EPOCH).line();
        let (session, outputs) = Session::open(config, EPOCH).expect("a configuration that works");
        let mut host = Self::around(session, log);
        host.take(outputs);
        host
    }

    /// A host for a session that is there already.
    #[must_use]
    pub fn around(session: Session, log: String) -> Self {
        Self {
            session,
            now: 0,
            log,
            events: Vec::new(),
            requests: Vec::new(),
            askers: Vec::new(),
            owners: BTreeMap::new(),
            asks: Vec::new(),
            hooks: Vec::new(),
            calls: Vec::new(),
            runs: BTreeMap::new(),
            cancelled: Vec::new(),
        }
    }

    /// Hands an input over, as a host does: logged if it is accepted.
    ///
    /// # Errors
    /// The session refuses it.
    #[expect(clippy::result_large_err, reason = "the refused input is what tests look at")]
    pub fn offer(&mut self, input: Input) -> Result<OutputBatch, RejectedInput> {
        let line = log::entry(&input, SessionInstant(self.now));
        let settles = input.answered();
        let outputs = self.session.handle(input, SessionInstant(self.now))?;
        self.log.push_str(&line);
        self.calls.retain(|id| Some(*id) != settles);
        self.runs.retain(|id, _| Some(*id) != settles);
        self.asks.retain(|(id, _)| Some(*id) != settles);
        self.hooks.retain(|(id, _)| Some(*id) != settles);
        self.take(outputs.clone());
        Ok(outputs)
    }

    /// Hands an input over.
    ///
    /// # Panics
    /// The session refuses it.
    pub fn input(&mut self, input: Input) -> OutputBatch {
        self.offer(input).expect("an input that fits")
    }

    /// Gives a command.
    pub fn command(&mut self, command: Command) -> OutputBatch {
        self.input(Input::command(command))
    }

    /// The user says something.
    pub fn submit(&mut self, said: &str) -> OutputBatch {
        self.command(Command::submit(text(said)))
    }

    /// The host steers.
    pub fn steer(&mut self, said: &str) -> OutputBatch {
        self.command(Command::Steer { parts: text(said) })
    }

    /// The newest model call that has no answer yet.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn call(&self) -> EffectId {
        *self.calls.last().expect("a model call is open")
    }

    /// News of the newest model call.
    pub fn http(&mut self, input: HttpInput) -> OutputBatch {
        let id = self.call();
        self.input(Input::Http { id, input })
    }

    /// The protocol in which the session talks to its models.
    #[must_use]
    pub fn wire(&self) -> WireKind {
        self.session.config().model.wire
    }

    /// Answers the newest model call with a stream, in the form of the session's provider.
    pub fn reply(&mut self, message: &Message) {
        let stream = wires::events(self.wire(), message).concat();
        self.stream(stream.as_bytes(), usize::MAX);
    }

    /// Answers the newest model call with a whole body, in the form of the session's provider.
    pub fn reply_whole(&mut self, message: &Message) {
        self.head(200, "application/json");
        let body = wires::body(self.wire(), message).into_bytes();
        let _ = self.http(HttpInput::Chunk(body.into()));
        let _ = self.http(HttpInput::End);
    }

    /// Answers the newest model call with a stream of those bytes, `chunk` bytes at a time.
    pub fn stream(&mut self, bytes: &[u8], chunk: usize) {
        self.head(200, wires::stream_type(self.wire()));
        for piece in bytes.chunks(chunk.min(bytes.len().max(1))) {
            let _ = self.http(HttpInput::Chunk(piece.to_vec().into()));
        }
        let _ = self.http(HttpInput::End);
    }

    /// Answers the newest model call with an error in the provider's form; `kind` is Anthropic's
    /// name for it.
    pub fn refuse(&mut self, status: u16, kind: &str, message: &str, headers: &[(&str, &str)]) {
        let mut head = ResponseHead { status, ..ResponseHead::default() };
        head.headers = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let _ = self.http(HttpInput::Head(head));
        let body = wires::refusal(self.wire(), status, kind, message);
        let _ = self.http(HttpInput::Chunk(body.into_bytes().into()));
        let _ = self.http(HttpInput::End);
    }

    /// Begins a response to the newest model call.
    pub fn head(&mut self, status: u16, content_type: &str) {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let head = ResponseHead { status, headers, at: UnixMillis(EPOCH.0 + self.now) };
        let _ = self.http(HttpInput::Head(head));
    }

    /// The newest model call breaks.
    pub fn broken(&mut self) {
        let (kind, message) = (HttpFailureKind::Network, "connection reset".to_owned());
        let _ = self.http(HttpInput::Failed(HttpFailure { kind, message }));
    }

    /// Answers a run.
    pub fn done(&mut self, id: EffectId, outcome: Outcome) -> OutputBatch {
        self.input(Input::Tool { id, input: ToolInput::Done(outcome) })
    }

    /// Answers the oldest open run.
    ///
    /// # Panics
    /// There is none.
    pub fn answer(&mut self, said: &str) -> OutputBatch {
        let id = *self.runs.keys().next().expect("a run is open");
        self.done(id, Outcome::text(said))
    }

    /// Lets time pass until the next deadline and sends the tick.
    ///
    /// # Panics
    /// There is no deadline.
    pub fn wait(&mut self) -> OutputBatch {
        let deadline = self.session.deadline().expect("a deadline");
        self.now = deadline.at.0;
        self.input(Input::Tick)
    }

    /// The body of the newest request.
    ///
    /// # Panics
    /// There is none, or it is not JSON.
    #[must_use]
    pub fn body(&self) -> serde_json::Value {
        let request = self.requests.last().expect("a request");
        serde_json::from_slice(&request.body).expect("a body in JSON")
    }

    /// The names of the events since the one with number `since`, without deltas and requests.
    #[must_use]
    pub fn names(&self, since: u64) -> Vec<String> {
        let newer = self.events.iter().filter(|event| event.seq > since);
        let names = newer.map(|event| name(&event.kind));
        names.filter(|name| !name.ends_with("_delta") && name != "request_start").collect()
    }

    /// The events that `pick` finds something in.
    pub fn find<'a, T>(&'a self, pick: impl Fn(&'a EventKind) -> Option<T>) -> Vec<T> {
        self.events.iter().filter_map(|event| pick(&event.kind)).collect()
    }

    /// The number of prefixes that were rebased.
    pub fn rebases(&self) -> usize {
        self.find(|kind| matches!(kind, EventKind::PrefixRebased { .. }).then_some(())).len()
    }

    /// How the calls' ends went, the newest last.
    pub fn call_errors(&self) -> Vec<Option<ToolError>> {
        self.find(|kind| match kind {
            EventKind::ToolCallEnd { outcome, .. } => Some(outcome.error),
            _ => None,
        })
    }

    /// The results of calls in the newest message of the newest request.
    ///
    /// # Panics
    /// If nothing has been requested, or the message has no results.
    #[must_use]
    pub fn results(&self) -> Vec<String> {
        let body = self.body();
        let newest = body["messages"].as_array().and_then(|messages| messages.last());
        let blocks = newest.and_then(|message| message["content"].as_array()).expect("blocks");
        let results = blocks.iter().filter(|block| block["type"] == "tool_result");
        results.map(|block| block["content"].as_str().expect("a text").to_owned()).collect()
    }

    /// Takes in what a session has put out.
    pub fn take(&mut self, outputs: OutputBatch) {
        for output in outputs {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Effect(Effect::Http { id, agent, request, .. }) => {
                    self.calls.push(id);
                    self.owners.insert(id, agent);
                    self.askers.push(agent);
                    self.requests.push(request);
                }
                Output::Effect(Effect::RunTool { id, run, .. }) => {
                    self.runs.insert(id, run);
                }
                Output::Effect(Effect::Cancel { id, .. }) => self.cancelled.push(id),
                Output::Effect(Effect::Ask { id, ask, .. }) => self.asks.push((id, ask)),
                Output::Effect(Effect::RunHook { id, hook, .. }) => self.hooks.push((id, hook)),
            }
        }
    }
}

/// The name of an event, as its JSON has it.
#[must_use]
pub fn name(kind: &EventKind) -> String {
    let json = serde_json::to_value(kind).unwrap_or_default();
    json.get("type").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
