//! The arguments of a session, shared by `innerloop run` and a conversation, and those of
//! `innerloop run` itself.

use super::{
    environment::{EnvironmentArgs, GuestArgs},
    limits::LimitArgs,
    model::ModelArgs,
    output::{ColourChoice, OutputArgs, ResultArgs},
    settings::SettingsArgs,
    tuning::TuningArgs,
};
use crate::exit::TABLE;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = TABLE)]
pub(crate) struct RunArgs {
    /// What to do; `-`, or nothing at all, reads it from standard input.
    ///
    /// What is piped in beside a prompt goes with it, in a block `<stdin>`. Where nothing comes on
    /// an open pipe in ten seconds, the run goes on without it.
    ///
    /// A file of the workspace is attached by `@src/main.rs` or `@"with space.png"`: a picture, a
    /// PDF, or a text of up to 256 KiB.
    pub(crate) prompt: Option<String>,
    /// A picture, a PDF or a text that goes with the prompt, or the address of a picture; give one
    /// for each.
    #[arg(short = 'i', long, visible_alias = "image", value_name = "FILE|URL")]
    pub(crate) attach: Vec<String>,
    /// Let calls name this file or folder of the workspace and no other; give one for each.
    ///
    /// Holds for this prompt. Programs and the shell are refused then, and so are tools of your own
    /// that may change something and do not say which of their arguments are paths.
    #[arg(long, value_name = "PATH", value_parser = inside, help_heading = "What the agent may do")]
    pub(crate) allow_path: Vec<String>,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Checks a path relative to the workspace's root.
fn inside(path: &str) -> Result<String, &'static str> {
    let steps = || path.split(['/', '\\']);
    let is_absolute = path.starts_with(['/', '\\']) || Path::new(path).is_absolute();
    if path.trim().is_empty() || is_absolute || steps().any(|step| step == "..") {
        return Err("name a file or folder from the workspace's root on, without `..`");
    }
    Ok(path.to_owned())
}

/// The arguments of a conversation.
#[derive(Debug, Args)]
pub(crate) struct ConversationArgs {
    /// What is said first: `innerloop "…"` is read as that.
    #[arg(long, hide = true)]
    pub(crate) prompt: Option<String>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Leave the model no way to ask you something while it works.
    #[arg(long, help_heading = "What the agent may do")]
    pub(crate) no_questions: bool,
    /// When to use colour [default: auto, which respects `NO_COLOR`].
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Output")]
    pub(crate) color: Option<ColourChoice>,
}

/// What a session works on, with which model, and how.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Folder and changes")]
pub(crate) struct SessionArgs {
    /// The folder to work on.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Take any folder, also a home folder or one of the system.
    #[arg(long)]
    pub(crate) any_folder: bool,
    /// Write the changes to the folder at the end of the run, or of each turn of a conversation,
    /// without a question.
    ///
    /// The agent works on an overlay of the folder, which stays as it is meanwhile. At the end the
    /// changes are shown, and on a terminal you are asked whether to apply them; in a conversation
    /// `/apply` does it later. Where nobody can be asked, one of --apply, --diff and --in-place is
    /// needed.
    ///
    /// With --apply what was done is also applied if the run failed or was interrupted, except when
    /// a second signal stops it at once. What is neither applied nor dropped stays with the
    /// session, or, if that is not kept, in a folder that the last line names.
    #[arg(long, conflicts_with_all = ["diff", "in_place"])]
    pub(crate) apply: bool,
    /// Show what the agent would change, and leave the folder as it is.
    ///
    /// A conversation tells after each turn how many files are changed; `/diff` shows them, and
    /// `/apply` writes them to the folder all the same.
    #[arg(long, conflicts_with = "in_place")]
    pub(crate) diff: bool,
    /// Let the agent change the folder itself, while it works.
    #[arg(long)]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) tuning: TuningArgs,
    /// Keep nothing of the session.
    ///
    /// Otherwise its log, and changes that are not applied, are kept in the state folder, for
    /// `innerloop resume` and `innerloop sessions`.
    #[arg(long, help_heading = "Session")]
    pub(crate) ephemeral: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) guests: GuestArgs,
    #[command(flatten)]
    pub(crate) environment: EnvironmentArgs,
}

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Session")]
pub(crate) struct FileArgs {
    /// Record the model's responses to a new file, whose first line names provider and model.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Take the model's responses from a recording; needs neither key nor network.
    ///
    /// Provider, model and vocabulary are those of the recording, unless an option names others.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Write the session's log to a new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}
