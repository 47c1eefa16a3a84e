//! The arguments about output: its form, its colour, and the file for the final message.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print events as JSON lines; the last line is always the result.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
    /// Print the final message only; with --diff, the diff if there is one.
    ///
    /// The message then goes to standard error, so that the diff can be piped.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// When to use colour [default: auto, which respects `NO_COLOR`].
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) color: Option<ColourChoice>,
}

/// What the final message is, and where else it goes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultArgs {
    /// Write the final message also to this file, which is replaced.
    ///
    /// A run that ends without one leaves the file as it is.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Have the model answer in the form of this JSON Schema, whose root is an object.
    ///
    /// The final message is then that answer as JSON; a run without such an answer has failed.
    #[arg(long = "output-schema", value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    #[default]
    Auto,
    Always,
    Never,
}
