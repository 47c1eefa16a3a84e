//! The effects of a session, carried out: built-in tools here and at once, all else by the
//! package's TypeScript, which reports the answer later.

use crate::{
    clock::to_f64,
    files,
    host::SessionHost,
    program::{self, COMMAND_LINE, ProgramInvocation},
};
use innerloop_core::{
    action::Action,
    id::{AgentId, EffectId},
    input::{Input, ToolInput},
    message::Part,
    tool::{Job, ToolRun},
};
use innerloop_driver::{DriverOutput, EndpointRequest};
use innerloop_json::to_string;
use innerloop_tools::TmpMeaning;

/// Begins an effect, and returns its answer if that is there already.
pub(crate) fn carry_out(host: &SessionHost, output: DriverOutput) -> Option<Input> {
    let callbacks = &host.callbacks;
    match output {
        // The host has taken events out already; none comes here.
        DriverOutput::Event(_) => {}
        DriverOutput::Send { id, request } => send(host, id, &request),
        DriverOutput::Run { id, agent, run } => return run_tool(host, (id, agent), &run),
        DriverOutput::Ask { id, agent, ask } => {
            callbacks.ask(to_f64(id.0), agent.0, &to_string(&ask));
        }
        DriverOutput::Hook { id, agent, hook } => {
            callbacks.run_hook(to_f64(id.0), agent.0, &to_string(&hook));
        }
        DriverOutput::Cancel { id } => callbacks.cancel(to_f64(id.0)),
    }
    None
}

fn send(host: &SessionHost, id: EffectId, request: &EndpointRequest) {
    let EndpointRequest { endpoint, base, url, headers, key, body } = request;
    // The key leaves the module here, among the headers, for the package's `fetch`.
    let mut headers = headers.clone();
    headers.extend(key.iter().map(|(name, key)| (name.clone(), key.expose().to_owned())));
    let (id, headers) = (to_f64(id.0), to_string(&headers));
    host.callbacks.send(id, &endpoint.0, &base.to_string(), url, &headers, &body.0);
}

/// Runs a tool: a built-in one over the files in memory, a program in a worker, or a function of
/// the user. Returns its answer if that is there already.
fn run_tool(host: &SessionHost, (id, agent): (EffectId, AgentId), run: &ToolRun) -> Option<Input> {
    let ToolRun { call_id, name, folder, known, timeout_ms, .. } = run;
    let outcome = match &run.job {
        Job::Builtin(_) if !cfg!(feature = "tools") => files::no_tools(),
        Job::Builtin(action @ Action::RunProgram { program, args, stdin }) => {
            let (args, stdin) = (&*to_string(args), stdin.as_deref().unwrap_or_default());
            let tmp = TmpMeaning::of(action).name();
            let program = ProgramInvocation { name: program, args, stdin, folder, agent, tmp };
            program::begin(host, id, *timeout_ms, &program).err()?
        }
        Job::Builtin(action @ Action::Shell { .. }) => {
            let (args, stdin) = (COMMAND_LINE, &*to_string(action));
            let tmp = TmpMeaning::of(action).name();
            let program = ProgramInvocation { name: "bash", args, stdin, folder, agent, tmp };
            program::begin(host, id, *timeout_ms, &program).err()?
        }
        // Beyond the module's memory: a copy has to be compared with the files outside before a
        // tool looks at it, and a page is read by `fetch`. Both take an answer that comes later.
        Job::Builtin(action) if host.is_copy || matches!(action, Action::Fetch { .. }) => {
            let (effect, limit_ms) = (to_f64(id.0), to_f64(*timeout_ms));
            let (action, known) = (to_string(action), to_string(known));
            host.callbacks.perform(effect, limit_ms, name, &action, call_id, folder, &known);
            return None;
        }
        Job::Builtin(action) => {
            let outcome = files::perform(&host.files, folder, action, known.as_deref());
            let is_picture = |part: &Part| matches!(part, Part::Image { .. });
            // Pictures are scaled by the platform's canvas, which takes a while: the package
            // reports the outcome.
            if outcome.parts.iter().any(is_picture) && host.callbacks.fits_pictures() {
                host.callbacks.fit(to_f64(id.0), &to_string(&outcome));
                return None;
            }
            outcome
        }
        // The driver answers these itself.
        Job::Kept(_) => return None,
        Job::Custom(arguments) => {
            let (effect, limit_ms) = (to_f64(id.0), to_f64(*timeout_ms));
            let arguments = arguments.text();
            host.callbacks.call_tool(effect, limit_ms, name, arguments, call_id, folder);
            return None;
        }
    };
    Some(Input::Tool { id, input: ToolInput::Done(outcome) })
}
