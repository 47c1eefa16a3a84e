//! The runs of WASI programs, and of command lines by the shell: in a worker, over a copy of the
//! workspace. The files that a program leaves are taken over when it has ended.

use crate::{
    clock::to_f64,
    files,
    host::{RunningProgram, SessionHost},
    js::field,
};
use innerloop_core::{
    action::Outcome,
    id::{AgentId, EffectId},
    input::{Input, ToolInput},
};
use innerloop_driver::capture::{
    ExceededLimit, KEPT, OutputCapture, ProgramExit, StandardStream, unknown_program,
};
use innerloop_json::IntoList;
use js_sys::Array;
use wasm_bindgen::JsValue;

/// A program or a command line to run.
pub(crate) struct ProgramInvocation<'a> {
    pub(crate) name: &'a str,
    /// The arguments as a JSON array, or [`COMMAND_LINE`].
    pub(crate) args: &'a str,
    /// The standard input; the action as JSON for a command line.
    pub(crate) stdin: &'a str,
    /// The folder of the workspace that the program sees as its root; it sees nothing else.
    pub(crate) folder: &'a str,
    /// The agent that runs it.
    pub(crate) agent: AgentId,
    /// The name of what the program means by `tmp`.
    pub(crate) tmp: &'a str,
}

/// The arguments that stand for a command line.
pub(crate) const COMMAND_LINE: &str = "null";

/// Begins to run a program.
///
/// # Errors
/// The outcome of the call, if there is no program of that name.
pub(crate) fn begin(
    host: &SessionHost,
    id: EffectId,
    limit_ms: u64,
    program: &ProgramInvocation<'_>,
) -> Result<(), Outcome> {
    let ProgramInvocation { name, args, stdin, folder, agent, tmp } = *program;
    if let Some(outcome) = unknown(host, name) {
        return Err(outcome);
    }
    let capture = OutputCapture::new(&host.keys(), KEPT);
    host.enter(id, RunningProgram { capture, folder: folder.to_owned() });
    // A copy may be out of date: the package reads the files outside by itself.
    let files = if host.is_copy { Array::new() } else { files::copy_out(&host.files, folder) };
    let (effect, limit_ms) = (to_f64(id.0), to_f64(limit_ms));
    host.callbacks.run_program(effect, limit_ms, name, args, stdin, files, folder, agent.0, tmp);
    Ok(())
}

/// Reports what a program has printed.
pub(crate) fn printed(host: &SessionHost, id: EffectId, channel: StandardStream, bytes: &[u8]) {
    let text = host.with_running(id, |program| program.capture.push(channel, bytes));
    // Nothing is shown of a program that has ended, or while what it printed is held back.
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        host.report(Input::Tool { id, input: ToolInput::Delta(text) });
    }
}

/// Reports that a program has ended. One that was stopped leaves the files that its worker had
/// reported by then.
pub(crate) fn end(host: &SessionHost, id: EffectId, ended: &JsValue) {
    let Some(RunningProgram { mut capture, folder }) = host.leave(id) else { return };
    let list = |name: &str| Array::from(&field(ended, name));
    let changes = files::take_over(&host.files, &folder, &list("written"), &list("removed"));
    // Before the outcome, behind which no more output may follow.
    let rest = capture.finish();
    if !rest.is_empty() {
        host.report(Input::Tool { id, input: ToolInput::Delta(rest) });
    }
    let outcome = capture.outcome(&how(ended), changes, false);
    host.report(Input::Tool { id, input: ToolInput::Done(outcome) });
}

/// Returns the outcome of the call if there is no program of that name.
fn unknown(host: &SessionHost, name: &str) -> Option<Outcome> {
    let driver = host.driver.borrow();
    let programs = driver.session().config().facts.programs.iter();
    let names: Vec<&str> = programs.map(|program| program.name.as_str()).into_list();
    (!names.contains(&name)).then(|| unknown_program(name, &names))
}

fn how(ended: &JsValue) -> ProgramExit {
    let text = |name: &str| field(ended, name).as_string().unwrap_or_default();
    match field(ended, "code").as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "exit codes have 32 bits")]
        Some(code) => ProgramExit::Exit(code as i32),
        None => match &*text("type") {
            "printed_too_much" => ProgramExit::Limit(ExceededLimit::Output),
            "wrote_too_much" => ProgramExit::Limit(ExceededLimit::Disk),
            "timed_out" => ProgramExit::TimedOut,
            "cancelled" => ProgramExit::Interrupted,
            _ => ProgramExit::Crash(text("message")),
        },
    }
}
