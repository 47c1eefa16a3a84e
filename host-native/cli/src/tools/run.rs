//! `innerloop tools run`: runs a program in the sandbox over a folder as a person would, with this
//! program's standard input, its output on the same streams, and its exit code.

use crate::{
    args::ToolsRunArgs,
    console::{note, warn},
    exit::{CliError, ExitReason},
    interrupts::SignalStream,
    setup,
};
use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_sandbox::{CallContext, OnProgress, RunLimits};
use std::{
    io::{self, IsTerminal, Read, Write, stderr, stdin, stdout},
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::task::spawn_blocking;

/// The most bytes that are read from standard input, and printed to each stream.
const MAX_STREAM: u64 = 64 << 20;

/// The time limit of a program, unless its own limit is lower.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) async fn run(args: ToolsRunArgs) -> Result<(), CliError> {
    let workspace = setup::workspace(&args.workspace, args.any_folder)?;
    let tell: OnProgress = Arc::new(|line: &str| warn(line));
    let site = setup::site(workspace, args.programs.as_deref(), Some(tell))?;
    let sandbox = site.sandbox().clone().with_limits(RunLimits {
        output_bytes: MAX_STREAM,
        kept_output_bytes: usize::try_from(2 * MAX_STREAM).unwrap_or(usize::MAX),
        ..RunLimits::default()
    });
    let stdin = given().await?;
    let action = Action::RunProgram { program: args.program, args: args.args, stdin };
    let mut interrupts = SignalStream::new()?;
    let signal = Arc::new(OnceLock::new());
    let heard = Arc::clone(&signal);
    let stop = async move {
        let exit = interrupts.next().await;
        heard.get_or_init(|| exit);
    };
    let outcome = sandbox.run_until(&CallContext::default(), &action, A_DAY, None, stop).await;
    told(&outcome, signal.get().copied())
}

/// Reads standard input; none on a terminal, where it would wait for somebody to type.
async fn given() -> Result<Option<String>, CliError> {
    if stdin().is_terminal() {
        return Ok(None);
    }
    let read = spawn_blocking(|| {
        let mut bytes = Vec::new();
        stdin().lock().take(MAX_STREAM + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_STREAM) {
            return Err(io::Error::other("it holds more than 64 MiB"));
        }
        String::from_utf8(bytes).map_err(io::Error::other)
    });
    let read = read.await.map_err(io::Error::other).flatten();
    let text =
        read.map_err(|error| CliError::usage(format!("cannot read standard input: {error}")))?;
    Ok(Some(text))
}

/// Prints what the program has printed to each stream, and returns an error with its exit code if
/// that is not 0.
fn told(outcome: &Outcome, signal: Option<ExitReason>) -> Result<(), CliError> {
    let (Some(out), Some(err)) = (outcome.stdout(), outcome.stderr()) else {
        return Err(CliError::new(ExitReason::Failed, outcome.joined_text()));
    };
    note(stdout().lock().write_all(out.as_bytes()).and_then(|()| stdout().lock().flush()));
    drop(stderr().lock().write_all(err.as_bytes()));
    match (outcome.error, outcome.exit) {
        (None, _) => Ok(()),
        (Some(ToolError::Interrupted), _) => {
            let exit = signal.unwrap_or(ExitReason::Interrupted);
            Err(CliError::new(exit, "interrupted; what was done so far stays"))
        }
        (Some(_), Some(code)) => Err(CliError::of_program(code)),
        (Some(ToolError::Timeout), _) => {
            Err(CliError::new(ExitReason::Failed, "the program's time limit ended it"))
        }
        (Some(_), None) => {
            let last = outcome.parts.get(2..).unwrap_or_default();
            let words: Vec<&str> = last.iter().filter_map(|part| part.as_text()).collect();
            Err(CliError::new(ExitReason::Failed, words.join(" ").trim_matches(['[', ']', '\n'])))
        }
    }
}
