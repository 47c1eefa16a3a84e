//! The bare session for people who write engines: JSON in and out, no I/O. It has no driver, so
//! that the engine masks keys and stores the log itself.

use crate::misuse::CallerError;
use innerloop_core::{
    History, Session,
    bytes::BodyBytes,
    config::SessionConfig,
    id::{AgentId, EffectId, SessionId},
    input::{HttpInput, Input},
    message::Turn,
    output::{Deadline, OutputBatch},
    status::Status,
    time::{SessionInstant, UnixMillis},
};
use innerloop_driver::SessionLogEncoder;
use innerloop_json::{IntoList, ToJson, to_string};
use std::cell::RefCell;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// A session without a driver.
#[wasm_bindgen]
pub struct RawSession {
    pub(crate) session: RefCell<Session>,
    /// The encoder that makes a step's line of the log.
    journal: SessionLogEncoder,
    /// The result of the opening, until it is taken.
    opening: RefCell<Option<String>>,
}

/// The result of one input.
#[derive(ToJson)]
struct StepResult<'a> {
    outputs: &'a OutputBatch,
    deadline: Option<Deadline>,
    #[json(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
}

#[wasm_bindgen]
impl RawSession {
    /// Opens a session with a configuration, as JSON. If `logs` is true, each step comes with its
    /// line of the log; a build without the feature `log` has none.
    ///
    /// # Errors
    /// `bad_option` with the field that does not fit.
    pub fn open(config: &str, wall: f64, logs: bool) -> Result<Self, JsValue> {
        let config: SessionConfig = innerloop_json::from_str(config).map_err(CallerError::from)?;
        let (wall, journal) = (millis(wall), journal(logs));
        let (session, outputs) = Session::open(config, wall).map_err(CallerError::from)?;
        let line = journal.header(&session, wall);
        Ok(Self::opened(session, &outputs, journal, line))
    }

    /// Opens another session under an id of its own whose history is the first `turns` turns of
    /// this one, all if absent.
    ///
    /// # Errors
    /// `bad_option` if the id is empty or this session's.
    pub fn fork(&self, id: String, turns: Option<u32>, wall: f64) -> Result<Self, JsValue> {
        let turns = turns.and_then(|turns| usize::try_from(turns).ok()).unwrap_or(usize::MAX);
        let fork = self.session.borrow().fork(SessionId(id), turns, millis(wall));
        let (session, outputs) = fork.map_err(CallerError::from)?;
        // No log: a header alone would not replay to the turns that the fork begins with.
        Ok(Self::opened(session, &outputs, journal(false), String::new()))
    }

    /// Returns what followed from the opening, once.
    #[must_use]
    pub fn opening(&self) -> Option<String> {
        self.opening.borrow_mut().take()
    }

    /// Takes in what happened, as JSON, and returns all that follows, as JSON.
    ///
    /// # Errors
    /// `bad_option` if the JSON is not an input; `rejected`, with the input and the reason.
    pub fn handle(&self, input: &str, at: f64) -> Result<String, JsValue> {
        let input: Input = innerloop_json::from_str(input).map_err(CallerError::from)?;
        self.hear(input, at)
    }

    /// Takes in a piece of a response's body, and returns all that follows, as JSON.
    ///
    /// # Errors
    /// `rejected`, with the input and the reason.
    pub fn chunk(&self, effect: f64, bytes: Vec<u8>, at: f64) -> Result<String, JsValue> {
        let id = EffectId(millis(effect).0);
        self.hear(Input::Http { id, input: HttpInput::Chunk(BodyBytes(bytes)) }, at)
    }

    /// Returns when to send a tick, as JSON.
    #[must_use]
    pub fn deadline(&self) -> String {
        to_string(&self.session.borrow().deadline())
    }

    /// Returns every open effect again, as a JSON array of outputs.
    #[must_use]
    pub fn owed(&self) -> String {
        to_string(&self.session.borrow().owed())
    }

    /// Returns the status of an agent, as JSON; `null` if there is no such agent.
    #[must_use]
    pub fn status(&self, agent: u32) -> String {
        let status: Option<Status> = self.session.borrow().status(AgentId(agent));
        to_string(&status)
    }

    /// Returns the turns of an agent and its user from the turn `from` on, as JSON; `null` if there
    /// is no such agent.
    #[must_use]
    pub fn history(&self, agent: u32, from: u32) -> String {
        let session = self.session.borrow();
        let turns: Option<&[Turn]> = session.history(AgentId(agent)).map(History::turns);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        to_string(&turns.map(|turns| turns.get(from..).unwrap_or_default()))
    }

    /// Returns the turns that an agent's model sees, as JSON; `null` if there is no such agent.
    #[must_use]
    pub fn seen(&self, agent: u32) -> String {
        seen(&self.session.borrow(), agent)
    }

    /// Returns the tokens that fill an agent's context window, as JSON; `null` if there is no such
    /// agent.
    #[cfg(feature = "log")]
    #[must_use]
    pub fn context(&self, agent: u32) -> String {
        to_string(&self.session.borrow().context(AgentId(agent)))
    }

    /// Returns the session's id.
    #[must_use]
    pub fn id(&self) -> String {
        self.session.borrow().id().0.clone()
    }

    /// Returns the session time of the last input, in milliseconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "milliseconds stay far below 2^53")]
    pub fn now(&self) -> f64 {
        self.session.borrow().now().0 as f64
    }
}

impl RawSession {
    fn opened(
        session: Session,
        outputs: &OutputBatch,
        journal: SessionLogEncoder,
        line: String,
    ) -> Self {
        let line = Some(line).filter(|line| !line.is_empty());
        let step = to_string(&StepResult { outputs, deadline: session.deadline(), line });
        Self::with(session, journal, Some(step))
    }

    pub(crate) const fn with(
        session: Session,
        journal: SessionLogEncoder,
        opening: Option<String>,
    ) -> Self {
        Self { session: RefCell::new(session), journal, opening: RefCell::new(opening) }
    }

    fn hear(&self, input: Input, at: f64) -> Result<String, JsValue> {
        let at = SessionInstant(millis(at).0);
        let mut session = self.session.borrow_mut();
        // Before `handle`, which consumes the input. Of a refused one the line is dropped.
        let line = self.journal.entry(&input, at);
        let outputs = session.handle(input, at).map_err(|error| CallerError::rejected(&error))?;
        Ok(to_string(&StepResult { outputs: &outputs, deadline: session.deadline(), line }))
    }
}

/// Returns the encoder of a log's lines, which makes none unless `logs` is true.
#[cfg_attr(not(feature = "log"), expect(unused_variables, reason = "no log is kept"))]
pub(crate) const fn journal(logs: bool) -> SessionLogEncoder {
    #[cfg(feature = "log")]
    return SessionLogEncoder::new(logs);
    #[cfg(not(feature = "log"))]
    SessionLogEncoder::none()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) const fn millis(number: f64) -> UnixMillis {
    UnixMillis(number as u64)
}

/// Returns the turns that an agent's model sees, as JSON; `null` if there is no such agent.
pub(crate) fn seen(session: &Session, agent: u32) -> String {
    let history = session.history(AgentId(agent));
    to_string(&history.map(|history| history.seen().into_list()))
}
