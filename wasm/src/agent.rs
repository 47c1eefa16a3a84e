//! The class that drives a session for the package's `Agent`.

use crate::{
    callbacks::Callbacks,
    clock::{to_u64, wall},
    effects,
    files::RawFiles,
    host::Host,
    misuse::Misuse,
    options::Options,
    program,
};
use innerloop_core::{
    History,
    action::Outcome,
    id::{AgentId, EffectId},
    input::{Command, HttpInput, Input, ToolInput},
    message::{Part, Turn},
};
use innerloop_driver::{Driver, capture::Channel, custom, traffic::TrafficError};
use innerloop_json::{FromJson, ToJson, to_string};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// One agent: a session, its driver and its host.
#[wasm_bindgen]
pub struct RawAgent {
    pub(crate) host: Host,
}

#[wasm_bindgen]
impl RawAgent {
    /// Opens a session over a workspace. Nothing happens before [`RawAgent::start`].
    ///
    /// # Errors
    /// `unknown_provider`, `missing_key`, `bad_option`, `replay_unreadable`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str, files: &RawFiles, callbacks: Callbacks) -> Result<Self, JsValue> {
        let options = Options::read(options)?;
        let config = options.config(&files.memory().borrow())?;
        let driver = Driver::open(config, wall(), options.parts()?).map_err(Misuse::bad_option)?;
        Ok(Self::with(driver, files, callbacks))
    }

    /// Carries out what follows from opening. Of a restored session's open effects a tool's run is
    /// reported lost, since it may have taken effect; the rest is done again.
    pub fn start(&self) {
        self.host.start();
    }

    /// Starts a run; the parts are JSON, as they are below.
    ///
    /// # Errors
    /// `busy`, `closed`, `bad_option`.
    pub fn submit(&self, parts: &str) -> Result<(), JsValue> {
        self.command(Command::Submit { parts: parts_of(parts)? })
    }

    /// Says something to the model after the current round.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    pub fn steer(&self, parts: &str) -> Result<(), JsValue> {
        self.command(Command::Steer { parts: parts_of(parts)? })
    }

    /// Gives an input for when the current one is done.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    #[wasm_bindgen(js_name = followUp)]
    pub fn follow_up(&self, parts: &str) -> Result<(), JsValue> {
        self.command(Command::FollowUp { parts: parts_of(parts)? })
    }

    /// Changes the configuration by a patch, as JSON.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    pub fn configure(&self, patch: &str) -> Result<(), JsValue> {
        self.command(Command::Configure { patch: from_json(patch)? })
    }

    /// Stops the run under way.
    ///
    /// # Errors
    /// `closed`.
    pub fn interrupt(&self) -> Result<(), JsValue> {
        self.command(Command::Interrupt)
    }

    /// Ends the session.
    ///
    /// # Errors
    /// `closed`.
    pub fn close(&self) -> Result<(), JsValue> {
        self.command(Command::Close)
    }

    /// Where an agent stands, as JSON; `null` if there is no such agent.
    #[must_use]
    pub fn status(&self, agent: u32) -> String {
        to_string(&self.host.driver.borrow().session().status(AgentId(agent)))
    }

    /// What an agent and its user have said, as JSON; `null` if there is no such agent.
    #[must_use]
    pub fn history(&self, agent: u32) -> String {
        let driver = self.host.driver.borrow();
        let turns: Option<&[Turn]> = driver.session().history(AgentId(agent)).map(History::turns);
        to_string(&turns)
    }

    /// Why the recording did not fit, once, as JSON; `null` if it did.
    #[must_use]
    pub fn fault(&self) -> String {
        let mut driver = self.host.driver.borrow_mut();
        let error = driver.take_replay_error();
        let text = to_string(&error.as_ref().map(Fault::from));
        driver.keys().masked_json(&text).unwrap_or(text)
    }

    /// Time has passed, as `Callbacks.wake` has asked for.
    pub fn tick(&self) {
        self.host.tick();
    }

    /// News of what is under way, as JSON: an `Input`.
    ///
    /// # Errors
    /// `bad_option` for what does not fit.
    pub fn report(&self, input: &str) -> Result<(), JsValue> {
        self.host.report(from_json(input)?);
        Ok(())
    }

    /// A piece of a response's body.
    pub fn chunk(&self, effect: f64, bytes: Vec<u8>) {
        let input = HttpInput::Chunk(bytes.into());
        self.host.report(Input::Http { id: effect_of(effect), input });
    }

    /// A tool of the user has failed, for this reason.
    #[wasm_bindgen(js_name = toolFailed)]
    pub fn tool_failed(&self, effect: f64, name: &str, reason: &str) {
        self.done(effect, custom::failed(name, &reason));
    }

    /// A tool of the user was stopped: its time was up, or nobody waits for it any more.
    #[wasm_bindgen(js_name = toolStopped)]
    pub fn tool_stopped(&self, effect: f64, timed_out: bool) {
        self.done(effect, if timed_out { custom::timed_out() } else { custom::interrupted() });
    }

    /// More output of a program that is running; stream 2 is standard error.
    #[wasm_bindgen(js_name = programOutput)]
    pub fn program_output(&self, effect: f64, stream: u8, bytes: &[u8]) {
        let id = effect_of(effect);
        let channel = if stream == 2 { Channel::Err } else { Channel::Out };
        let text = self.host.with_running(id, |program| program.capture.push(channel, bytes));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.host.report(Input::Tool { id, input: ToolInput::Delta(text) });
        }
    }

    /// A program has ended, as the package's `ProgramEnd` says.
    #[wasm_bindgen(js_name = programEnded)]
    pub fn program_ended(&self, effect: f64, ended: &JsValue) {
        program::end(&self.host, effect_of(effect), ended);
    }
}

impl RawAgent {
    pub(crate) fn with(driver: Driver, files: &RawFiles, callbacks: Callbacks) -> Self {
        let host = Host::new(driver, callbacks, files.memory(), effects::carry_out);
        Self { host }
    }

    fn done(&self, effect: f64, outcome: Outcome) {
        let input = ToolInput::Done(outcome);
        self.host.report(Input::Tool { id: effect_of(effect), input });
    }

    fn command(&self, command: Command) -> Result<(), JsValue> {
        Ok(self.host.tell(Input::command(command)).map_err(Misuse::from)?)
    }
}

/// Why a recording does not fit, for the run's result.
#[derive(ToJson)]
struct Fault<'a> {
    code: &'static str,
    message: String,
    #[json(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    #[json(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    #[json(skip_serializing_if = "Option::is_none")]
    found: Option<&'a str>,
}

impl<'a> From<&'a TrafficError> for Fault<'a> {
    fn from(error: &'a TrafficError) -> Self {
        let message = error.to_string();
        let fault = |code| Self { code, message, call: None, expected: None, found: None };
        match error {
            TrafficError::Mismatch { call, expected, found } => Self {
                call: Some(*call),
                expected: Some(expected),
                found: Some(found),
                ..fault("replay_mismatch")
            },
            TrafficError::Exhausted { call } => {
                Self { call: Some(*call), ..fault("replay_exhausted") }
            }
            TrafficError::Unreadable { .. } => fault("replay_unreadable"),
        }
    }
}

const fn effect_of(number: f64) -> EffectId {
    EffectId(to_u64(number))
}

fn parts_of(json: &str) -> Result<Vec<Part>, Misuse> {
    from_json(json)
}

fn from_json<T: for<'a> FromJson<'a>>(json: &str) -> Result<T, Misuse> {
    innerloop_json::from_str(json).map_err(Misuse::bad_option)
}
