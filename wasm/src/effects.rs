//! What the driver wants done, each by the module that can. Knows how an answer is reported; what
//! it means is the session's business.

use crate::{
    custom, files,
    host::Host,
    http, people,
    program::{self, Program},
};
use futures::channel::oneshot;
use innerloop_core::{
    action::{Action, Outcome},
    id::EffectId,
    input::{Input, ToolInput},
    tool::{Job, ToolRun},
};
use innerloop_driver::Output;
use std::{rc::Rc, sync::Arc};
use wasm_bindgen_futures::spawn_local;

/// Carries out a thing to do, without waiting for its end.
pub(crate) fn carry_out(host: &Rc<Host>, output: Output) {
    let own = Rc::clone(host);
    match output {
        // Events are on their way already.
        Output::Event(_) => {}
        Output::Send { id, request } => {
            let cancel = host.enter(id);
            spawn_local(async move {
                let report = |input| own.report(Input::Http { id, input });
                let input = http::exchange(&own.callbacks, request, cancel, report).await;
                own.settle(id, Input::Http { id, input });
            });
        }
        Output::Run { id, run, .. } => {
            let cancel = host.enter(id);
            spawn_local(async move {
                let outcome = run_tool(&own, id, &run, cancel).await;
                own.settle(id, Input::Tool { id, input: ToolInput::Done(outcome) });
            });
        }
        Output::Ask { id, agent, ask } => {
            let cancel = host.enter(id);
            spawn_local(async move {
                if let Some(answer) = people::ask(&own.callbacks, agent, &ask, cancel).await {
                    own.settle(id, Input::Answer { id, answer });
                }
            });
        }
        Output::Hook { id, agent, hook } => {
            let cancel = host.enter(id);
            spawn_local(async move {
                if let Some(reply) = people::run_hook(&own.callbacks, agent, &hook, cancel).await {
                    own.settle(id, Input::Hook { id, reply });
                }
            });
        }
        Output::Cancel { id } => host.stop(id),
    }
}

/// Runs a tool: a built-in one over the files in memory, a program in a worker, or a function of
/// the user.
async fn run_tool(
    host: &Rc<Host>,
    id: EffectId,
    run: &Arc<ToolRun>,
    cancel: oneshot::Receiver<()>,
) -> Outcome {
    match &run.job {
        Job::Builtin(Action::RunProgram { program, args, stdin }) => {
            let stdin = stdin.as_deref().unwrap_or_default();
            let program = Program { name: program, args, stdin, folder: &run.folder };
            program::run(host, id, &program, cancel, run.timeout_ms).await
        }
        Job::Builtin(action) => {
            files::perform(&host.files, &run.folder, action, run.known.as_deref())
        }
        Job::Custom(arguments) => {
            let ToolRun { call_id, name, folder, .. } = &**run;
            let call = custom::Call { name, call_id, folder, arguments };
            custom::run(&host.callbacks, id, &call, cancel, run.timeout_ms).await
        }
    }
}
