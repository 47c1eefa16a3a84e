//! The command line.

mod decode;
mod doctor;
mod environment;
mod model;
mod output;
mod session;
mod tools;
mod tuning;

pub(super) use decode::{DecodeArgs, Wire};
pub(super) use doctor::DoctorArgs;
pub(super) use environment::{Bubblewrap, EnvironmentArgs, GuestArgs, Inherited, Where};
pub(super) use model::{ModelArgs, WebArgs};
pub(super) use output::{OutputArgs, When};
pub(super) use session::{FileArgs, RunArgs, SessionArgs};
pub(super) use tools::{ToolArgs, ToolsArgs, ToolsCommand, ToolsRunArgs};
pub(super) use tuning::{Approve, TuningArgs};

use super::exit::TABLE;
use clap::{Parser, Subcommand};
/// A coding agent whose tools run in a WebAssembly sandbox.
#[derive(Debug, Parser)]
#[command(name = "innerloop", version, after_help = TABLE, arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Let the agent work on a folder.
    Run(Box<RunArgs>),
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
    /// Check that this installation works.
    Doctor(DoctorArgs),
}
