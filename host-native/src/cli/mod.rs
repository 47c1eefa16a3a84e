//! The command line: reads the arguments, runs one command, prints what came of it and chooses
//! the exit code.

mod args;
mod decode;
mod doctor;
mod exit;
mod interaction;
mod interrupts;
mod report;
mod run;
mod setup;
mod style;
mod text_calls;
mod tool;
mod transcript;

use args::{Cli, Command};
use clap::{Parser, error::ErrorKind};
use exit::{Exit, Failure};
use report::Report;
use std::{
    ffi::OsString,
    io::{self, Write, stderr, stdout},
    process::ExitCode,
    sync::OnceLock,
    time::Duration,
};

/// How long tasks that were stopped may take to end.
const LEAVE: Duration = Duration::from_millis(200);

/// Why standard output did not get all of what was said.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// Runs the program with these arguments, its own name first, and returns its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error, &args),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let message = format!("cannot start: {error}");
            return ended(Err(Failure::new(Exit::Failed, message)));
        }
    };
    let result = runtime.block_on(async {
        match cli.command {
            Command::Run(args) => run::run(*args).await,
            Command::Tool(args) => tool::run(args).await,
            Command::Decode(args) => decode::run(&args),
            Command::Doctor(args) => doctor::run(args).await,
        }
    });
    runtime.shutdown_timeout(LEAVE);
    ended(result)
}

/// Help and version go to standard output; a mistake is told, as a record too where JSON is
/// asked for.
fn unparsed(error: &clap::Error, args: &[OsString]) -> ExitCode {
    let printed = error.print();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        note(printed);
        return ended(Ok(()));
    }
    let is = |index: usize, word: &str| args.get(index).is_some_and(|arg| arg == word);
    if is(1, "run") && args.iter().any(|arg| arg == "--json") {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        say(&Report::failed(Failure::usage(first)).record());
    }
    ExitCode::from(Exit::Usage.code())
}

fn ended(result: Result<(), Failure>) -> ExitCode {
    let unwritten = UNWRITTEN.get().map(|error| {
        let advice = "make room or name another place";
        let message = format!("cannot write to standard output: {error}; {advice}");
        Failure::new(Exit::Failed, message)
    });
    let Some(failure) = result.err().or(unwritten) else { return ExitCode::SUCCESS };
    complain(&failure);
    ExitCode::from(failure.exit.code())
}

/// Prints a line to standard output. What can't be written fails the command at its end.
fn say(line: &str) {
    let mut out = stdout().lock();
    note(writeln!(out, "{line}").and_then(|()| out.flush()));
}

/// Keeps the first failure to write. Nobody may be reading; that is no failure.
fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.get_or_init(|| error);
    }
}

/// Prints what went wrong to standard error.
fn complain(failure: &Failure) {
    let text = failure.to_string();
    drop(writeln!(stderr().lock(), "{}", style::harmless(&text)));
}
