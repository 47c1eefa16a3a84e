//! The arguments that change a session's configuration.

use super::{
    compact::CompactionTrigger, model::WebArgs, number, settings::ConfigPatches, tools_shown,
};
use clap::{Args, ValueEnum};
use innerloop_core::{config::AskAbout, json::to_string, preset::ConfigPreset, tool::ToolsShown};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TuningArgs {
    /// Which calls may run without a question.
    ///
    /// On a terminal you are asked about the others; elsewhere they do not run, the model reads
    /// why, and the exit code is 5. If nothing is said, `none` with --in-place on a terminal,
    /// `edits` with --env local elsewhere, and `all` otherwise.
    #[arg(long, value_enum, value_name = "WHICH", help_heading = "What the agent may do")]
    pub(crate) approve: Option<ApprovalLevel>,
    /// A call that runs without a question; give one for each.
    ///
    /// TOOL allows every call of a tool, TOOL:PATTERN some. A tool is named as the model knows it,
    /// or as an action: `shell`, `run_program`, `write`, `edit`, `patch`, `fetch`; tools of your
    /// own take no pattern.
    ///
    /// A command's pattern is its words: `shell:git status *`. A `*` stands at the end alone: as a
    /// word for any more words or none, behind letters for whatever ends that word, and any more.
    /// Lines of several commands run if each of them is allowed, or only reads in the sandbox. What
    /// a shell would expand, assign or redirect is asked about. A rule trusts its program, with all
    /// of its options.
    ///
    /// A file's pattern is its path from the workspace's root on: `write:docs/**`, `edit:src/*.rs`.
    /// Brackets are part of a name, as in `write:app/[id]/**`, unless they hold ranges alone,
    /// `[a-z0-9]`, or begin with `!`; the program says which.
    #[arg(long, value_name = "RULE", help_heading = "What the agent may do")]
    pub(crate) allow: Vec<String>,
    /// Let the agent read and do nothing else.
    ///
    /// It is shown no tools that change files, run programs or read the web, and what is called
    /// all the same is refused. Nothing is applied, so that nobody need be asked. Tools of your own
    /// are left out unless they are `read_only`.
    #[arg(
        long,
        conflicts_with_all = ["apply", "in_place", "builtin_tools", "without_tools", "domains"],
        help_heading = "What the agent may do"
    )]
    pub(crate) read_only: bool,
    #[command(flatten)]
    pub(crate) web: WebArgs,
    /// A file with changes of the configuration, `-` for standard input.
    ///
    /// A JSON Merge Patch (RFC 7396) of the session's configuration, for example
    /// {"retry": {"max_retries": 9}}. Options come before it, and it comes before your settings and
    /// the preset.
    #[arg(long, value_name = "FILE", help_heading = "Prompt and configuration")]
    pub(crate) config: Option<PathBuf>,
    /// Whether the model may ask the person, where that is said or somebody talks with it.
    #[arg(skip)]
    pub(crate) asks_person: Option<bool>,
    /// What settings say of the configuration.
    #[arg(skip)]
    pub(crate) settings: ConfigPatches,
    /// The configuration to begin with [default: ollama with the provider ollama, else modern].
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Prompt and configuration")]
    pub(crate) preset: Option<PresetName>,
    /// Most user and assistant turns; 0 for no limit.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::whole::<u32>,
        allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub(crate) max_turns: Option<u32>,
    /// Most rounds of tool calls; 0 for no limit [default: the preset's, else 200].
    #[arg(
        long,
        visible_alias = "max-rounds",
        value_name = "N",
        value_parser = number::whole::<u32>,
        allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub(crate) max_tool_rounds: Option<u32>,
    /// Under which names the model is shown its tools [default: the preset's].
    #[arg(long, value_enum, value_name = "WHICH", help_heading = "Prompt and configuration")]
    pub(crate) vocabulary: Option<ToolVocabulary>,
    /// Which of its own tools the model is shown: `all`, `read-only`, `none`, or their names with
    /// commas between.
    #[arg(long = "tools", value_name = "WHICH", help_heading = "Prompt and configuration")]
    pub(crate) builtin_tools: Option<String>,
    /// Tools that the model is not shown, their names with commas between.
    #[arg(
        long,
        value_name = "NAMES",
        conflicts_with = "builtin_tools",
        help_heading = "Prompt and configuration"
    )]
    pub(crate) without_tools: Option<String>,
    /// How many tools a request shows: a number, `all`, or `staged` [default: 30].
    ///
    /// Beyond the number, tools of your own are only named, and the model finds them by
    /// `tool_search`; the built-in ones are always shown. `staged` is for small models: they choose
    /// a kind of tools first, and are shown only those.
    #[arg(
        long,
        value_name = "WHICH",
        value_parser = tools_shown::parse,
        help_heading = "Prompt and configuration"
    )]
    pub(crate) tools_shown: Option<ToolsShown>,
    /// Keep outputs of tools whole that the model reads only a part of, so that it can read on.
    #[arg(long, help_heading = "Prompt and configuration")]
    pub(crate) keep_results: bool,
    /// Leave skills alone, your own and the project's.
    #[arg(long, help_heading = "Prompt and configuration")]
    pub(crate) no_skills: bool,
    /// A text with which the system prompt begins, in place of the program's own.
    #[arg(long, value_name = "FILE", help_heading = "Prompt and configuration")]
    pub(crate) base_prompt: Option<PathBuf>,
    /// `low`, `medium`, `high`, or what else the model knows [default: the provider's own].
    #[arg(long, value_name = "EFFORT", help_heading = "Model")]
    pub(crate) effort: Option<String>,
    /// Features in beta that Anthropic is asked for, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Model")]
    pub(crate) betas: Vec<String>,
    /// A JSON object of fields that go into each request as the provider's protocol has them,
    /// such as `{"safetySettings": […]}`.
    #[arg(long, value_name = "JSON", help_heading = "Model")]
    pub(crate) provider_options: Option<String>,
    /// Most tokens of one reply [default: what the model can, up to 32,000].
    #[arg(
        long,
        value_name = "N",
        value_parser = number::positive::<u32>,
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub(crate) max_output_tokens: Option<u32>,
    /// Most tokens of a whole request and its reply [default: what the model can].
    #[arg(
        long,
        value_name = "N",
        value_parser = number::positive::<u32>,
        allow_negative_numbers = true,
        help_heading = "Model"
    )]
    pub(crate) context_window: Option<u32>,
    /// When a conversation is summed up, so that it fits the model: `auto` as the preset has it,
    /// `off`, 75 per cent of the window, 120k tokens that are used, or -20k that are left.
    ///
    /// A summary by the model then stands in the place of the oldest turns, with the user's own
    /// words in them. The session's log keeps all of it.
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = CompactionTrigger::parse,
        allow_hyphen_values = true,
        help_heading = "Model"
    )]
    pub(crate) compact: Option<CompactionTrigger>,
    /// A catalogue of models, with limits and prices, in place of the one that comes along.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) models: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolVocabulary {
    /// Those that its family was trained on.
    Native,
    /// Those of the coding agent loop specification, the same for all.
    Seed,
}

impl ToolVocabulary {
    /// Returns its name in the configuration.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Seed => "seed",
        }
    }
}

/// Which calls may run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApprovalLevel {
    /// Those that only read.
    None,
    /// Those that read or change files; programs and all else need a yes.
    Edits,
    /// All.
    All,
}

impl ApprovalLevel {
    /// Returns the calls that need approval at this level.
    pub(crate) const fn asks(self) -> AskAbout {
        match self {
            Self::None => AskAbout::Changes,
            Self::Edits => AskAbout::Programs,
            Self::All => AskAbout::Nothing,
        }
    }

    /// Returns the same as the configuration spells it.
    pub(crate) fn asked(self) -> String {
        to_string(&self.asks()).trim_matches('"').to_owned()
    }
}

/// Whole configurations by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetName {
    /// What people who know other coding agents expect.
    Modern,
    /// Every default of the coding agent loop specification.
    Seed001,
    /// For small local models.
    Ollama,
    /// Changes need approval, 50 rounds, only failing calls count as a loop.
    Ironclaw,
    /// Few and long retries; a limit is an error.
    Gnoma,
    /// A member of a council, which reasons without tools.
    CouncilMember,
    /// A member of a council who weighs what others say, without tools.
    CouncilDiscusser,
    /// A member of a council who reviews an answer, without tools.
    CouncilReviewer,
}

impl PresetName {
    pub(crate) const fn preset(self) -> ConfigPreset {
        match self {
            Self::Modern => ConfigPreset::Modern,
            Self::Seed001 => ConfigPreset::Seed001,
            Self::Ollama => ConfigPreset::Ollama,
            Self::Ironclaw => ConfigPreset::Ironclaw,
            Self::Gnoma => ConfigPreset::Gnoma,
            Self::CouncilMember => ConfigPreset::CouncilMember,
            Self::CouncilDiscusser => ConfigPreset::CouncilDiscusser,
            Self::CouncilReviewer => ConfigPreset::CouncilReviewer,
        }
    }
}
