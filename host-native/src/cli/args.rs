//! The command line.

use super::exit::TABLE;
use crate::sandbox::Isolation;
use clap::{Args, Parser, Subcommand, ValueEnum, builder::RangedI64ValueParser};
use innerloop_core::{config::WireKind, preset::Preset, text_calls::Family};
use std::path::PathBuf;

/// A coding agent whose tools run in a WebAssembly sandbox.
#[derive(Debug, Parser)]
#[command(name = "innerloop", version, after_help = TABLE, arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Let the agent work on a folder.
    Run(Box<RunArgs>),
    /// Run one tool in the sandbox and print its result.
    Tool(ToolArgs),
    /// Install, list and run programs for the sandbox.
    Tools(ToolsArgs),
    /// Read a recorded model response from standard input and print it as normalised JSON.
    Decode(DecodeArgs),
    /// Check that this installation works.
    Doctor(DoctorArgs),
}

#[derive(Debug, Args)]
#[command(after_help = TABLE)]
pub(super) struct RunArgs {
    /// What to do; `-` reads it from standard input.
    pub(super) prompt: String,
    /// A picture, a PDF or a text that goes with the prompt, or the address of a picture; give one
    /// for each.
    #[arg(long, value_name = "FILE|URL")]
    pub(super) attach: Vec<String>,
    /// The folder to work on.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(super) workspace: PathBuf,
    /// Take any folder, also a home folder or one of the system.
    #[arg(long)]
    pub(super) any_folder: bool,
    /// Write the changes to the folder when the run is over, without a question.
    ///
    /// The agent works on an overlay of the folder, which stays as it is meanwhile. At the end the
    /// changes are shown, and on a terminal you are asked whether to apply them. Where nobody can
    /// be asked, one of --apply, --diff and --in-place is needed.
    ///
    /// With --apply what was done is also applied if the run failed or was interrupted, except when
    /// a second signal stops it at once. What is neither applied nor refused is kept, and the last
    /// line says where.
    #[arg(long, conflicts_with_all = ["diff", "in_place"])]
    pub(super) apply: bool,
    /// Show what the agent would change, and leave the folder as it is.
    #[arg(long, conflicts_with = "in_place")]
    pub(super) diff: bool,
    /// Let the agent change the folder itself, while it works.
    #[arg(long)]
    pub(super) in_place: bool,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) tuning: TuningArgs,
    #[command(flatten)]
    pub(super) files: FileArgs,
    #[command(flatten)]
    pub(super) guests: GuestArgs,
    #[command(flatten)]
    pub(super) environment: EnvironmentArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Where commands run.
#[derive(Debug, Args)]
pub(super) struct EnvironmentArgs {
    /// Where commands run. `local` is this machine, as you, by your own shell and programs.
    ///
    /// They change the folder itself, so that it means --in-place, which must be said off a
    /// terminal, and what they change is not shown at the end. File tools work as without it. What
    /// runs needs a yes, or --approve all.
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = Where::Sandbox)]
    pub(super) env: Where,
    /// Whether commands of --env local run inside of bubblewrap [default: auto].
    ///
    /// There they can change the folder, but not its .git and .innerloop; they can read programs,
    /// libraries and what package managers have fetched, and see nothing else of your files.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(super) bubblewrap: Option<Bubblewrap>,
    /// Which variables commands of --env local inherit [default: filtered].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(super) env_policy: Option<Inherited>,
    /// A variable that is set for commands of --env local; give one for each.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set_env: Vec<String>,
    /// Let commands of --env local reach the network from inside of bubblewrap.
    #[arg(long)]
    pub(super) allow_network: bool,
}

/// Where commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Where {
    /// In the sandbox, as WASI programs.
    Sandbox,
    /// On this machine.
    Local,
}

/// Whether commands run inside of bubblewrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Bubblewrap {
    /// Where it is installed and works.
    Auto,
    /// Always; where it does not work, the program ends.
    Always,
    /// Never.
    Never,
}

/// Which variables commands inherit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Inherited {
    /// All but *_API_KEY, *_SECRET, *_TOKEN, *_PASSWORD and *_CREDENTIAL.
    Filtered,
    /// All.
    All,
    /// PATH, HOME, USER, SHELL, LANG, TERM, TMPDIR, GOPATH, `CARGO_HOME` and `NVM_DIR`.
    Core,
    /// None.
    None,
}

/// What else may be run in the sandbox.
#[derive(Debug, Args)]
pub(super) struct GuestArgs {
    /// A folder of WASI programs (`NAME.wasm`) that the agent may run.
    #[arg(long, value_name = "DIR")]
    pub(super) programs: Option<PathBuf>,
    /// A tool of your own, by its folder; give one for each tool.
    ///
    /// The folder holds a WASI program, which reads the call's arguments as JSON from standard
    /// input and prints the result, and `tool.toml`: name, description and module (the program's
    /// file), and if need be parameters (the arguments' JSON Schema, as TOML), `read_only`, args,
    /// and limits with `timeout_ms`, `memory_mib`, `output_mib`, `disk_mib`. A built-in tool of the
    /// same name is replaced.
    #[arg(long = "tool", value_name = "DIR")]
    pub(super) tools: Vec<PathBuf>,
    /// Where files are read and searched. What writes or executes always runs in the sandbox.
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = Reading::Native)]
    pub(super) isolation: Reading,
}

/// Which pages of the web may be read.
#[derive(Debug, Args)]
pub(super) struct WebArgs {
    /// Let the agent read pages of this domain and of those below it; give one for each.
    ///
    /// Without it there is no network but for the model. Pages are asked for with GET, without
    /// cookies or keys, and told to the model as text. What the agent writes into an address, the
    /// domain's owner can read.
    ///
    /// The usual ports of HTTP and HTTPS are allowed, or the one that is named:
    /// `example.com:8443`. This machine and private networks are not reached, wherever a name
    /// leads, unless you name the machine itself: `localhost:3000`, `10.0.0.7:8080`.
    #[arg(long = "allow-domain", value_name = "DOMAIN")]
    pub(super) domains: Vec<String>,
}

/// Where files are read and searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Reading {
    /// In this program, at full speed; nothing outside of the folder can be reached.
    Native,
    /// In the sandbox as well.
    Wasi,
}

impl Reading {
    pub(super) const fn isolation(self) -> Isolation {
        match self {
            Self::Native => Isolation::Native,
            Self::Wasi => Isolation::Wasi,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ModelArgs {
    /// The model's provider [default: anthropic, or the one whose key is set].
    ///
    /// Known: anthropic, openai, gemini, openrouter, deepseek, mistral, xai, groq, together,
    /// fireworks, azure, openai-chat, gemini-openai, anthropic-openai, ollama, ollama-v1,
    /// llamacpp, lmstudio, vllm.
    #[arg(long, value_name = "NAME")]
    pub(super) provider: Option<String>,
    /// The model's name [default: the provider's, where it has one].
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Where the provider is reached [default: its variable, such as `ANTHROPIC_BASE_URL`, else
    /// its own].
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct TuningArgs {
    /// Which calls may run without a question.
    ///
    /// On a terminal you are asked about the others; elsewhere they do not run, and the model reads
    /// why. If nothing is said, `none` with --in-place on a terminal, `edits` with --env local
    /// elsewhere, and `all` otherwise.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(super) approve: Option<Approve>,
    #[command(flatten)]
    pub(super) web: WebArgs,
    /// A file with changes of the configuration, `-` for standard input.
    ///
    /// A JSON Merge Patch (RFC 7396) of the session's configuration, for example
    /// {"retry": {"max_retries": 9}}. Options come before it, and it comes before the preset.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The configuration to begin with.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Presets::Modern)]
    pub(super) preset: Presets,
    /// Most user and assistant turns; 0 for no limit.
    #[arg(long, value_name = "N")]
    pub(super) max_turns: Option<u32>,
    /// Most rounds of tool calls; 0 for no limit [default: the preset's, else 200].
    #[arg(long, value_name = "N")]
    pub(super) max_tool_rounds: Option<u32>,
    /// Under which names the model is shown its tools [default: the preset's].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(super) vocabulary: Option<Words>,
    /// Which of its own tools the model is shown: `all`, `read-only`, `none`, or their names with
    /// commas between.
    #[arg(long = "tools", value_name = "WHICH")]
    pub(super) builtin_tools: Option<String>,
    /// Tools that the model is not shown, their names with commas between.
    #[arg(long, value_name = "NAMES", conflicts_with = "builtin_tools")]
    pub(super) without_tools: Option<String>,
    /// A text with which the system prompt begins, in place of the program's own.
    #[arg(long, value_name = "FILE")]
    pub(super) base_prompt: Option<PathBuf>,
    /// `low`, `medium`, `high`, or what else the model knows [default: the provider's own].
    #[arg(long, value_name = "EFFORT")]
    pub(super) effort: Option<String>,
    /// Features in beta that Anthropic is asked for, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) betas: Vec<String>,
    /// A JSON object of fields that go into each request as the provider's protocol has them,
    /// such as `{"safetySettings": […]}`.
    #[arg(long, value_name = "JSON")]
    pub(super) provider_options: Option<String>,
    /// Most tokens of one reply [default: what the model can, up to 32,000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_output_tokens: Option<u32>,
    /// Most tokens of a whole call [default: what the model can].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) context_window: Option<u32>,
    /// A catalogue of models, with limits and prices, in place of the one that comes along.
    #[arg(long, value_name = "FILE")]
    pub(super) models: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Words {
    /// Those that its family was trained on.
    Native,
    /// Those of the coding agent loop specification, the same for all.
    Seed,
}

impl Words {
    /// The name in the configuration.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Seed => "seed",
        }
    }
}

/// Which calls may run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Approve {
    /// Those that only read.
    None,
    /// Those that read or change files; programs and all else need a yes.
    Edits,
    /// All.
    All,
}

/// Whole configurations by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Presets {
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
}

impl Presets {
    pub(super) const fn preset(self) -> Preset {
        match self {
            Self::Modern => Preset::Modern,
            Self::Seed001 => Preset::Seed001,
            Self::Ollama => Preset::Ollama,
            Self::Ironclaw => Preset::Ironclaw,
            Self::Gnoma => Preset::Gnoma,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct FileArgs {
    /// Record the model's responses to a new file.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(super) record: Option<PathBuf>,
    /// Take the model's responses from a recording; needs neither key nor network.
    #[arg(long, value_name = "FILE")]
    pub(super) replay: Option<PathBuf>,
    /// Write the session's log to a new file.
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct OutputArgs {
    /// Print events as JSON lines; the last line is always the result.
    #[arg(long, conflicts_with = "quiet")]
    pub(super) json: bool,
    /// Print the final message only; with --diff, the diff only.
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// When to use colour; `NO_COLOR` is respected.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub(super) color: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub(super) struct ToolArgs {
    /// The tool, as the model knows it (`read_file`), as an action (`read`), or one of your own.
    pub(super) name: String,
    /// Its arguments, as JSON; `-` reads them from standard input.
    #[arg(value_name = "JSON")]
    pub(super) arguments: String,
    /// The folder to work on.
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(super) workspace: PathBuf,
    /// Take any folder, also a home folder or one of the system.
    #[arg(long)]
    pub(super) any_folder: bool,
    #[command(flatten)]
    pub(super) guests: GuestArgs,
    #[command(flatten)]
    pub(super) web: WebArgs,
    #[command(flatten)]
    pub(super) environment: EnvironmentArgs,
}

#[derive(Debug, Args)]
pub(super) struct DecodeArgs {
    /// The protocol of the response; with --jsonl, of lines that name none.
    #[arg(long, value_enum, required_unless_present_any = ["jsonl", "text_calls"])]
    pub(super) wire: Option<Wire>,
    /// The response's status code; with --jsonl, of lines that name none.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = status())]
    pub(super) status: u16,
    /// Feed the body in pieces of N bytes instead of whole.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) chunk: Option<u64>,
    /// Read one interaction per line: {id, wire, status, headers, body or `body_base64`}.
    ///
    /// Each line gets its answer, also one that cannot be read.
    #[arg(long)]
    pub(super) jsonl: bool,
    /// Read calls and thinking from a model's text instead, one {id, body, tools?} per line.
    ///
    /// FAMILY is the text's format: auto, hermes, `qwen3_coder_xml`, `llama_json`, mistral,
    /// deepseek, pythonic, harmony, glm, kimi, gemma, step3, minimax, cohere, hunyuan,
    /// `fenced_json` or json.
    #[arg(
        long,
        value_name = "FAMILY",
        requires = "jsonl",
        conflicts_with_all = ["wire", "status", "chunk"]
    )]
    pub(super) text_calls: Option<Family>,
}

fn status() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(100..600)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum Wire {
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions and its dialects.
    OpenaiChat,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl Wire {
    pub(super) const fn kind(self) -> WireKind {
        match self {
            Self::OpenaiResponses => WireKind::OpenaiResponses,
            Self::OpenaiChat => WireKind::OpenaiChat,
            Self::Anthropic => WireKind::Anthropic,
            Self::Gemini => WireKind::Gemini,
            Self::Ollama => WireKind::Ollama,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ToolsArgs {
    #[command(subcommand)]
    pub(super) command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ToolsCommand {
    /// List the programs that are known, and which of them are there.
    List,
    /// Fetch a program, check it against its SHA-256, and compile it once.
    Install {
        /// Its name, or a command of it.
        name: String,
        /// The archive that holds it, or a WASI program of your own, in place of a download.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// Remove a program that was installed.
    Remove {
        /// Its name.
        name: String,
    },
    /// Check that all programs are what their names stand for.
    Verify,
    /// Run a program in the sandbox, as the agent would.
    ///
    /// It works on the folder itself and sees nothing else. Standard input is read to its end
    /// before it starts, and what it prints is shown when it has ended, both as text; its exit
    /// code is that of this command.
    Run(ToolsRunArgs),
}

#[derive(Debug, Args)]
pub(super) struct ToolsRunArgs {
    /// The folder that it sees as `/`.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(super) workspace: PathBuf,
    /// Take any folder, also a home folder or one of the system.
    #[arg(long)]
    pub(super) any_folder: bool,
    /// A folder of WASI programs (`NAME.wasm`) in place of those that are installed.
    #[arg(long, value_name = "DIR")]
    pub(super) programs: Option<PathBuf>,
    /// The command.
    pub(super) program: String,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) args: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// The folder of WASI programs to look at.
    #[arg(long, value_name = "DIR")]
    pub(super) programs: Option<PathBuf>,
    /// Also connect to the model's provider.
    #[arg(long)]
    pub(super) online: bool,
    #[command(flatten)]
    pub(super) model: ModelArgs,
}
