//! The class that drives a session for the package's `Agent`. Its methods take JSON, hand it to the
//! host and return at once; what follows reaches the package through its callbacks. An error is a
//! mistake of the caller, and changes nothing.

use crate::{
    callbacks::Callbacks, clock::to_u64, effects, files::RawFiles, host::SessionHost,
    misuse::CallerError, options::AgentOptions, program, session::seen, shared_setup,
};
use innerloop_core::{
    History,
    id::{AgentId, EffectId},
    input::{Command, HttpInput, Input},
    message::{Part, Turn},
};
use innerloop_driver::{ApiKey, Driver, capture::StandardStream, imported, traffic::TrafficError};
use innerloop_json::{FromJson, ToJson, to_string};
use innerloop_tools::WorkspacePath;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// One agent: a session, its driver and its host.
#[wasm_bindgen]
pub struct RawAgent {
    pub(crate) host: SessionHost,
}

#[wasm_bindgen]
impl RawAgent {
    /// Opens a session over a workspace. Nothing happens before [`RawAgent::start`].
    ///
    /// # Errors
    /// `unknown_provider`, `missing_key`, `bad_option`, `replay_unreadable`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        options: &str,
        id: String,
        files: &RawFiles,
        callbacks: Callbacks,
    ) -> Result<Self, JsValue> {
        let driver = shared_setup::open(options, id, &files.memory().borrow())?;
        Ok(Self::with(driver, files, callbacks))
    }

    /// Carries out what follows from the opening. A restored session's open effects are done again,
    /// except for tools' runs: these are reported as lost, since they may have taken effect.
    pub fn start(&self) {
        self.host.start();
    }

    /// Starts a run; the parts are a JSON array, here and below.
    ///
    /// # Errors
    /// `busy`, `closed`, `bad_option`.
    pub fn submit(&self, parts: &str) -> Result<(), JsValue> {
        self.command(Command::submit(parts_of(parts)?))
    }

    /// Steers the run: the model reads the parts after the current round.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    pub fn steer(&self, parts: &str) -> Result<(), JsValue> {
        self.command(Command::Steer { parts: parts_of(parts)? })
    }

    /// Queues an input until the current one is done.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    #[wasm_bindgen(js_name = followUp)]
    pub fn follow_up(&self, parts: &str) -> Result<(), JsValue> {
        self.command(Command::follow_up(parts_of(parts)?))
    }

    /// Changes the configuration by a JSON Merge Patch.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    pub fn configure(&self, patch: &str) -> Result<(), JsValue> {
        self.command(Command::Configure { patch: from_json(patch)? })
    }

    /// Gives another key, for all further requests. The package has checked its characters.
    #[wasm_bindgen(js_name = setKey)]
    pub fn set_key(&self, key: &str) {
        self.host.driver.borrow_mut().rekey(ApiKey::new(key));
    }

    /// Adds the provider that these options name, to which a patch may then change.
    ///
    /// # Errors
    /// `unknown_provider`, `missing_key`, `bad_option`.
    pub fn reach(&self, options: &str) -> Result<(), JsValue> {
        let parts = AgentOptions::parts_of(options)?;
        self.host.driver.borrow_mut().reach(parts.endpoints);
        Ok(())
    }

    /// Gives the session's own agent any other `Command`, as JSON.
    ///
    /// # Errors
    /// `busy`, `closed`, `nothing`, `bad_option`.
    pub fn tell(&self, command: &str) -> Result<(), JsValue> {
        let command: Command = from_json(command)?;
        let inputs = imported(&command);
        // Counted only if the session takes the command: an import that is refused begins no steps.
        self.command(command)?;
        self.host.steps.borrow_mut().on_import(inputs);
        Ok(())
    }

    /// Returns the actions that undo the changes of the steps that are undone, as JSON. They count
    /// as carried out: another call returns none of them.
    #[must_use]
    #[wasm_bindgen(js_name = undoneFiles)]
    pub fn undone_files(&self) -> String {
        let mut steps = self.host.steps.borrow_mut();
        let files = self.host.files.borrow();
        let mut read = |path: &str| {
            let path = WorkspacePath::parse(path).ok()?;
            files.bytes(&path).map(<[u8]>::to_vec)
        };
        // Only built-in tools change files here. Without them the linker can leave this code out.
        let undone = if cfg!(feature = "tools") {
            to_string(&steps.undone(self.host.driver.borrow().firewall(), &mut read))
        } else {
            "[]".into()
        };
        steps.settle();
        undone
    }

    /// Interrupts the run.
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

    /// Returns the status of an agent, as JSON; `null` if there is no such agent.
    #[must_use]
    pub fn status(&self, agent: u32) -> String {
        to_string(&self.host.driver.borrow().session().status(AgentId(agent)))
    }

    /// Returns the turns of an agent and its user, as JSON; `null` if there is no such agent.
    #[must_use]
    pub fn history(&self, agent: u32) -> String {
        let driver = self.host.driver.borrow();
        let turns: Option<&[Turn]> = driver.session().history(AgentId(agent)).map(History::turns);
        // The session may have assembled a key, which is masked on the way out.
        driver.shown(to_string(&turns))
    }

    /// Returns the turns that an agent's model sees, as JSON; `null` if there is no such agent.
    #[must_use]
    pub fn seen(&self, agent: u32) -> String {
        let driver = self.host.driver.borrow();
        driver.shown(seen(driver.session(), agent))
    }

    /// Returns the tokens that fill an agent's context window, as JSON; `null` if there is no such
    /// agent.
    #[cfg(feature = "log")]
    #[must_use]
    pub fn context(&self, agent: u32) -> String {
        to_string(&self.host.driver.borrow().session().context(AgentId(agent)))
    }

    /// Returns why the recording did not fit, once, as JSON; `null` if it did.
    #[must_use]
    pub fn fault(&self) -> String {
        let mut driver = self.host.driver.borrow_mut();
        let error = driver.take_replay_error();
        let text = to_string(&error.as_ref().map(ReplayError::from));
        driver.keys().masked_json(&text).unwrap_or(text)
    }

    /// Wakes the session, at the time that `Callbacks.wake` has asked for.
    pub fn tick(&self) {
        self.host.tick();
    }

    /// Reports news of an effect: an `Input`, as JSON.
    ///
    /// # Errors
    /// `bad_option` if the JSON does not fit.
    pub fn report(&self, input: &str) -> Result<(), JsValue> {
        self.host.report(from_json(input)?);
        Ok(())
    }

    /// Reports a piece of a response's body.
    pub fn chunk(&self, effect: f64, bytes: Vec<u8>) {
        // Apart from `report`: as JSON each piece would be encoded and read once more.
        let input = HttpInput::Chunk(bytes.into());
        self.host.report(Input::Http { id: effect_of(effect), input });
    }

    /// Reports output of a program that is running; stream 2 is standard error.
    #[wasm_bindgen(js_name = programOutput)]
    pub fn program_output(&self, effect: f64, stream: u8, bytes: &[u8]) {
        let id = effect_of(effect);
        let channel = if stream == 2 { StandardStream::Err } else { StandardStream::Out };
        if cfg!(feature = "tools") {
            program::printed(&self.host, id, channel, bytes);
        }
    }

    /// Reports that a program has ended, as the package's `ProgramEnd` says.
    #[wasm_bindgen(js_name = programEnded)]
    pub fn program_ended(&self, effect: f64, ended: &JsValue) {
        // Programs are built-in tools.
        if cfg!(feature = "tools") {
            program::end(&self.host, effect_of(effect), ended);
        }
    }
}

impl RawAgent {
    pub(crate) fn with(driver: Driver, files: &RawFiles, callbacks: Callbacks) -> Self {
        let host = SessionHost::new(driver, callbacks, files, effects::carry_out);
        Self { host }
    }

    fn command(&self, command: Command) -> Result<(), JsValue> {
        Ok(self.host.tell(Input::command(command)).map_err(CallerError::from)?)
    }
}

/// The reason why a recording does not fit, for the run's result.
#[derive(ToJson)]
struct ReplayError<'a> {
    code: &'static str,
    message: String,
    #[json(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    #[json(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    #[json(skip_serializing_if = "Option::is_none")]
    found: Option<&'a str>,
}

impl<'a> From<&'a TrafficError> for ReplayError<'a> {
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

fn parts_of(json: &str) -> Result<Vec<Part>, CallerError> {
    from_json(json)
}

fn from_json<T: for<'a> FromJson<'a>>(json: &str) -> Result<T, CallerError> {
    Ok(innerloop_json::from_str(json)?)
}
