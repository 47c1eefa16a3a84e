//! The arguments that say where calls run: in the sandbox, and with which programs and tools, or
//! on this machine. They are stored with a session, so that `innerloop resume` finds them again.

use clap::{Args, ValueEnum};
use innerloop_sandbox::ReadIsolation;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where commands run.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "Commands on this machine")]
pub(crate) struct EnvironmentArgs {
    /// Where commands run. `local` is this machine, as you, by your own shell and programs.
    ///
    /// They change the folder itself, so that it means --in-place, which must be said off a
    /// terminal, and what they change is not shown at the end. File tools work as without it. What
    /// runs needs a yes, or --approve all.
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = ExecutionTarget::Sandbox)]
    pub(crate) env: ExecutionTarget,
    /// Whether commands of --env local run inside of bubblewrap [default: auto].
    ///
    /// There they can change the folder, but not its .git and .innerloop; they can read programs,
    /// libraries and what package managers have fetched, and see nothing else of your files.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) bubblewrap: Option<BubblewrapChoice>,
    /// Which variables commands of --env local inherit [default: filtered].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) env_policy: Option<VariableInheritance>,
    /// A variable that is set for commands of --env local; give one for each.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set_env: Vec<String>,
    /// Let commands of --env local reach the network from inside of bubblewrap.
    #[arg(long)]
    pub(crate) allow_network: bool,
    /// Variables that settings name as those of keys.
    #[arg(skip)]
    pub(crate) secrets: Vec<String>,
}

/// Where commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExecutionTarget {
    /// In the sandbox, as WASI programs.
    #[default]
    Sandbox,
    /// On this machine.
    Local,
}

/// Whether commands run inside of bubblewrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BubblewrapChoice {
    /// Where it is installed and works.
    Auto,
    /// Always; where it does not work, the program ends.
    Always,
    /// Never.
    Never,
}

/// Which variables commands inherit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VariableInheritance {
    /// All but what holds secrets, by a word of its name (KEY, SECRET, TOKEN, PASSWORD, AUTH, …) or
    /// by its value.
    Filtered,
    /// All.
    All,
    /// `PATH`, `HOME`, `USER`, `SHELL`, `LANG`, `TERM`, `TMPDIR`, `GOPATH`, `CARGO_HOME` and
    /// `NVM_DIR`.
    Core,
    /// None.
    None,
}

/// What else may be run in the sandbox.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct GuestArgs {
    /// A folder of WASI programs (`NAME.wasm`) that the agent may run.
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
    /// A tool of your own, by its folder; give one for each tool.
    ///
    /// The folder holds a WASI program, which reads the call's arguments as JSON from standard
    /// input and prints the result, and `tool.toml`: name, description and module (the program's
    /// file), and if need be parameters (the arguments' JSON Schema, as TOML), `read_only`, args,
    /// and limits with `timeout_ms`, `memory_mib`, `output_mib`, `disk_mib`. A built-in tool of the
    /// same name is replaced.
    #[arg(long = "tool", value_name = "DIR")]
    pub(crate) tools: Vec<PathBuf>,
    /// Where files are read and searched; what writes or executes always runs in the sandbox
    /// [default: native].
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(crate) isolation: Option<FileBackend>,
}

impl GuestArgs {
    /// Returns where files are read and searched.
    pub(crate) fn isolation(&self) -> ReadIsolation {
        match self.isolation.unwrap_or_default() {
            FileBackend::Native => ReadIsolation::Native,
            FileBackend::Wasi => ReadIsolation::Wasi,
        }
    }
}

/// Where files are read and searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FileBackend {
    /// In this program, at full speed; nothing outside of the folder can be reached.
    #[default]
    Native,
    /// In the sandbox as well.
    Wasi,
}
