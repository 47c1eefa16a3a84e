//! A run of a WASI program: in a worker, over a copy of the workspace.

use crate::{
    files,
    host::Host,
    js::{field, message_of, object},
    task::{self, Stop},
};
use futures::channel::oneshot;
use innerloop_core::{
    action::{Change, Outcome},
    id::EffectId,
    input::{Input, ToolInput},
};
use innerloop_driver::capture::{Capture, End, KEPT, Limit, unknown_program};
use js_sys::Array;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use web_sys::AbortSignal;

/// What to run.
pub(crate) struct Program<'a> {
    pub(crate) name: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) stdin: &'a str,
    /// The folder of the workspace that it sees as its root, and nothing else.
    pub(crate) folder: &'a str,
}

/// Runs the program to its end, its time limit, or until it is cancelled. A run that is stopped
/// changes no files: what it wrote went with its worker.
pub(crate) async fn run(
    host: &Rc<Host>,
    id: EffectId,
    program: &Program<'_>,
    cancel: oneshot::Receiver<()>,
    timeout_ms: u64,
) -> Outcome {
    if let Some(outcome) = unknown(host, program.name) {
        return outcome;
    }
    host.keep_output(id, Capture::new(&host.keys(), KEPT));
    let request = request(program, &files::copy_out(&host.files, program.folder));
    let function = |signal: &AbortSignal| host.callbacks.run_program(id.0, &request, signal);
    let (end, changes) = match task::call(&function, cancel, Some(timeout_ms)).await {
        Ok(Ok(ended)) => (end(&ended), changes(host, program.folder, &ended)),
        Ok(Err(error)) => (End::Crash(message_of(&error)), Vec::new()),
        Err(Stop::TimedOut) => (End::TimedOut, Vec::new()),
        Err(Stop::Cancelled) => (End::Interrupted, Vec::new()),
    };
    let taken = host.take_output(id);
    let mut capture = taken.unwrap_or_else(|| Capture::new(&host.keys(), KEPT));
    let rest = capture.finish();
    if !rest.is_empty() {
        host.report(Input::Tool { id, input: ToolInput::Delta(rest) });
    }
    capture.outcome(&end, changes, false)
}

/// The outcome where there is no program of that name.
fn unknown(host: &Host, name: &str) -> Option<Outcome> {
    let driver = host.driver.borrow();
    let programs = driver.session().config().facts.programs.iter();
    let names: Vec<&str> = programs.map(|program| program.name.as_str()).collect();
    (!names.contains(&name)).then(|| unknown_program(name, &names))
}

fn request(program: &Program<'_>, files: &Array) -> JsValue {
    let args: Array = program.args.iter().map(|arg| JsValue::from(arg.as_str())).collect();
    object(&[
        ("program", &program.name.into()),
        ("args", &args.into()),
        ("stdin", &program.stdin.into()),
        ("files", files),
    ])
}

fn end(ended: &JsValue) -> End {
    let text = |name: &str| field(ended, name).as_string().unwrap_or_default();
    match field(ended, "code").as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "exit codes have 32 bits")]
        Some(code) => End::Exit(code as i32),
        None => match &*text("type") {
            "printed_too_much" => End::Limit(Limit::Output),
            "wrote_too_much" => End::Limit(Limit::Disk),
            _ => End::Crash(text("message")),
        },
    }
}

fn changes(host: &Host, folder: &str, ended: &JsValue) -> Vec<Change> {
    let list = |name: &str| Array::from(&field(ended, name));
    files::take_over(&host.files, folder, &list("written"), &list("removed"))
}
