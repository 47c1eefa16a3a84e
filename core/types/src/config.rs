//! The configuration that a session is opened with, and that may be changed later. Defaults are the
//! specification's. It includes facts about the environment as data: the host collects them, the
//! core never looks.

use crate::{
    base::{id::SessionId, json::Json},
    compaction::CompactionPolicy,
    corrections::CorrectionPolicy,
    routing::RoutingPolicy,
    tool::{BuiltinTools, ResultPolicy, ToolSpec, ToolsShown},
};
use alloc::{borrow::Cow, boxed::Box, string::String, vec, vec::Vec};
use core::fmt;
use innerloop_json::{Error, FromJson, JsonFault, Map, ToJson};

pub use crate::facts::{EnvironmentFacts, GitFacts, MAX_NESTED_DOCS, ProgramFacts, ProjectDoc};
pub use crate::limits::{LimitAction, Limits, SpendAmount};
pub use crate::model::{
    CallIds, EndpointCompat, MaxTokensField, ModelConfig, ModelOrigin, Price, PriceTier,
    ProfileKind, ReplayReasoning, SystemRole, TextCalls, TextFamily, ThinkingFormat, ToolChoice,
    VocabularyKind, WireKind,
};
pub use crate::skills::{AudienceKind, SkillFacts, SkillUse};
pub use crate::subagents::{NamedAgent, SubagentPolicy};

/// Everything that a session needs to know from the start. The default is the specification's
/// (`docs/decisions.md#sources`); `id`, `endpoint` and `model` have no default and must be set.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct SessionConfig {
    /// The session's id. A fork always gets a new one.
    // Together with an effect's id it is the key that makes a request idempotent. A fork under the
    // same id would repeat its origin's keys.
    pub id: SessionId,
    /// The model and its endpoint.
    pub model: ModelConfig,
    /// The prices of further models that the session may use, by name: for summaries, and for
    /// agents that it starts. A cost limit needs them.
    pub prices: Map<Price>,
    /// The limits at which to stop.
    pub limits: Limits,
    /// The limits on the size of a response.
    pub response: ResponseLimits,
    /// The rules for retrying a failed model call.
    pub retry: RetryPolicy,
    /// Time limits of tool runs.
    pub timeouts: ToolTimeouts,
    /// The maximum number of characters that the model reads of a tool's output, by tool; other
    /// tools have default limits (`docs/decisions.md#output-limits`).
    pub tool_output_limits: Map<u32>,
    /// The maximum number of lines that the model reads of a tool's output, by tool; other tools
    /// have default limits (`docs/decisions.md#output-limits`).
    pub tool_line_limits: Map<u32>,
    /// The maximum part of the context window for one tool's output, in percent, but never less
    /// than 1,000 characters. It lowers the limits above, for models with small windows.
    pub tool_output_percent: Option<u32>,
    /// The maximum part of the unused context window for one tool's output, in percent, but never
    /// less than 1,000 characters.
    pub tool_output_share_of_rest: Option<u32>,
    /// The facts about the agent's environment that the system prompt states.
    pub facts: EnvironmentFacts,
    /// The text that begins the system prompt, in place of the family's base instructions; an empty
    /// text for nothing.
    pub base_prompt: Option<String>,
    /// Instructions of the user, appended last to the system prompt
    /// (`docs/decisions.md#the-system-prompt`).
    pub instructions: Option<String>,
    /// The choice of the profile's tools.
    pub builtin_tools: BuiltinTools,
    /// Tools of the host, in addition to the profile's; one of the same name replaces it.
    pub tools: Vec<ToolSpec>,
    /// The tools that a request shows.
    pub tools_shown: ToolsShown,
    /// The rules for outputs that are kept whole; none are kept if absent.
    pub results: Option<ResultPolicy>,
    /// The modes in which tools' calls run, by tool. By default, calls that only read run beside
    /// others, and calls that change something run alone.
    // Results go back in call order whatever runs beside what: providers that match results by
    // position would mix them up.
    pub exec_modes: Map<ExecMode>,
    /// The way in which tokens are estimated.
    pub estimator: TokenEstimator,
    /// The rules for shortening the conversation.
    pub compaction: CompactionPolicy,
    /// The rules for calls that repeat themselves.
    pub loops: LoopPolicy,
    /// The calls that a person must approve first.
    pub approval: ApprovalPolicy,
    /// The points at which the host's hooks run, and the rules for them.
    pub hooks: HookPolicy,
    /// The rules about reading files before they are changed.
    pub guard: GuardPolicy,
    /// The limits on agents that an agent may start.
    pub subagents: SubagentPolicy,
    /// The agents that can be started by name, by that name
    /// (`docs/decisions.md#named-agents`).
    pub agents: Map<NamedAgent>,
    /// The use that is made of the skills in `facts`.
    pub skills: SkillUse,
    /// The rules for repairing replies that end too early.
    pub repair: RepairPolicy,
    /// The faults of replies that are corrected, and how often.
    pub corrections: CorrectionPolicy,
    /// The models besides `model`, and when they are used.
    pub routing: RoutingPolicy,
    /// The limit on steps that can be undone.
    pub undo: UndoPolicy,
    /// The form of the final answer, if one is required.
    pub answer: Option<AnswerConfig>,
    /// True if the model may ask the user, through the tool `ask_user`.
    pub ask_user: bool,
    /// True if the host carries out `Action::Fetch`, so that the model has a tool for it.
    pub web_fetch: bool,
}

/// The rules for calls that repeat themselves (`docs/decisions.md#repeating-calls`): their
/// detection, and the reactions.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct LoopPolicy {
    /// True if repeating calls are detected.
    pub detect: bool,
    /// The number of the newest calls that must follow one pattern.
    pub window: usize,
    /// The longest cycle of calls that counts as a pattern.
    pub max_period: usize,
    /// The number of rounds in a row with the same calls at which a step is taken; 0 for never.
    pub same_args: u32,
    /// The number of rounds in a row that call the same tools, whatever the arguments, at which a
    /// step is taken; 0 for never.
    pub same_name: u32,
    /// The number of further such rounds after which the next step of the ladder follows; 0 for the
    /// same number again.
    pub again_after: u32,
    /// True if only calls that failed count.
    pub only_if_failed: bool,
    /// Tools whose calls do not count.
    pub ignore_tools: Vec<String>,
    /// True if times, UUIDs and hashes in arguments and results are ignored in comparisons.
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
            // The last step repeats, so that the default warns and never stops a run: people
            // complain more about hard stops than about loops.
            ladder: vec![LoopStep::Warn],
        }
    }
}

/// The reaction to calls that repeat themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum LoopStep {
    /// The model gets a warning.
    Warn,
    /// The model summarises its findings without tools, and the run ends.
    Summarize,
    /// The user is asked whether to go on.
    AskUser,
    /// The run ends at once.
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
    /// A token for three characters of tool output and calls, and for four of other text.
    CodeAndProse,
    /// 1.3 tokens for a word, and 4 for a message.
    Words,
    /// A token for four bytes.
    Bytes,
}

/// The calls that a person must approve before they run (`Ask` effects).
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ApprovalPolicy {
    /// The kinds of calls that are asked about.
    pub ask: AskAbout,
    /// Calls that are never asked about.
    pub allow: Vec<ApprovalRule>,
}

/// A rule for calls that need no approval: all calls of a tool, or only some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct ApprovalRule {
    /// The name of the tool.
    pub tool: String,
    /// The texts with which its arguments must begin, by the argument's name; empty for every call.
    #[json(default)]
    pub starting: Map<String>,
}

impl ApprovalRule {
    /// Creates a rule for every call of a tool.
    #[must_use]
    pub fn tool(name: impl Into<String>) -> Self {
        Self { tool: name.into(), starting: Map::new() }
    }
}

/// The kinds of calls that are asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum AskAbout {
    /// Nobody is asked about any call.
    #[default]
    Nothing,
    /// Calls that run a program or belong to the host's own tools, unless they only read. Changes
    /// of files in the workspace need no approval.
    Programs,
    /// Calls that may change something.
    Changes,
    /// All calls that the host would run.
    Everything,
}

/// The points at which the host's hooks run, and the rules for them.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct HookPolicy {
    /// The points at which the host's hooks run.
    pub points: Vec<HookPoint>,
    /// True if a failing hook counts as a denial; otherwise the run goes on.
    pub fail_closed: bool,
    /// The number of times for one input that the hook before the end may send the model back to
    /// work; a further denial ends the run as unverified.
    pub max_denials: u32,
    /// The rules for the hook after a tool.
    pub after_tool: AfterToolPolicy,
}

impl Default for HookPolicy {
    fn default() -> Self {
        let after_tool = AfterToolPolicy::default();
        Self { points: Vec::new(), fail_closed: false, max_denials: 3, after_tool }
    }
}

/// The rules for the hook after a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct AfterToolPolicy {
    /// The result that the model reads if the hook denies.
    pub denial: DeniedResult,
}

/// The result of a call that a hook has denied after it has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum DeniedResult {
    /// The model reads the reason instead of the output.
    #[default]
    Withhold,
    /// The model reads the output, as if the hook had allowed it.
    Keep,
}

/// The point in the loop at which a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum HookPoint {
    /// When the user submits an input. Replaceable by another text.
    Submit,
    /// Before a model call. A replacement is a text that the model reads as a system message.
    BeforeModel,
    /// Before a tool runs. Replaceable by other arguments, which are checked again.
    BeforeTool,
    /// After a tool has run. Replaceable by another text for the model.
    AfterTool,
    /// After a round of calls, before the model reads the results. A replacement is a text that it
    /// reads after them, as a steering message; a denial ends the run.
    AfterIteration,
    /// Before the run ends. The model reads the reason of a denial, and the run goes on, as often
    /// as `max_denials` allows.
    BeforeStop,
    /// Before the result of the session's own agent is reported, at the end of a run that was not
    /// interrupted, denied or failed. Replaceable by another result, which does not change the
    /// history; a denial withholds the result.
    Outbound,
    /// Before the oldest turns are archived or summarised. Replaceable by a text that stands in
    /// their place; a denial leaves the conversation unchanged.
    Compact,
}

/// The rules about reading files before they are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct GuardPolicy {
    /// True if an existing file must have been read, or written, in this session before it is
    /// changed.
    pub read_before_write: bool,
}

/// The rules for repairing replies that end too early (`docs/decisions.md#replies-cut-by-a-limit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct RepairPolicy {
    /// The number of times in a run that a text cut by the output limit is continued.
    pub continue_on_length: u32,
    /// True if a reply that the output limit has cut within a call is requested again with twice
    /// the limit, which then holds until the next input.
    pub grow_output: bool,
    /// The number of times in a run that a reply without text and calls is requested again.
    pub retry_on_empty: u32,
    /// True if arguments of the wrong type are converted if their meaning is clear.
    pub coerce_arguments: bool,
}

impl Default for RepairPolicy {
    fn default() -> Self {
        Self {
            // Once each: a model whose every reply is cut or empty would go on without end, and
            // each try costs.
            continue_on_length: 1,
            grow_output: false,
            retry_on_empty: 1,
            coerce_arguments: false,
        }
    }
}

/// The limit on steps that can be undone (`docs/decisions.md#the-view`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct UndoPolicy {
    /// The maximum number of steps that can be undone in a row; 0 for all.
    pub max_steps: u32,
}

/// The form of the final answer: the model gives it through the tool `final_answer`.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct AnswerConfig {
    /// A JSON Schema whose root is an object.
    #[json(like = "innerloop_json::JsonObject")]
    pub schema: Json,
    /// The number of times that the answer is requested again if a run ends with text.
    #[json(default = "two")]
    pub retries: u32,
}

const fn two() -> u32 {
    2
}

/// The reason why a configuration cannot work.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct ConfigError {
    /// The field, as a path in the configuration, for example `tools[2].name`.
    pub field: Cow<'static, str>,
    /// The tool's name, if the field is a tool's.
    #[json(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The text that describes the fault and the correct form.
    pub message: String,
    /// The kind of fault if the JSON is invalid, for hosts that word errors themselves.
    #[json(skip_serializing_if = "Option::is_none")]
    // Hosts show options under names of their own, and should not have to read them back from a
    // sentence.
    pub fault: Option<Box<JsonFault>>,
}

impl ConfigError {
    /// Creates an error that describes a field's fault and its correct form.
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

/// Creates the error of a configuration whose JSON is invalid.
impl From<Error> for ConfigError {
    fn from(error: Error) -> Self {
        let (field, message) = (error.path(), error.message());
        Self { fault: Some(Box::new(error.into_fault())), ..Self::new(field, message) }
    }
}

/// The limits on how much of one response of a model is read. A response that exceeds one ends the
/// run as failed, and the model's text so far is kept (`docs/decisions.md#endless-responses`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ResponseLimits {
    /// Bytes of its body.
    pub max_bytes: u64,
    /// Bytes of it held in memory: its content, and an event until it is complete.
    pub max_kept_bytes: u64,
    /// Parts of its reply: texts, thinking, calls, fields that arrive one by one, and every twenty
    /// names and values in the arguments of a call.
    pub max_items: u32,
    /// Calls of tools, including those in its text.
    pub max_calls: u32,
}

impl Default for ResponseLimits {
    fn default() -> Self {
        // No real response comes near these. They bound what a server that never stops sending can
        // make a session hold and do.
        Self { max_bytes: 256 << 20, max_kept_bytes: 32 << 20, max_items: 10_000, max_calls: 1_000 }
    }
}

/// The rules for retrying a failed model call. The delay is `base_ms`, doubled for each retry, at
/// most `max_ms`, less up to `jitter_percent` of it; a delay that the provider asks for overrides
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// The maximum number of retries of one model call; 0 switches retries off.
    pub max_retries: u32,
    /// The first delay, in milliseconds.
    pub base_ms: u64,
    /// The longest delay of our own, in milliseconds.
    pub max_ms: u64,
    /// The part of a delay of our own that may be left out, in percent, so that many sessions do
    /// not retry at once; 0 for exact delays.
    pub jitter_percent: u32,
    /// The longest delay that a provider may ask for; a longer one ends the run.
    pub max_retry_after_ms: u64,
    /// The time without a byte after which a model call counts as broken, in milliseconds.
    pub idle_ms: u64,
    /// True if a call that breaks after text or a part of a tool call has arrived is retried. No
    /// tool has started then, and `text_reset` voids the shown text.
    pub mid_stream: bool,
    /// True if a call that can never succeed, such as one whose key or model is refused, closes the
    /// session. Otherwise its run fails, and the session can go on once the cause is fixed.
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
            // Models think for minutes without a word, so that less would break good calls.
            idle_ms: 300_000,
            // Safe, since no tool starts before the end of a reply and nothing of a broken one
            // enters the history.
            mid_stream: true,
            refusal_closes: true,
        }
    }
}

/// Time limits of tool runs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ToolTimeouts {
    /// The limit of a run whose call sets none. If this has its default value, the profile's own
    /// limit applies.
    pub default_command_ms: u64,
    /// The longest limit that a run can have.
    pub max_command_ms: u64,
    /// The time that a cancelled effect may take to answer before it counts as lost.
    pub grace_ms: u64,
}

impl ToolTimeouts {
    /// Returns whether `default_command_ms` was set to something other than its default.
    pub fn has_default(&self) -> bool {
        self.default_command_ms != Self::default().default_command_ms
    }
}

impl Default for ToolTimeouts {
    fn default() -> Self {
        Self { default_command_ms: 10_000, max_command_ms: 600_000, grace_ms: 5_000 }
    }
}
