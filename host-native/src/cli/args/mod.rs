//! The command line.

mod decode;
mod doctor;
mod environment;
mod limits;
mod model;
mod output;
mod session;
mod sessions;
mod tools;
mod tuning;

pub(super) use decode::{DecodeArgs, Wire};
pub(super) use doctor::DoctorArgs;
pub(super) use environment::{Bubblewrap, EnvironmentArgs, GuestArgs, Inherited, Where};
pub(super) use limits::LimitArgs;
pub(super) use model::{ModelArgs, WebArgs};
pub(super) use output::{OutputArgs, When};
pub(super) use session::{ConversationArgs, FileArgs, RunArgs, SessionArgs};
pub(super) use sessions::{Form, ResumeArgs, SessionsArgs, SessionsCommand};
pub(super) use tools::{ToolArgs, ToolsArgs, ToolsCommand, ToolsRunArgs};
pub(super) use tuning::{Approve, TuningArgs, Words};

use super::exit::TABLE;
use clap::{Parser, Subcommand};
/// A coding agent whose tools run in a WebAssembly sandbox.
#[derive(Debug, Parser)]
///
/// Without a command it talks with you on a terminal, turn by turn.
#[command(name = "innerloop", version, after_help = TABLE, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) conversation: Box<ConversationArgs>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Let the agent work on a folder.
    Run(Box<RunArgs>),
    /// Go on with a session that was kept.
    Resume(Box<ResumeArgs>),
    /// List, show, export, delete and fork the sessions that are kept.
    Sessions(SessionsArgs),
    /// Run one tool in the sandbox and print its result.
    Tool(ToolArgs),
    /// Install, list and run programs for the sandbox.
    Tools(ToolsArgs),
    /// Read a recorded model response from standard input and print it as normalised JSON.
    Decode(DecodeArgs),
    /// Check that this installation works.
    Doctor(DoctorArgs),
}
