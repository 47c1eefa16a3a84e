//! The arguments of `innerloop resume` and `innerloop sessions`.

use super::{
    limits::LimitArgs,
    number,
    output::{OutputArgs, ResultArgs},
    session::FileArgs,
    settings::SettingsArgs,
    tuning::ApprovalLevel,
};
use crate::exit::TABLE;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = TABLE)]
pub(crate) struct ResumeArgs {
    /// The session's id, or its first digits, or `last`: the newest one of the folder; or the file
    /// of a log, which becomes a session of the folder.
    #[arg(value_name = "ID|last|FILE", default_value = "last")]
    pub(crate) session: String,
    /// What to do; `-` reads it from standard input.
    ///
    /// Without it a conversation goes on where you sit at a terminal. Elsewhere a run goes on that
    /// was stopped in the middle, or changes are applied that the session still holds.
    pub(crate) prompt: Option<String>,
    /// A picture, a PDF or a text that goes with the prompt, or the address of a picture; give one
    /// for each.
    #[arg(short = 'i', long, visible_alias = "image", value_name = "FILE|URL")]
    pub(crate) attach: Vec<String>,
    /// The folder whose newest session `last` is, or on which the session of a file works, which
    /// must be said where its files were in memory [default: the current one].
    #[arg(short = 'C', long, value_name = "DIR", help_heading = "Folder and changes")]
    pub(crate) workspace: Option<PathBuf>,
    /// Write the changes to the folder when the run is over [default: as the session had it].
    #[arg(long, conflicts_with_all = ["diff", "in_place"], help_heading = "Folder and changes")]
    pub(crate) apply: bool,
    /// Show what the agent would change, and leave the folder as it is.
    #[arg(long, conflicts_with = "in_place", help_heading = "Folder and changes")]
    pub(crate) diff: bool,
    /// Let the agent change the folder itself, while it works.
    #[arg(long, help_heading = "Folder and changes")]
    pub(crate) in_place: bool,
    /// Another model of the same provider, from now on. A request to the old one that was not
    /// answered is given up.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) model: Option<String>,
    /// Where the provider is reached [default: as the session had it].
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub(crate) base_url: Option<String>,
    /// Which calls may run without a question, from now on.
    #[arg(long, value_enum, value_name = "WHICH", help_heading = "What the agent may do")]
    pub(crate) approve: Option<ApprovalLevel>,
    /// A call that runs without a question, from now on; give one for each. `innerloop run --help`
    /// tells more [default: as the session had them].
    #[arg(long, value_name = "RULE", help_heading = "What the agent may do")]
    pub(crate) allow: Vec<String>,
    /// Let the agent read and do nothing else, from now on: for good.
    #[arg(long, conflicts_with_all = ["apply", "in_place"], help_heading = "What the agent may do")]
    pub(crate) read_only: bool,
    /// Leave the model no way to ask you something while it works.
    #[arg(long, help_heading = "What the agent may do")]
    pub(crate) no_questions: bool,
    /// `low`, `medium`, `high`, or what else the model knows, from now on.
    #[arg(long, value_name = "EFFORT", help_heading = "Model")]
    pub(crate) effort: Option<String>,
    /// Most user and assistant turns of the whole session; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::whole::<u32>,
        allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub(crate) max_turns: Option<u32>,
    /// Most rounds of tool calls; 0 for no limit.
    #[arg(
        long,
        visible_alias = "max-rounds",
        value_name = "N",
        value_parser = number::whole::<u32>,
        allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub(crate) max_tool_rounds: Option<u32>,
    /// A variable for commands of a session with --env local; give one for each. The values of
    /// those that the session had are not kept: give them again, or have them in the environment.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Commands on this machine")]
    pub(crate) set_env: Vec<String>,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    #[command(flatten)]
    Kept(KeptCommand),
    /// Apply the changes that a session holds, whatever has become of its log.
    ///
    /// What is applied is shown. Nothing of the log is read: a session whose log is damaged loses
    /// none of its changes.
    Apply {
        #[command(flatten)]
        which: KeptArgs,
        /// Also if a call was cut off when the program was stopped, so that a file may be changed
        /// by half, and nobody can be asked.
        #[arg(short, long)]
        yes: bool,
        /// Also where something else has changed the same files meanwhile: the session's take their
        /// place.
        #[arg(long)]
        over: bool,
    },
    /// Copy the files that a session has changed to a new folder. The session keeps them, too.
    Keep {
        #[command(flatten)]
        which: KeptArgs,
        /// The folder, which must not be there yet.
        #[arg(value_name = "DIR")]
        to: PathBuf,
    },
}

/// What is done with sessions whatever they have changed.
#[derive(Debug, Subcommand)]
pub(crate) enum KeptCommand {
    /// List the sessions that are kept, the newest first.
    List {
        /// Only those of this folder.
        #[arg(short = 'C', long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// As a line of JSON for each.
        #[arg(long)]
        json: bool,
    },
    /// Show what was said and done in a session.
    Show {
        #[command(flatten)]
        which: WhichArgs,
        /// In which form.
        #[arg(long = "as", value_enum, value_name = "FORM", default_value_t = SessionFormat::Text)]
        form: SessionFormat,
    },
    /// Write a session's log to a new file, which another machine can show and resume from.
    Export {
        #[command(flatten)]
        which: WhichArgs,
        /// The file.
        file: PathBuf,
    },
    /// Delete sessions. Those that hold changes need --force, and those that are worked with stay.
    #[command(arg_required_else_help = true)]
    Delete {
        /// Their ids, or the first digits of them.
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        /// All that were last used more than so many days ago.
        #[arg(
            long,
            value_name = "DAYS",
            value_parser = number::whole::<u32>,
            allow_negative_numbers = true,
            conflicts_with = "ids"
        )]
        older_than: Option<u32>,
        /// Also those with changes that are not applied, which are then gone.
        #[arg(long)]
        force: bool,
    },
    /// Make another session of what was said until some turn, and print its id. It takes the
    /// changes along that are not applied.
    Fork {
        #[command(flatten)]
        which: WhichArgs,
        /// How many turns it takes along [default: all].
        #[arg(
            long,
            value_name = "N",
            value_parser = number::whole::<usize>,
            allow_negative_numbers = true
        )]
        turns: Option<usize>,
    },
}

/// Which session is meant.
#[derive(Debug, Args)]
pub(crate) struct WhichArgs {
    /// The session's id, or its first digits, or `last`: the newest one of this folder; or the
    /// file of a log.
    #[arg(value_name = "ID|last|FILE")]
    pub(crate) session: String,
}

/// Which session's changes are meant.
#[derive(Debug, Args)]
pub(crate) struct KeptArgs {
    /// The session's id, or its first digits, or `last`: the newest one of this folder.
    #[arg(value_name = "ID|last")]
    pub(crate) session: String,
    /// The folder that they are made to, if it has been moved since [default: the session's].
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

/// How a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionFormat {
    /// For a terminal.
    Text,
    /// For a document.
    Markdown,
    /// For programs.
    Json,
}
