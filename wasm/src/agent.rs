//! The class that the package's TypeScript drives.

use crate::{
    clock::wall,
    desk::Desk,
    files,
    host::Host,
    misuse::Misuse,
    options::{Options, Parts, from_js},
};
use innerloop_core::{
    Session,
    id::{AgentId, EffectId},
    input::{Command, Input, ToolInput},
    message::Part,
    output::{Effect, Output, Outputs},
    time::Instant,
};
use js_sys::JSON;
use std::{cell::RefCell, rc::Rc};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// One agent: a session, its driver and its workspace.
#[wasm_bindgen]
pub struct RawAgent {
    desk: Rc<Desk>,
    /// What follows from opening or restoring, until [`RawAgent::start`].
    opening: RefCell<Option<Outputs>>,
}

#[wasm_bindgen]
impl RawAgent {
    /// Opens a session. Nothing happens before [`RawAgent::start`].
    ///
    /// # Errors
    /// `bad_option`, `replay_unreadable`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: JsValue, host: Host) -> Result<RawAgent, JsValue> {
        let Parts { config, endpoint, replay } = Options::read(options)?;
        let (session, opening) = Session::open(config, wall()).map_err(Misuse::bad_option)?;
        let desk = Desk::new(host, session, Instant(0), endpoint, replay);
        Ok(Self { desk: Rc::new(desk), opening: RefCell::new(Some(opening)) })
    }

    /// Makes the session of a snapshot again. Nothing happens before [`RawAgent::start`].
    ///
    /// # Errors
    /// `bad_snapshot`, `bad_option`, `replay_unreadable`.
    pub fn restore(snapshot: &[u8], options: JsValue, host: Host) -> Result<RawAgent, JsValue> {
        let Parts { endpoint, replay, .. } = Options::read(options)?;
        let session = Session::restore(snapshot, wall())
            .map_err(|error| Misuse::new("bad_snapshot", error.to_string()))?;
        let (owed, now) = (session.owed(), session.now());
        let desk = Desk::new(host, session, now, endpoint, replay);
        Ok(Self { desk: Rc::new(desk), opening: RefCell::new(Some(owed)) })
    }

    /// Hands on what follows from opening. Of a restored session's open effects a request is sent
    /// again; a tool's run is reported lost, since it may have taken effect.
    pub fn start(&self) {
        let Some(opening) = self.opening.borrow_mut().take() else { return };
        let is_run = |output: &Output| matches!(output, Output::Effect(Effect::RunTool { .. }));
        let (runs, rest): (Vec<_>, Vec<_>) = opening.into_iter().partition(is_run);
        self.desk.follow(Outputs(rest));
        for output in &Outputs(runs) {
            if let Output::Effect(effect) = output {
                self.desk.report(Input::Lost { id: effect.id() });
            }
        }
    }

    /// Starts a run.
    ///
    /// # Errors
    /// `busy`, `closed`, `bad_option`.
    pub fn submit(&self, parts: JsValue) -> Result<(), JsValue> {
        let parts = parts_of(parts)?;
        self.command(Command::Submit { parts })
    }

    /// Says something to the model after the current round.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    pub fn steer(&self, parts: JsValue) -> Result<(), JsValue> {
        let parts = parts_of(parts)?;
        self.command(Command::Steer { parts })
    }

    /// Gives an input for when the current one is done.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    #[wasm_bindgen(js_name = followUp)]
    pub fn follow_up(&self, parts: JsValue) -> Result<(), JsValue> {
        let parts = parts_of(parts)?;
        self.command(Command::FollowUp { parts })
    }

    /// Changes the configuration.
    ///
    /// # Errors
    /// `closed`, `bad_option`.
    pub fn configure(&self, patch: JsValue) -> Result<(), JsValue> {
        let patch = from_js(patch)?;
        self.command(Command::Configure { patch })
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

    /// Where the session's own agent stands.
    ///
    /// # Errors
    /// `internal` if it cannot be told.
    pub fn status(&self) -> Result<JsValue, JsValue> {
        let status = self.desk.session.borrow().status(AgentId::ROOT);
        Ok(to_js(&status)?)
    }

    /// The conversation as bytes.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.desk.session.borrow().snapshot()
    }

    /// Why the recording did not fit, once; nothing if it did.
    ///
    /// # Errors
    /// `internal` if it cannot be told.
    pub fn fault(&self) -> Result<JsValue, JsValue> {
        Ok(to_js(&self.desk.take_fault())?)
    }

    /// More output of a user's tool that is running.
    #[wasm_bindgen(js_name = toolOutput)]
    pub fn tool_output(&self, effect: u64, text: String) {
        let id = EffectId(effect);
        self.desk.report(Input::Tool { id, input: ToolInput::Delta(text) });
    }

    /// More output of a program that is running: the stream, its bytes, and its text with
    /// characters whole.
    #[wasm_bindgen(js_name = programOutput)]
    pub fn program_output(&self, effect: u64, stream: u8, bytes: &[u8], text: String) {
        let id = EffectId(effect);
        self.desk.with_capture(id, |capture| capture.push(stream, bytes));
        if !text.is_empty() {
            self.desk.report(Input::Tool { id, input: ToolInput::Delta(text) });
        }
    }

    /// A file's bytes; nothing if there is no such file.
    ///
    /// # Errors
    /// `bad_path`.
    #[wasm_bindgen(js_name = readFile)]
    pub fn read_file(&self, path: &str) -> Result<Option<Vec<u8>>, JsValue> {
        let path = files::path_of(path)?;
        Ok(self.desk.files.borrow().bytes(&path).map(<[u8]>::to_vec))
    }

    /// Writes a file.
    ///
    /// # Errors
    /// `bad_path`.
    #[wasm_bindgen(js_name = writeFile)]
    pub fn write_file(&self, path: &str, bytes: Vec<u8>) -> Result<(), JsValue> {
        Ok(files::write(&mut self.desk.files.borrow_mut(), path, bytes)?)
    }

    /// Removes a file; whether there was one.
    ///
    /// # Errors
    /// `bad_path`.
    #[wasm_bindgen(js_name = removeFile)]
    pub fn remove_file(&self, path: &str) -> Result<bool, JsValue> {
        Ok(files::remove(&mut self.desk.files.borrow_mut(), path)?)
    }

    /// The paths of all files, sorted.
    #[must_use]
    #[wasm_bindgen(js_name = listFiles)]
    pub fn list_files(&self) -> Vec<String> {
        self.desk.files.borrow().iter().map(|(path, _)| path.to_owned()).collect()
    }

    fn command(&self, command: Command) -> Result<(), JsValue> {
        Ok(self.desk.tell(Input::command(command)).map_err(Misuse::from)?)
    }
}

/// Replays a session's log and returns what followed from its opening and from each line: a JSON
/// array of outputs a line. What the native core makes of the same log is the same text.
///
/// # Errors
/// `bad_option` with what is wrong with the log.
#[wasm_bindgen(js_name = replayLog)]
pub fn replay_log(log: &str) -> Result<String, JsValue> {
    let replayed = innerloop_core::log::replay(log).map_err(Misuse::bad_option)?;
    let mut lines = String::new();
    for outputs in &replayed.outputs {
        lines.push_str(&serde_json::to_string(outputs).map_err(Misuse::bad_option)?);
        lines.push('\n');
    }
    Ok(lines)
}

fn parts_of(parts: JsValue) -> Result<Vec<Part>, Misuse> {
    from_js(parts)
}

fn to_js(value: &impl serde::Serialize) -> Result<JsValue, Misuse> {
    let text = serde_json::to_string(value);
    let text = text.map_err(|error| Misuse::new("internal", error.to_string()))?;
    JSON::parse(&text).map_err(|_| Misuse::new("internal", "a value has no JSON".to_owned()))
}
