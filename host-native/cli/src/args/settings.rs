//! The arguments of the commands about settings, and the values of settings that have no option.

use clap::{Args, Subcommand, ValueEnum};
use innerloop_host::{
    facts::{agent_files::AgentFile, skill_files::SkillFile},
    local::HookCommand,
};
use std::{collections::BTreeMap, path::PathBuf};

/// Whether settings files count.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Session")]
pub(crate) struct SettingsArgs {
    /// Leave the settings files alone, your own and the project's.
    #[arg(long)]
    pub(crate) no_settings: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List all settings: their values, and where each is from.
    List {
        #[command(flatten)]
        place: ProjectArgs,
        /// Print an object of `{value, source, file}` by setting.
        #[arg(long)]
        json: bool,
    },
    /// Print the value of a setting.
    Get {
        /// The setting, for example `model`, `providers.openai.base_url` or `config.retry`.
        key: String,
        #[command(flatten)]
        place: ProjectArgs,
    },
    /// Write a setting into your own file, or the project's; all else in it stays as it is.
    Set {
        /// The setting, for example `model`, `providers.openai.base_url` or
        /// `config.retry.max_retries`.
        key: String,
        /// Its value; of lists the items with commas between, of `config.…` any value of TOML.
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Write into the project's file.
        #[arg(long)]
        project: bool,
        #[command(flatten)]
        place: ProjectArgs,
    },
    /// Remove a setting from your own file, or the project's.
    Unset {
        /// The setting.
        key: String,
        /// Remove it from the project's file.
        #[arg(long)]
        project: bool,
        #[command(flatten)]
        place: ProjectArgs,
    },
    /// Print where the files are, or would be.
    Path {
        #[command(flatten)]
        place: ProjectArgs,
    },
}

/// Which project is meant.
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// The project's folder.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project's folder.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Forget what was said about it.
    #[arg(long)]
    pub(crate) revoke: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// The provider whose models are listed [default: all].
    pub(crate) provider: Option<String>,
    /// Print an array of `{provider, model, context_window, max_output_tokens, price, …}`.
    #[arg(long)]
    pub(crate) json: bool,
    /// A catalogue of models in place of the one that comes along.
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ProvidersArgs {
    /// Print an array of `{name, title, variables, key, base_url, model}`.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The provider, as `innerloop providers` names it.
    #[arg(required_unless_present = "list")]
    pub(crate) provider: Option<String>,
    /// Keep the key in the platform's key ring instead of a file.
    #[arg(long, conflicts_with = "list")]
    pub(crate) keyring: bool,
    /// List the providers whose keys are in the file.
    #[arg(long, conflicts_with = "provider")]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// The provider.
    pub(crate) provider: String,
    /// Remove the key from the platform's key ring instead of the file.
    #[arg(long)]
    pub(crate) keyring: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// A folder that gets the pages of all commands, instead of the main page being printed.
    pub(crate) folder: Option<PathBuf>,
}

/// Where changes go, as settings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangesSetting {
    /// Shown at the end, and applied after a yes.
    Ask,
    /// Applied at the end.
    Apply,
    /// Made in the folder itself.
    InPlace,
    /// Only shown.
    Diff,
}

/// The settings of providers.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfProviders {
    /// The address of the session's provider; variables of the environment come before it.
    pub(crate) base_url: Option<String>,
    /// The settings of each provider by its name.
    pub(crate) each: BTreeMap<String, OfProvider>,
}

/// The settings of one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OfProvider {
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    /// The name of a variable that may hold its key.
    pub(crate) api_key_env: Option<String>,
}

impl OfProviders {
    /// Returns the settings of that provider.
    pub(crate) fn of(&self, name: &str) -> Option<&OfProvider> {
        self.each.get(name)
    }

    /// Returns the names of the variables that hold keys, as `api_key_env` names them.
    pub(crate) fn key_variables(&self) -> Vec<String> {
        self.each.values().filter_map(|said| said.api_key_env.clone()).collect()
    }
}

/// The settings of the session's configuration, each the text of a JSON Merge Patch. Options and
/// `--config` override all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigPatches {
    /// The user's file.
    pub(crate) user: Option<String>,
    /// The project's file, which may only restrict the agent further.
    pub(crate) project: Option<String>,
    /// The environment.
    pub(crate) environment: Option<String>,
    /// The calls that run without a question, from the user's file.
    pub(crate) allow: Vec<String>,
    /// The commands that are asked at points of the loop, in the order in which they run.
    pub(crate) hooks: Vec<HookCommand>,
    /// The files that describe agents, the user's and those of a trusted project. Of equal names
    /// the last one counts.
    pub(crate) agents: Vec<AgentFile>,
    /// The files that describe skills, those of a trusted project before the user's. Of equal names
    /// the first one counts.
    pub(crate) skills: Vec<SkillFile>,
}
