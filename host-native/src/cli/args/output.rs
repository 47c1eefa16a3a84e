//! How a command tells what comes of it.

use clap::{Args, ValueEnum};

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print events as JSON lines; the last line is always the result.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
    /// Print the final message only; with --diff, the diff only.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// When to use colour; `NO_COLOR` is respected.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}
