//! The session's configuration, as far as options set it.

use super::{model::WebArgs, settings::Patches};
use clap::{Args, ValueEnum};
use innerloop_core::preset::Preset;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
pub(crate) struct TuningArgs {
    /// Which calls may run without a question.
    ///
    /// On a terminal you are asked about the others; elsewhere they do not run, the model reads
    /// why, and the exit code is 5. If nothing is said, `none` with --in-place on a terminal,
    /// `edits` with --env local elsewhere, and `all` otherwise.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) approve: Option<Approve>,
    #[command(flatten)]
    pub(crate) web: WebArgs,
    /// A file with changes of the configuration, `-` for standard input.
    ///
    /// A JSON Merge Patch (RFC 7396) of the session's configuration, for example
    /// {"retry": {"max_retries": 9}}. Options come before it, and it comes before your settings and
    /// the preset.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What settings say of the configuration.
    #[arg(skip)]
    pub(crate) settings: Patches,
    /// The configuration to begin with [default: modern].
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) preset: Option<Presets>,
    /// Most user and assistant turns; 0 for no limit.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// Most rounds of tool calls; 0 for no limit [default: the preset's, else 200].
    #[arg(long, visible_alias = "max-rounds", value_name = "N")]
    pub(crate) max_tool_rounds: Option<u32>,
    /// Under which names the model is shown its tools [default: the preset's].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) vocabulary: Option<Words>,
    /// Which of its own tools the model is shown: `all`, `read-only`, `none`, or their names with
    /// commas between.
    #[arg(long = "tools", value_name = "WHICH")]
    pub(crate) builtin_tools: Option<String>,
    /// Tools that the model is not shown, their names with commas between.
    #[arg(long, value_name = "NAMES", conflicts_with = "builtin_tools")]
    pub(crate) without_tools: Option<String>,
    /// A text with which the system prompt begins, in place of the program's own.
    #[arg(long, value_name = "FILE")]
    pub(crate) base_prompt: Option<PathBuf>,
    /// `low`, `medium`, `high`, or what else the model knows [default: the provider's own].
    #[arg(long, value_name = "EFFORT")]
    pub(crate) effort: Option<String>,
    /// Features in beta that Anthropic is asked for, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) betas: Vec<String>,
    /// A JSON object of fields that go into each request as the provider's protocol has them,
    /// such as `{"safetySettings": […]}`.
    #[arg(long, value_name = "JSON")]
    pub(crate) provider_options: Option<String>,
    /// Most tokens of one reply [default: what the model can, up to 32,000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_output_tokens: Option<u32>,
    /// Most tokens of a whole call [default: what the model can].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) context_window: Option<u32>,
    /// A catalogue of models, with limits and prices, in place of the one that comes along.
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Words {
    /// Those that its family was trained on.
    Native,
    /// Those of the coding agent loop specification, the same for all.
    Seed,
}

impl Words {
    /// The name in the configuration.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Seed => "seed",
        }
    }
}

/// Which calls may run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    /// Those that only read.
    None,
    /// Those that read or change files; programs and all else need a yes.
    Edits,
    /// All.
    All,
}

impl Approve {
    /// What needs approval then, as the configuration names it.
    pub(crate) const fn asks(self) -> &'static str {
        match self {
            Self::None => "changes",
            Self::Edits => "programs",
            Self::All => "nothing",
        }
    }
}

/// Whole configurations by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Presets {
    /// What people who know other coding agents expect.
    #[default]
    Modern,
    /// Every default of the coding agent loop specification.
    Seed001,
    /// For small local models.
    Ollama,
    /// Changes need approval, 50 rounds, only failing calls count as a loop.
    Ironclaw,
    /// Few and long retries; a limit is an error.
    Gnoma,
}

impl Presets {
    pub(crate) const fn preset(self) -> Preset {
        match self {
            Self::Modern => Preset::Modern,
            Self::Seed001 => Preset::Seed001,
            Self::Ollama => Preset::Ollama,
            Self::Ironclaw => Preset::Ironclaw,
            Self::Gnoma => Preset::Gnoma,
        }
    }
}
