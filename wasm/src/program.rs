//! A run of a WASI program: in a worker, over a copy of the workspace. The outcome's text is the
//! native host's for the same run, so that one recording fits both.

use crate::{
    capture::Capture,
    desk::Desk,
    files,
    host::message_of,
    task::{Stop, until_stopped},
};
use futures::channel::oneshot;
use innerloop_core::{
    action::{Change, Outcome, ToolError},
    id::EffectId,
};
use js_sys::{Array, Object, Reflect};
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

/// What to run.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    pub(crate) stdin: String,
}

/// How it ended.
enum End {
    Exit(i32),
    Crash(String),
    Limit(String),
    Stopped(Stop),
}

/// Runs the program to its end, its time limit, or until it is cancelled. A run that is stopped
/// changes no files: what it wrote went with its worker.
pub(crate) async fn run(
    desk: &Rc<Desk>,
    id: EffectId,
    program: Program,
    cancel: oneshot::Receiver<()>,
    timeout_ms: u64,
) -> Outcome {
    if let Some(outcome) = unknown(desk, &program.name) {
        return outcome;
    }
    let abort = match AbortController::new() {
        Ok(abort) => abort,
        Err(error) => return Outcome::error(ToolError::Crashed, message_of(&error)),
    };
    let request = request(&program, &files::copy_out(&desk.files));
    let promise = desk.host.run_program(id.0, request, &abort.signal());
    let work = async { JsFuture::from(promise?).await };
    let (end, changes) = match until_stopped(work, cancel, Some(timeout_ms)).await {
        Ok(Ok(ended)) => (end(&ended), changes(desk, &ended)),
        Ok(Err(error)) => (End::Crash(message_of(&error)), Vec::new()),
        Err(stop) => {
            abort.abort();
            (End::Stopped(stop), Vec::new())
        }
    };
    outcome(&end, desk.take_capture(id), changes)
}

/// The outcome where there is no program of that name.
fn unknown(desk: &Desk, name: &str) -> Option<Outcome> {
    let session = desk.session.borrow();
    let programs = session.config().facts.programs.iter();
    let mut names: Vec<&str> = programs.map(|program| program.name.as_str()).collect();
    names.sort_unstable();
    if names.contains(&name) {
        return None;
    }
    let there_is = if names.is_empty() {
        "no programs are installed".to_owned()
    } else {
        format!("there is: {}", names.join(", "))
    };
    Some(Outcome::error(ToolError::NotFound, format!("no program `{name}`; {there_is}")))
}

fn request(program: &Program, files: &Array) -> JsValue {
    let args: Array = program.args.iter().map(|arg| JsValue::from(arg.as_str())).collect();
    let request = Object::new();
    let fields: [(&str, &JsValue); 4] = [
        ("program", &program.name.as_str().into()),
        ("args", &args.into()),
        ("stdin", &program.stdin.as_str().into()),
        ("files", files),
    ];
    for (name, value) in fields {
        // Setting a field of a new plain object cannot fail.
        let _set = Reflect::set(&request, &name.into(), value);
    }
    request.into()
}

fn end(ended: &JsValue) -> End {
    let field = |name: &str| Reflect::get(ended, &name.into()).unwrap_or_default();
    match field("code").as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "exit codes have 32 bits")]
        Some(code) => End::Exit(code as i32),
        None => {
            let message = field("message").as_string().unwrap_or_default();
            let is_limit = field("type").as_string().as_deref() == Some("limit");
            if is_limit { End::Limit(message) } else { End::Crash(message) }
        }
    }
}

fn changes(desk: &Desk, ended: &JsValue) -> Vec<Change> {
    let list = |name: &str| Array::from(&Reflect::get(ended, &name.into()).unwrap_or_default());
    let (written, removed) = (list("written"), list("removed"));
    files::take_over(&desk.files, &written, &removed)
}

/// What the program printed, and how it ended if not well.
fn outcome(end: &End, capture: Capture, changes: Vec<Change>) -> Outcome {
    let capped_at_source = capture.is_capped();
    let (mut text, stderr) = capture.texts();
    if !stderr.is_empty() {
        add_line(&mut text, "standard error:\n");
        text.push_str(&stderr);
    }
    let (error, exit) = match end {
        End::Exit(0) => (None, Some(0)),
        End::Exit(code) => (Some(ToolError::Exit), Some(*code)),
        End::Crash(message) => {
            add_line(&mut text, &format!("[it crashed: {message}]"));
            (Some(ToolError::Crashed), None)
        }
        End::Limit(message) => {
            add_line(&mut text, &format!("[{message}]"));
            (Some(ToolError::Limit), None)
        }
        End::Stopped(Stop::Cancelled) => {
            add_line(&mut text, "[it was interrupted]");
            (Some(ToolError::Interrupted), None)
        }
        End::Stopped(Stop::TimedOut) => (Some(ToolError::Timeout), None),
    };
    let timed_out = matches!(end, End::Stopped(Stop::TimedOut));
    Outcome { error, exit, timed_out, changes, capped_at_source, ..Outcome::text(text) }
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}
