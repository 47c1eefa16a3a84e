//! The arguments of `innerloop tool` and `innerloop tools`.

use super::{
    environment::{EnvironmentArgs, GuestArgs},
    model::WebArgs,
};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    /// The tool, as the model knows it (`read_file`), as an action (`read`), or one of your own;
    /// without it, all tools are listed.
    pub(crate) name: Option<String>,
    /// Its arguments, as JSON; `-` reads them from standard input. Without them, it is told which
    /// there are.
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,
    /// Print JSON: the tools as the model is shown them, or the outcome of a call.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder to work on.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Take any folder, also a home folder or one of the system.
    #[arg(long)]
    pub(crate) any_folder: bool,
    #[command(flatten)]
    pub(crate) guests: GuestArgs,
    #[command(flatten)]
    pub(crate) web: WebArgs,
    #[command(flatten)]
    pub(crate) environment: EnvironmentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the programs that are known, and which of them are there.
    List,
    /// Fetch a program, check it against its SHA-256, and compile it once.
    Install {
        /// Its name, or a command of it.
        name: String,
        /// The archive that holds it, or a WASI program of your own, in place of a download.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// Remove a program that was installed.
    Remove {
        /// Its name.
        name: String,
    },
    /// Check that all programs are what their names stand for.
    Verify,
    /// Run a program in the sandbox, as the agent would.
    ///
    /// It works on the folder itself and sees nothing else. Standard input is read to its end
    /// before it starts, and what it prints is shown when it has ended, both as text; its exit
    /// code is that of this command.
    Run(ToolsRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolsRunArgs {
    /// The folder that it sees as `/`.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Take any folder, also a home folder or one of the system.
    #[arg(long)]
    pub(crate) any_folder: bool,
    /// A folder of WASI programs (`NAME.wasm`) in place of those that are installed.
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
    /// The command.
    pub(crate) program: String,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
}
