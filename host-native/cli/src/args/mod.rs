//! The command line: everything that can be typed, and what `--help` says about it. The docs of
//! fields, commands and values here are help texts that users read. Types that settings also fill
//! in are plain data; the settings put their values where no option was given.

mod compact;
mod decode;
mod doctor;
mod environment;
mod limits;
mod model;
mod number;
mod output;
mod session;
mod sessions;
mod settings;
mod tools;
pub(super) mod tools_shown;
mod tuning;

pub(super) use compact::CompactionTrigger;
pub(super) use decode::{DecodeArgs, WireFormat};
pub(super) use doctor::DoctorArgs;
pub(super) use environment::{
    BubblewrapChoice, EnvironmentArgs, ExecutionTarget, FileBackend, GuestArgs, VariableInheritance,
};
pub(super) use limits::LimitArgs;
pub(super) use model::{ModelArgs, WebArgs};
pub(super) use output::{ColourChoice, OutputArgs};
pub(super) use session::{ConversationArgs, FileArgs, RunArgs, SessionArgs};
pub(super) use sessions::{
    KeptArgs, KeptCommand, ResumeArgs, SessionFormat, SessionsArgs, SessionsCommand,
};
pub(super) use settings::{
    ChangesSetting, CompletionsArgs, ConfigArgs, ConfigCommand, ConfigPatches, LoginArgs,
    LogoutArgs, ManArgs, ModelsArgs, OfProvider, OfProviders, ProjectArgs, ProvidersArgs,
    TrustArgs,
};
pub(super) use tools::{ToolArgs, ToolsArgs, ToolsCommand, ToolsRunArgs};
pub(super) use tuning::{ApprovalLevel, PresetName, ToolVocabulary, TuningArgs};

use super::exit::TABLE;
use clap::{Parser, Subcommand};
/// A coding agent whose tools run in a WebAssembly sandbox.
#[derive(Debug, Parser)]
///
/// Without a command it talks with you on a terminal, turn by turn.
#[command(name = "innerloop", version, after_help = TABLE, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<CliCommand>,
    #[command(flatten)]
    pub(super) conversation: Box<ConversationArgs>,
}

#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
    /// Let the agent work on a folder.
    Run(Box<RunArgs>),
    /// Go on with a session that was kept.
    Resume(Box<ResumeArgs>),
    /// List, show, export, delete, fork and apply the sessions that are kept.
    Sessions(SessionsArgs),
    /// List the agent's tools, or run one in the sandbox and print its result.
    ///
    /// What a program prints is shown as it comes, on standard output. The exit code is 0 if all
    /// went well and 1 if the tool's result is an error, such as a program that ended with another
    /// exit code, which is told on standard error.
    Tool(ToolArgs),
    /// Install, list and run programs for the sandbox.
    Tools(ToolsArgs),
    /// Read a recorded model response from standard input and print it as normalised JSON.
    Decode(DecodeArgs),
    /// Check that this installation works, and say what would make it.
    ///
    /// A line for each thing: `ok`, `warn` for what one can do without, `FAIL` for what one can't,
    /// with what to do about it. The exit code is 1 if anything fails. Nothing is asked of the
    /// network with --offline.
    Doctor(DoctorArgs),
    /// List the models that are known, with their limits and prices.
    Models(ModelsArgs),
    /// List the providers of models: their keys, addresses and standard models.
    Providers(ProvidersArgs),
    /// Keep a provider's key on this machine.
    Login(LoginArgs),
    /// Remove a provider's key that was kept.
    Logout(LogoutArgs),
    /// List, read and write settings.
    Config(ConfigArgs),
    /// Let a project's own settings count, as they are now.
    ///
    /// A folder's .innerloop/config.toml is obeyed only when you have said so, here or when a run
    /// asks, and no longer when it has changed. It can choose a model and lower limits, and name
    /// hooks, which are commands that run on this machine; it never says where keys are sent or
    /// what runs without a question.
    Trust(TrustArgs),
    /// Print what completes the arguments of this program in your shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands into a folder.
    Man(ManArgs),
}
