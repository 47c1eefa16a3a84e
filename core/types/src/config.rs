//! What a session is opened with, and what may be changed later. Facts are data: the host collects
//! them, the core never looks.

use crate::{
    base::{id::SessionId, json::Json},
    compaction::CompactionPolicy,
    corrections::CorrectionPolicy,
    tool::{BuiltinTools, ToolSpec},
};
use alloc::{borrow::Cow, boxed::Box, string::String, vec, vec::Vec};
use core::fmt;
use innerloop_json::{Error, FromJson, JsonFault, Map, ToJson};

pub use crate::limits::{LimitAction, Limits, SpendAmount};
pub use crate::model::{
    CallIds, EndpointCompat, MaxTokensField, ModelConfig, ModelOrigin, Price, PriceTier,
    ProfileKind, ReplayReasoning, SystemRole, TextCalls, TextFamily, ThinkingFormat, ToolChoice,
    VocabularyKind, WireKind,
};

/// Everything a session needs to know from the start. The default is the specification's
/// (`docs/decisions.md#sources`); `id`, `endpoint` and `model` have no default and must be set.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SessionConfig {
    /// The session's id. A fork always gets a new one.
    pub id: SessionId,
    /// Which model, and how to talk to it.
    pub model: ModelConfig,
    /// The limits at which to stop.
    pub limits: Limits,
    /// The limits on how much of a response is read.
    pub response: ResponseLimits,
    /// The rules for trying a failed model call again.
    pub retry: RetryPolicy,
    /// Time limits of tool runs.
    pub timeouts: ToolTimeouts,
    /// Most characters of a tool's output that the model reads, by tool; the rest have limits of
    /// their own (`docs/decisions.md#output-limits`).
    pub tool_output_limits: Map<u32>,
    /// Most lines of a tool's output that the model reads, by tool; the rest have limits of their
    /// own (`docs/decisions.md#output-limits`).
    pub tool_line_limits: Map<u32>,
    /// Most of the context window that one tool's output may take, in percent, but never less
    /// than 1,000 characters. It lowers the limits above, for models with small windows.
    pub tool_output_percent: Option<u32>,
    /// Most of what is left of the context window that one tool's output may take, in percent, but
    /// never less than 1,000 characters.
    pub tool_output_share_of_rest: Option<u32>,
    /// The facts about the agent's environment that the system prompt states.
    pub facts: EnvironmentFacts,
    /// The text that the system prompt begins with, in place of the family's own words; an empty
    /// text for nothing.
    pub base_prompt: Option<String>,
    /// Instructions of the user, appended last to the system prompt
    /// (`docs/decisions.md#the-system-prompt`).
    pub instructions: Option<String>,
    /// Which of the profile's tools there are.
    pub builtin_tools: BuiltinTools,
    /// Tools of the host, on top of the profile's; equal names override.
    pub tools: Vec<ToolSpec>,
    /// Which tools' calls run beside others. Those that only read do if nothing is said, those
    /// that change something do not.
    pub exec_modes: Map<ExecMode>,
    /// The way in which tokens are estimated.
    pub estimator: TokenEstimator,
    /// The rules for making the conversation shorter.
    pub compaction: CompactionPolicy,
    /// The rules for calls that repeat themselves.
    pub loops: LoopPolicy,
    /// Which calls a person must allow first.
    pub approval: ApprovalPolicy,
    /// The points at which the host's hooks run, and the rules for them.
    pub hooks: HookPolicy,
    /// The rules about calls that must come before others.
    pub guard: GuardPolicy,
    /// Agents that an agent may start.
    pub subagents: SubagentPolicy,
    /// The rules for repairing replies that end too early.
    pub repair: RepairPolicy,
    /// The faults of replies that are corrected, and how often.
    pub corrections: CorrectionPolicy,
    /// The rules about what can be undone.
    pub undo: UndoPolicy,
    /// The form of the final answer, if it is to have one.
    pub answer: Option<AnswerConfig>,
    /// True if the model may ask the user, through the tool `ask_user`.
    pub ask_user: bool,
    /// True if the host carries out `Action::Fetch`, so that the model is shown a tool for it.
    pub web_fetch: bool,
}

/// The rules for calls that repeat themselves (`docs/decisions.md#repeating-calls`): how they are
/// detected, and what is done about them.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct LoopPolicy {
    /// True if they are looked for.
    pub detect: bool,
    /// The number of the newest calls that must follow one pattern.
    pub window: usize,
    /// The longest cycle of calls that counts as a pattern.
    pub max_period: usize,
    /// The number of rounds in a row with the same calls that is too many; 0 for never.
    pub same_args: u32,
    /// The number of rounds in a row that call the same tools, whatever the arguments, that is too
    /// many; 0 for never.
    pub same_name: u32,
    /// After how many more of such rounds the next step of the ladder follows; 0 for the same
    /// number again.
    pub again_after: u32,
    /// True if only calls that failed count.
    pub only_if_failed: bool,
    /// Tools whose calls do not count.
    pub ignore_tools: Vec<String>,
    /// True if times, UUIDs and the like in arguments count as all the same.
    pub mask_volatile: bool,
    /// The steps to take the first time, the second time and so on, until the pattern breaks; the
    /// last step applies to all further times.
    pub ladder: Vec<LoopStep>,
}

impl Default for LoopPolicy {
    fn default() -> Self {
        Self {
            detect: true,
            window: 10,
            max_period: 3,
            same_args: 0,
            same_name: 0,
            again_after: 0,
            only_if_failed: false,
            ignore_tools: Vec::new(),
            mask_volatile: false,
            ladder: vec![LoopStep::Warn],
        }
    }
}

/// The reaction to calls that repeat themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum LoopStep {
    /// The model is told.
    Warn,
    /// The model says without tools what it has found, and the run ends.
    Summarize,
    /// The user is asked whether to go on.
    AskUser,
    /// The run ends.
    Stop,
}

/// The mode in which a tool's calls run: beside others or alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ExecMode {
    /// Beside others of this mode.
    Parallel,
    /// Alone, in the order of the calls.
    Serial,
}

/// The way in which the tokens of a text are estimated, if the provider has not counted them
/// (`docs/decisions.md#token-estimates`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum TokenEstimator {
    /// A token for four characters.
    #[default]
    Chars,
    /// A token for three characters of tool output and calls, for four of what is said.
    CodeAndProse,
    /// 1.3 tokens for a word, and 4 for a message.
    Words,
    /// A token for four bytes.
    Bytes,
}

/// Which calls a person must allow before they run (`Ask` effects).
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ApprovalPolicy {
    /// Which calls are asked about.
    pub ask: AskAbout,
    /// Calls that are never asked about.
    pub allow: Vec<ApprovalRule>,
}

/// Which calls need no approval: those of a tool, or only some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ApprovalRule {
    /// The tool's name.
    pub tool: String,
    /// The texts with which its arguments must begin, by the argument's name; none for every call.
    #[json(default)]
    pub starting: Map<String>,
}

impl ApprovalRule {
    /// Every call of a tool.
    #[must_use]
    pub fn tool(name: impl Into<String>) -> Self {
        Self { tool: name.into(), starting: Map::new() }
    }
}

/// Which calls are asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum AskAbout {
    /// None.
    #[default]
    Nothing,
    /// Those that run a program or are the host's own, unless they only read. Changes of files
    /// in the workspace pass.
    Programs,
    /// Those that may change something.
    Changes,
    /// All that the host would run.
    Everything,
}

/// The points at which the host's hooks run, and the rules for them.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct HookPolicy {
    /// The points at which the host wants to be asked.
    pub points: Vec<HookPoint>,
    /// True if a hook that breaks counts as a denial; otherwise the run goes on.
    pub fail_closed: bool,
    /// The number of times for one input that the hook before the end may send the model back to
    /// work; a further denial ends the run as it stands.
    pub max_denials: u32,
}

impl Default for HookPolicy {
    fn default() -> Self {
        Self { points: Vec::new(), fail_closed: false, max_denials: 3 }
    }
}

/// The point in the loop at which a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum HookPoint {
    /// The user has said something. Replaceable by another text.
    Submit,
    /// Before a model call. A replacement is a text that is said to the model as the system.
    BeforeModel,
    /// Before a tool runs. Replaceable by other arguments, which are checked again.
    BeforeTool,
    /// After a tool has run. Replaceable by another text for the model.
    AfterTool,
    /// Before the run ends. A denial's reason is said to the model, and the run goes on, so often
    /// as `max_denials` allows.
    BeforeStop,
    /// Before what the session's own agent has come to goes out, as a run ends that was neither
    /// interrupted nor denied and has not failed. Replaceable by another result, which leaves the
    /// history as it is; a denial withholds the result.
    Outbound,
    /// Before the oldest turns are archived or summed up. Replaceable by a text that stands in
    /// their place; a denial leaves the conversation as it is.
    Compact,
}

/// The rules about calls that must come before others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct GuardPolicy {
    /// True if a file that is there must have been read, or written, before it is changed.
    pub read_before_write: bool,
}

/// Agents that an agent may start (`docs/decisions.md#subagents`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SubagentPolicy {
    /// The maximum depth to which agents may be nested; 0 offers none.
    pub max_depth: u32,
    /// The maximum number of agents that may be open at once, at all depths together.
    pub max_open: u32,
}

impl Default for SubagentPolicy {
    fn default() -> Self {
        Self { max_depth: 1, max_open: 16 }
    }
}

/// The rules for repairing replies that end too early (`docs/decisions.md#replies-cut-by-a-limit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct RepairPolicy {
    /// The number of times in a run that a text cut by the output limit is continued.
    pub continue_on_length: u32,
    /// True if a reply that the output limit has cut in a call is asked for again with twice the
    /// limit, which then holds until the next input.
    pub grow_output: bool,
    /// The number of times in a run that a reply without text and calls is asked for again.
    pub retry_on_empty: u32,
    /// True if arguments of the wrong type that plainly mean a right one are bent to it.
    pub coerce_arguments: bool,
}

impl Default for RepairPolicy {
    fn default() -> Self {
        Self {
            continue_on_length: 1,
            grow_output: false,
            retry_on_empty: 1,
            coerce_arguments: false,
        }
    }
}

/// The rules about what can be undone (`docs/decisions.md#the-view`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct UndoPolicy {
    /// The maximum number of steps in a row that can be undone; 0 for all.
    pub max_steps: u32,
}

/// The form of the final answer: the model gives it through the tool `final_answer`.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct AnswerConfig {
    /// A JSON Schema whose root is an object.
    #[json(like = "innerloop_json::JsonObject")]
    pub schema: Json,
    /// The number of times that a run that ends with text is asked for the answer again.
    #[json(default = "two")]
    pub retries: u32,
}

const fn two() -> u32 {
    2
}

/// A configuration that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct ConfigError {
    /// The field, as a path in the configuration, for example `tools[2].name`.
    pub field: Cow<'static, str>,
    /// Of a tool's field, the tool's name.
    #[json(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The text that says what is wrong with it and what would be right.
    pub message: String,
    /// The kind of fault if the JSON does not fit, for a host that words it itself.
    #[json(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<JsonFault>>,
}

impl ConfigError {
    /// Says what is wrong with a field and what would be right.
    pub fn new(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { field: field.into(), tool: None, message: message.into(), fault: None }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, tool, message, .. } = self;
        match tool {
            Some(tool) => write!(f, "{field}: {tool}: {message}"),
            None => write!(f, "{field}: {message}"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// The error of a configuration whose JSON does not fit.
impl From<Error> for ConfigError {
    fn from(error: Error) -> Self {
        let (field, message) = (error.path(), error.message());
        Self { fault: Some(Box::new(error.into_fault())), ..Self::new(field, message) }
    }
}

/// The limits on how much of one response of a model is read. No real response comes near them; one
/// that goes beyond ends the run as failed, and what was said until then is kept
/// (`docs/decisions.md#endless-responses`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ResponseLimits {
    /// Bytes of its body.
    pub max_bytes: u64,
    /// Bytes that are held of it: what it says, and an event until it is whole.
    pub max_kept_bytes: u64,
    /// Pieces of which its reply is made: texts, thoughts, calls, and the fields that come one by
    /// one.
    pub max_items: u32,
    /// Calls of tools, also those in its text.
    pub max_calls: u32,
}

impl Default for ResponseLimits {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, max_kept_bytes: 32 << 20, max_items: 10_000, max_calls: 1_000 }
    }
}

/// The rules for trying a failed model call again. The delay is `base_ms` doubled per try, at most
/// `max_ms`, less up to `jitter_percent` of it; a delay that the provider asks for takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// The maximum number of times that one model call is tried again; 0 switches retries off.
    pub max_retries: u32,
    /// The first delay, in milliseconds.
    pub base_ms: u64,
    /// The longest delay of our own, in milliseconds.
    pub max_ms: u64,
    /// The part of a delay of our own that may be left out, in percent, so that sessions do not
    /// come back all at once; 0 for exact delays.
    pub jitter_percent: u32,
    /// The longest delay that a provider may ask for; a longer one ends the run.
    pub max_retry_after_ms: u64,
    /// After how long without a byte a model call counts as broken, in milliseconds.
    pub idle_ms: u64,
    /// True if a call that breaks after text or a part of a tool call has come is tried again. No
    /// tool has started then, and what was shown is taken back.
    pub mid_stream: bool,
    /// True if a call that can never succeed closes the session, such as one whose key or model is
    /// refused. If not, its run fails, and the session goes on once that is fixed.
    pub refusal_closes: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 4,
            base_ms: 500,
            max_ms: 8_000,
            jitter_percent: 25,
            max_retry_after_ms: 120_000,
            idle_ms: 300_000,
            mid_stream: true,
            refusal_closes: true,
        }
    }
}

/// Time limits of tool runs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ToolTimeouts {
    /// For a run whose call names none. Where it is the default, a profile may have another.
    pub default_command_ms: u64,
    /// No run gets more.
    pub max_command_ms: u64,
    /// The time that a cancelled effect may take to answer before it counts as lost.
    pub grace_ms: u64,
}

impl ToolTimeouts {
    /// Returns whether another time is configured than where nothing is said.
    pub fn has_default(&self) -> bool {
        self.default_command_ms != Self::default().default_command_ms
    }
}

impl Default for ToolTimeouts {
    fn default() -> Self {
        Self { default_command_ms: 10_000, max_command_ms: 600_000, grace_ms: 5_000 }
    }
}

/// The facts about the agent's environment that the system prompt states. Those that are empty or
/// absent are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct EnvironmentFacts {
    /// The workspace, as the tools see it.
    pub working_directory: String,
    /// `linux`, `darwin`, `windows`, `wasm`.
    pub platform: String,
    /// The system's version.
    pub os_version: String,
    /// Today as `YYYY-MM-DD`.
    pub date: String,
    /// The state of version control, if the workspace is under it.
    pub git: Option<GitFacts>,
    /// The model's knowledge cutoff.
    pub knowledge_cutoff: String,
    /// Programs that `run_program` can run. Without any, the tool is not offered.
    pub programs: Vec<ProgramFacts>,
    /// Instruction files of the project, root first.
    pub project_docs: Vec<ProjectDoc>,
    /// Those of folders below the workspace, in any order. An agent reads the ones that stand on
    /// the way to its folder and in it.
    pub nested_docs: Vec<ProjectDoc>,
}

/// The state of version control when the session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct GitFacts {
    /// The current branch.
    pub branch: String,
    /// The number of modified files, if the host knows it.
    pub modified: Option<u32>,
    /// The number of untracked files, if the host knows it.
    pub untracked: Option<u32>,
    /// Subjects of the newest commits, newest first.
    pub recent_commits: Vec<String>,
}

/// A program of the host's registry.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ProgramFacts {
    /// Its name.
    pub name: String,
    /// A sentence that says what it is and how it is called.
    pub description: String,
}

/// The maximum number of instruction files of nested folders that a host hands over.
pub const MAX_NESTED_DOCS: usize = 32;

/// An instruction file of the project.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ProjectDoc {
    /// Its path as seen from the workspace.
    pub path: String,
    /// Its text.
    pub text: String,
}
