//! The answers to a host: lines of JSON, each an object with one key (`docs/protocol.md#lines`).
//! The docs of the types here are the descriptions in the published schema.

use super::{docs::DocsAnswer, undoing::UndoneAnswer};
use crate::{
    driver::Driver,
    endpoints::{EndpointError, EndpointRequest},
    output::{DriverOutput, DriverOutputBatch},
    providers::{Provider, UnknownProvider},
    settings::SettingsError,
    traffic::TrafficError,
};
use alloc::{
    borrow::Cow,
    boxed::Box,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use innerloop_core::{
    RestoreError,
    bytes::BodyBytes,
    config::{ConfigError, ModelConfig, SessionConfig},
    event::Event,
    id::{AgentId, EffectId},
    input::{Input, RejectedInput, RejectionReason},
    log::LogError,
    message::{Turn, VisibleTurn},
    output::{Ask, HookRun, OutputBatch as SessionOutputs},
    status::{ContextUsage, SessionOverview, Status},
    time::SessionInstant,
    tool::ToolRun,
};
use innerloop_json::{Error, JsonFault, ToJson, to_string};

/// A line of an answer. The log's lines and the recording's stand in theirs as they are.
#[derive(ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub(super) enum AnswerLine<'a> {
    /// The table of providers.
    Providers(Vec<Provider>),
    /// The configuration of a model.
    Model(&'a ModelConfig),
    /// The names of the files that instruct a family's models.
    DocNames(&'a [&'static str]),
    /// The instruction files of a workspace.
    Docs(DocsAnswer),
    /// The configuration that settings come to.
    Config(&'a SessionConfig),
    /// The number of a new blueprint.
    Blueprint(u32),
    /// The number of a new session.
    Session(u32),
    /// The session time at which it goes on.
    Now(SessionInstant),
    /// A thing to do.
    Effect(LineEffect),
    /// A thing to know.
    Event(Event),
    /// The time to send a tick if nothing else happens; `null` for never.
    Deadline(Option<SessionInstant>),
    /// The status of an agent; `null` if there is no such agent.
    Status(Option<Status>),
    /// The tokens that fill an agent's context window; `null` if there is no such agent.
    Context(Option<ContextUsage>),
    /// The data that a session holds beside its history.
    Overview(&'a SessionOverview),
    /// The turns of an agent and its user; `null` if there is no such agent.
    History(Option<&'a [Turn]>),
    /// The turns that an agent's model sees; `null` if there is no such agent.
    Seen(Option<Vec<VisibleTurn<'a>>>),
    /// The files whose changes are undone.
    Undone(UndoneAnswer),
    /// The text that is new to an agent's model; `null` if there is no such agent.
    Said(Option<String>),
    /// The outputs that followed from a line of a log.
    Outputs(&'a SessionOutputs),
    /// An input that the session refuses.
    Rejected {
        /// The input, whole.
        input: &'a Input,
        /// The reason why it was refused.
        reason: &'a RejectionReason,
        /// The same in words.
        message: String,
    },
    /// A request that is refused.
    Error(&'a RequestError),
}

/// A thing to do, beside which there is nothing but events.
#[derive(ToJson)]
#[json(rename_all = "snake_case", keyed)]
pub(super) enum LineEffect {
    /// Send a request and report the response as `http` inputs.
    Http {
        /// Its id.
        id: EffectId,
        /// The request.
        request: LineHttpRequest,
    },
    /// Run a tool and report it as `tool` inputs.
    RunTool {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The run to carry out.
        run: Arc<ToolRun>,
    },
    /// Ask a person and report the `answer`.
    Ask {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The question.
        ask: Ask,
    },
    /// Run a hook and report its reply as `hook`.
    RunHook {
        /// Its id.
        id: EffectId,
        /// The agent that it belongs to.
        agent: AgentId,
        /// The hook to run.
        hook: HookRun,
    },
    /// Stop an open effect, which still owes its answer, with what there is.
    Cancel {
        /// The effect to stop.
        id: EffectId,
    },
}

/// A request to be sent as it is.
#[derive(ToJson)]
pub(super) struct LineHttpRequest {
    /// The URL that it goes to.
    url: String,
    /// The headers without the key, names in lower case.
    headers: Vec<(String, String)>,
    /// The header that holds the key.
    #[json(skip_serializing_if = "Option::is_none")]
    key: Option<(String, String)>,
    /// The body of a POST.
    body: BodyBytes,
}

impl From<EndpointRequest> for LineHttpRequest {
    fn from(EndpointRequest { url, headers, key, body, .. }: EndpointRequest) -> Self {
        let key = key.map(|(name, key)| (name, key.expose().into()));
        Self { url, headers, key, body }
    }
}

impl From<DriverOutput> for AnswerLine<'_> {
    fn from(output: DriverOutput) -> Self {
        Self::Effect(match output {
            DriverOutput::Event(event) => return Self::Event(event),
            DriverOutput::Send { id, request } => LineEffect::Http { id, request: request.into() },
            DriverOutput::Run { id, agent, run } => LineEffect::RunTool { id, agent, run },
            DriverOutput::Ask { id, agent, ask } => LineEffect::Ask { id, agent, ask },
            DriverOutput::Hook { id, agent, hook } => LineEffect::RunHook { id, agent, hook },
            DriverOutput::Cancel { id } => LineEffect::Cancel { id },
        })
    }
}

/// The reason why a request has no other answer: a mistake of the host, and nothing has changed.
#[derive(ToJson)]
pub(super) struct RequestError {
    /// Which kind of mistake it is.
    code: &'static str,
    /// The text that says what is wrong.
    message: String,
    /// Of a request or a configuration that does not fit: the field.
    #[json(skip_serializing_if = "Option::is_none")]
    field: Option<Cow<'static, str>>,
    /// Of a configuration's tool: its name.
    #[json(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// The kind of fault if the JSON does not fit, for a host that words it itself.
    #[json(skip_serializing_if = "Option::is_none")]
    fault: Option<Box<JsonFault>>,
}

impl RequestError {
    pub(super) const fn new(code: &'static str, message: String) -> Self {
        Self { code, message, field: None, tool: None, fault: None }
    }

    /// Makes the error of bytes that are not a request.
    #[expect(clippy::needless_pass_by_value, reason = "errors are handed over by `map_err`")]
    pub(super) fn bad_request(message: impl ToString) -> Self {
        Self::new("bad_request", message.to_string())
    }

    /// Makes the error of a request that cannot work.
    #[expect(clippy::needless_pass_by_value, reason = "errors are handed over by `map_err`")]
    pub(super) fn bad_option(message: impl ToString) -> Self {
        Self::new("bad_option", message.to_string())
    }
}

/// The error of a text that is not a request of the protocol.
impl From<Error> for RequestError {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        Self { code: "bad_request", message, ..ConfigError::from(error).into() }
    }
}

impl From<ConfigError> for RequestError {
    fn from(error: ConfigError) -> Self {
        let message = error.to_string();
        let ConfigError { field, tool, fault, .. } = error;
        let field = Some(field).filter(|field| !field.is_empty());
        Self { field, tool, fault, ..Self::new("bad_option", message) }
    }
}

impl From<SettingsError> for RequestError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Patch(error) => error.into(),
            error @ SettingsError::MissingModel { .. } => Self::bad_option(error),
        }
    }
}

impl From<UnknownProvider> for RequestError {
    fn from(error: UnknownProvider) -> Self {
        Self::new("unknown_provider", error.to_string())
    }
}

impl From<EndpointError> for RequestError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::MissingKey => Self::new("missing_key", error.to_string()),
            error => Self::bad_option(error),
        }
    }
}

impl From<TrafficError> for RequestError {
    fn from(error: TrafficError) -> Self {
        Self::new("replay_unreadable", error.to_string())
    }
}

impl From<LogError> for RequestError {
    fn from(error: LogError) -> Self {
        Self::new("bad_log", error.to_string())
    }
}

impl From<RestoreError> for RequestError {
    fn from(error: RestoreError) -> Self {
        Self::new("bad_snapshot", error.to_string())
    }
}

/// The lines of an answer.
#[derive(Debug, Default)]
pub(super) struct AnswerBuffer(pub(super) String);

/// The number of bytes of memory that an answer leaves to the next one.
const KEPT_BYTES: usize = 1 << 20;

impl AnswerBuffer {
    /// Empties the answer and frees the memory of a large one.
    pub(super) fn empty(&mut self) {
        self.0.clear();
        // One answer with a snapshot may take megabytes, which the next request needs itself.
        self.0.shrink_to(KEPT_BYTES);
    }

    pub(super) fn line(&mut self, line: &AnswerLine<'_>) {
        self.0.push_str(&to_string(line));
        self.0.push('\n');
    }

    /// Writes a line of what a session holds, without the keys that it has assembled.
    pub(super) fn shown(&mut self, driver: &Driver, line: &AnswerLine<'_>) {
        self.0.extend([&*driver.shown(to_string(line)), "\n"]);
    }

    /// Writes all that followed from an input, and when to send a tick.
    pub(super) fn step(&mut self, driver: &Driver, outputs: DriverOutputBatch) {
        // What must be durable comes first: a host that takes the lines in order stores the entries
        // before it carries anything out.
        let DriverOutputBatch { log, snapshot, recording, list } = outputs;
        self.wrap("entry", &log);
        self.wrap("entry", &snapshot.unwrap_or_default());
        self.wrap("recording", &recording);
        for output in list {
            self.line(&output.into());
        }
        self.line(&AnswerLine::Deadline(driver.deadline()));
    }

    /// Writes the line of a refused input, which comes back whole.
    pub(super) fn rejected(&mut self, rejected: &RejectedInput) {
        let RejectedInput { input, reason } = rejected;
        self.line(&AnswerLine::Rejected { input, reason, message: reason.to_string() });
    }

    /// Writes a line that is JSON already.
    pub(super) fn bare(&mut self, line: &[u8]) {
        self.0.push_str(&String::from_utf8_lossy(line));
        self.0.push('\n');
    }

    /// Writes lines that are JSON already, each under a key.
    fn wrap(&mut self, key: &str, lines: &str) {
        // Copied and not read: the host stores what stands in the line, byte for byte.
        for line in lines.lines() {
            self.0.extend(["{\"", key, "\":", line, "}\n"]);
        }
    }
}
