//! The program `innerloop`: parses the arguments, runs one command, prints its error and sets the
//! exit code.

mod agents;
mod allow;
mod answer_input;
mod answer_schema;
mod applying;
mod approval;
mod args;
mod arguments;
mod attach;
mod auto_approval;
mod call_summary;
mod completions;
mod config;
mod console;
mod conversation;
mod credentials;
mod decode;
mod diagnostic;
mod doctor;
mod editor;
mod endpoint_probe;
mod environment;
mod exit;
mod fallbacks;
mod header;
mod instructions;
mod interaction;
mod interrupts;
mod key_in_use;
mod keyring;
mod keys;
mod limits;
mod login;
mod markdown;
mod message_file;
mod mode;
mod model_change;
mod model_recording;
mod models;
mod notices;
mod number_format;
mod overlay_autosave;
mod overlay_commands;
mod patch;
mod patch_reader;
mod plain_line;
mod platform;
mod preview;
mod program_folders;
mod project_limits;
mod prompt_input;
mod question;
mod report;
mod resume;
mod resumed_session;
mod review;
mod run;
mod run_record;
mod run_view;
mod session_setup;
mod sessions;
mod settings;
mod setup;
mod spinner;
mod stall_notice;
mod style;
mod terminal;
mod text_calls;
mod tool;
mod tools;
mod transcript;
mod user_tools;
mod web_pages;
mod wrap;

use args::{Cli, CliCommand};
use clap::{
    CommandFactory as _, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use console::{complain, note, say_escaped, unwritten};
use exit::{CliError, ExitReason};
use innerloop_sandbox::compile_if_asked;
use report::RunReport;
use std::{
    ffi::OsString,
    io::{IsTerminal as _, stderr, stdin},
    process::ExitCode,
};

fn main() -> ExitCode {
    // First of all: until then, other programs of the user can read keys in the environment.
    platform::hide_memory();
    let args: Vec<OsString> = std::env::args_os().collect();
    // This program is also the compiler of modules: the sandbox starts it again for that, with
    // arguments that clap does not know.
    if let Some(code) = compile_if_asked(&args) {
        return code;
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => match prompted(&error, &args) {
            Some(Ok(cli)) => cli,
            Some(Err(error)) => return unparsed(error, &args),
            None => return unparsed(error, &args),
        },
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let message = format!("cannot start: {error}");
            return ended(Err(CliError::new(ExitReason::Failed, message)));
        }
    };
    // The error is printed within the runtime, since signals are handled by a task: a second Ctrl-C
    // still works while the last line is written.
    let code = runtime.block_on(async {
        let Some(command) = cli.command else {
            return ended(conversation::run(*cli.conversation).await);
        };
        ended(match command {
            CliCommand::Run(args) => run::run(*args).await,
            CliCommand::Resume(args) => resume::run(*args).await,
            CliCommand::Sessions(args) => overlay_commands::sessions(args).await,
            CliCommand::Tool(args) => tool::run(args).await,
            CliCommand::Tools(args) => tools::carry_out(args).await,
            CliCommand::Decode(args) => decode::run(&args),
            CliCommand::Doctor(args) => doctor::run(args).await,
            CliCommand::Models(args) => models::list(&args),
            CliCommand::Providers(args) => models::providers(&args),
            CliCommand::Login(args) => login::login(args).await,
            CliCommand::Logout(args) => login::logout(&args),
            CliCommand::Config(args) => settings::carry_out(args),
            CliCommand::Trust(args) => settings::trust_folder(&args),
            CliCommand::Completions(args) => completions::completions(&args),
            CliCommand::Man(args) => completions::man(&args),
        })
    });
    // Without waiting for tasks: stopped work has been accounted for, and a module that is half
    // compiled is compiled again by the run that needs it.
    runtime.shutdown_background();
    code
}

/// Parses the arguments again if a prompt takes the place of a command. On a terminal it begins a
/// conversation; elsewhere it is `innerloop run`. A single word is taken for a misspelt command.
fn prompted(error: &clap::Error, args: &[OsString]) -> Option<Result<Cli, clap::Error>> {
    // After an option clap reports the prompt as an unexpected argument, or as one that conflicts
    // with the option.
    let told = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg, ContextKind::PriorArg];
    let told = told.into_iter().filter_map(|kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    });
    let is_prompt =
        |text: &str| !text.starts_with('-') && text.trim().contains(char::is_whitespace);
    let prompt =
        told.filter(|text| is_prompt(text)).find(|text| args.iter().any(|arg| arg == text));
    let prompt = prompt?;
    let at = args.iter().position(|arg| arg == prompt)?;
    let (before, behind) = (args.get(..at)?, args.get(at + 1..)?);
    let known = Cli::command();
    let is_command = |arg: &OsString| known.find_subcommand(arg).is_some();
    if before.iter().skip(1).any(is_command) {
        return None;
    }
    let said = if stdin().is_terminal() && stderr().is_terminal() {
        let option = [OsString::from(format!("--prompt={prompt}"))];
        [before, &option, behind].concat()
    } else {
        let (name, options) = before.split_first()?;
        let command = [name.clone(), OsString::from("run"), OsString::from(prompt)];
        [&command, options, behind].concat()
    };
    Some(Cli::try_parse_from(said))
}

/// Prints help, the version, or a usage error. With `--json` the error is also a result record, so
/// that programs always get one.
fn unparsed(error: clap::Error, args: &[OsString]) -> ExitCode {
    let error = with_tip(error, args);
    let printed = error.print();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        note(printed);
        return ended(Ok(()));
    }
    let is = |index: usize, word: &str| args.get(index).is_some_and(|arg| arg == word);
    if (is(1, "run") || is(1, "resume")) && args.iter().any(|arg| arg == "--json") {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        say_escaped(&RunReport::failed(CliError::usage(first)).record());
    }
    ExitCode::from(ExitReason::Usage.code())
}

/// Adds a tip for users who may have meant an unknown command as a prompt of one word.
fn with_tip(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::InvalidSubcommand
        && error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && args.get(1).is_some_and(|first| first == word.as_str())
    {
        let tip = format!("to let the agent do that: innerloop run {word:?}");
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        drop(error.insert(ContextKind::Suggested, tip));
    }
    error
}

fn ended(result: Result<(), CliError>) -> ExitCode {
    let unwritten = unwritten().map(|error| {
        let advice = "make room or name another place";
        let message = format!("cannot write to standard output: {error}; {advice}");
        CliError::new(ExitReason::Failed, message)
    });
    let Some(failure) = result.err().or(unwritten) else { return ExitCode::SUCCESS };
    if !failure.message.is_empty() {
        complain(&failure);
    }
    ExitCode::from(failure.exit.code())
}
