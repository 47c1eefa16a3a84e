//! What is wanted of the machine, and why it is not to be had.

use std::io;

/// The options of commands that run on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalOptions {
    /// The variables of this program's environment that they inherit.
    pub inherit: InheritPolicy,
    /// Names of variables that hold secrets although they are not called so: treated as those
    /// that are.
    pub secrets: Vec<String>,
    /// Variables that are set for them besides, each a name and a value.
    pub variables: Vec<(String, String)>,
    /// The rule for running them inside of bubblewrap.
    pub bubblewrap: BubblewrapMode,
    /// True if they reach the network from inside of bubblewrap. Without it nothing keeps them
    /// from it.
    pub network: bool,
}

/// The variables of this program's environment that commands inherit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InheritPolicy {
    /// All but what holds secrets, by a word of its name, such as `KEY`, `SECRET`, `TOKEN`,
    /// `PASSWORD` or `AUTH`, or by its value.
    #[default]
    Filtered,
    /// All of it.
    All,
    /// `PATH`, `HOME`, `USER`, `SHELL`, `LANG`, `TERM`, `TMPDIR`, `GOPATH`, `CARGO_HOME` and
    /// `NVM_DIR`.
    Core,
    /// Nothing.
    Nothing,
}

/// The rule for running commands inside of bubblewrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BubblewrapMode {
    /// If it is installed and works.
    #[default]
    Auto,
    /// Always; where it does not work, nothing does.
    Always,
    /// Never.
    Never,
}

/// The reason why the machine can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Commands would change the folder behind an overlay's back.
    #[error("commands of this machine change the folder itself, so that it can have no overlay")]
    Overlay,
    /// Bubblewrap was wanted.
    #[error("bubblewrap is wanted, but {0}")]
    Unconfined(String),
    /// This system's programs are not run.
    #[error("commands of the machine itself are run under Linux and macOS only")]
    NotHere,
    /// There is no room for the shells' notes.
    #[error("can't make a folder for temporary files: {0}")]
    Notes(io::Error),
}
