//! The options of commands on this machine, and the reasons why they can't be had.

use std::io;

/// The options of commands that run on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalOptions {
    /// The variables of this program's environment that they inherit.
    pub inherit: InheritPolicy,
    /// Names of variables that hold secrets although they do not look like it.
    pub secrets: Vec<String>,
    /// Variables that are set for commands besides, each a name and a value.
    pub variables: Vec<(String, String)>,
    /// The rule for running them inside of bubblewrap.
    pub bubblewrap: BubblewrapMode,
    /// True if commands reach the network from inside of bubblewrap. Without bubblewrap they always
    /// do.
    pub network: bool,
}

/// The variables of this program's environment that commands inherit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InheritPolicy {
    /// All but those that hold secrets, by a word of their name, such as `KEY`, `SECRET`, `TOKEN`,
    /// `PASSWORD` or `AUTH`, or by their value.
    #[default]
    Filtered,
    /// All variables, also those that hold secrets.
    All,
    /// `PATH`, `HOME`, `USER`, `SHELL`, `LANG`, `TERM`, `TMPDIR`, `GOPATH`, `CARGO_HOME` and
    /// `NVM_DIR`.
    Core,
    /// No variable at all.
    Nothing,
}

/// The rule for running commands inside of bubblewrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BubblewrapMode {
    /// Bubblewrap is used if it is installed and works.
    #[default]
    Auto,
    /// Bubblewrap is required: if it does not work, no command runs.
    Always,
    /// Commands run without bubblewrap.
    Never,
}

/// The reason why the machine can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Commands would change the folder itself and bypass the overlay.
    #[error("commands of this machine change the folder itself, so that it can have no overlay")]
    Overlay,
    /// Bubblewrap was required and does not work.
    #[error("bubblewrap is wanted, but {0}")]
    Unconfined(String),
    /// Commands are not run on this system.
    #[error("commands of the machine itself are run under Linux and macOS only")]
    NotHere,
    /// The folder for the shells' notes can't be created.
    #[error("can't make a folder for temporary files: {0}")]
    Notes(io::Error),
}
