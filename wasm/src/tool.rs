//! One run of a tool: a built-in one over the files in memory, a program in a worker, or a
//! function of the user.

use crate::{
    custom,
    desk::Desk,
    program::{self, Program},
};
use futures::channel::oneshot;
use innerloop_core::{
    action::{Action, Outcome, ToolError},
    id::EffectId,
    input::{Input, ToolInput},
    tool::{Job, ToolRun},
};
use innerloop_tools::perform;
use std::{rc::Rc, sync::Arc};

/// Runs the tool and reports what came of it.
pub(crate) async fn run(
    desk: Rc<Desk>,
    id: EffectId,
    run: Arc<ToolRun>,
    cancel: oneshot::Receiver<()>,
) {
    let ToolRun { call_id, name, job, timeout_ms } = &*run;
    let outcome = match job {
        Job::Builtin(Action::RunProgram { program, args, stdin }) => {
            let program = Program {
                name: program.clone(),
                args: args.clone(),
                stdin: stdin.clone().unwrap_or_default(),
            };
            program::run(&desk, id, program, cancel, *timeout_ms).await
        }
        Job::Builtin(action) => perform(&mut *desk.files.borrow_mut(), action),
        Job::Custom(arguments) => {
            let call = custom::Call {
                name: name.clone(),
                call_id: call_id.clone(),
                arguments: arguments.clone(),
            };
            custom::run(&desk, id, call, cancel, *timeout_ms).await
        }
    };
    desk.settle(id, Input::Tool { id, input: ToolInput::Done(outcome) });
}

/// The outcome of a run that was stopped before it ended by itself.
pub(crate) fn stopped(stop: crate::task::Stop, text: &str) -> Outcome {
    match stop {
        crate::task::Stop::Cancelled => Outcome::error(ToolError::Interrupted, text),
        crate::task::Stop::TimedOut => {
            Outcome { timed_out: true, ..Outcome::error(ToolError::Timeout, text) }
        }
    }
}
