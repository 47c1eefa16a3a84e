//! What a session is opened with, and what may be changed later. Facts are data (DESIGN rule 13):
//! the host collects them, the core never looks.

use crate::{
    nouns::tool::ToolSpec,
    words::id::{EndpointId, SessionId},
};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// Everything a session needs to know from the start. The default is the specification's
/// (Spec §2.2); `id`, `endpoint` and `model` have no default and must be set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionConfig {
    /// The session's id. A fork always gets a new one.
    pub id: SessionId,
    /// Which model, and how to talk to it.
    pub model: ModelConfig,
    /// When to stop.
    pub limits: Limits,
    /// When a failed model call is tried again.
    pub retry: RetryPolicy,
    /// Time limits of tool runs.
    pub timeouts: Timeouts,
    /// Most characters of a tool's output that the model reads, by tool; Spec §5.2 for the rest.
    pub tool_output_limits: BTreeMap<String, u32>,
    /// Most lines of a tool's output that the model reads, by tool; Spec §5.3 for the rest.
    pub tool_line_limits: BTreeMap<String, u32>,
    /// What the system prompt tells of the place the agent works in.
    pub facts: Facts,
    /// Instructions of the user, appended last to the system prompt (Spec §6.1).
    pub instructions: Option<String>,
    /// Tools of the host, on top of the profile's; equal names override.
    pub tools: Vec<ToolSpec>,
}

/// A configuration that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct ConfigError {
    /// The field, as a path in the configuration.
    pub field: &'static str,
    /// What is wrong with it and what would be right.
    pub message: String,
}

/// Which model, and how to talk to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The host's name for the endpoint.
    pub endpoint: EndpointId,
    /// The protocol that the endpoint speaks.
    pub wire: WireKind,
    /// The model family whose tools and prompt are used.
    pub profile: ProfileKind,
    /// The model's name, as the endpoint knows it.
    pub name: String,
    /// Most tokens that one reply may have.
    pub max_output_tokens: u32,
    /// `low`, `medium`, `high` or what else the provider knows; the provider's default if absent.
    pub reasoning_effort: Option<String>,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            endpoint: EndpointId::default(),
            wire: WireKind::Anthropic,
            profile: ProfileKind::Anthropic,
            name: String::new(),
            max_output_tokens: 16_384,
            reasoning_effort: None,
        }
    }
}

/// A model protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WireKind {
    /// Anthropic Messages.
    Anthropic,
}

/// A model family: its tools, its base prompt, its capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProfileKind {
    /// Claude models.
    Anthropic,
}

/// When to stop; 0 means never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Most user and assistant turns of the whole session.
    pub max_turns: u32,
    /// Most rounds of tool calls for one input of the user.
    pub max_tool_rounds_per_input: u32,
}

/// When a failed model call is tried again. The delay is `base_ms` doubled per try, at most
/// `max_ms`, less up to a quarter; a delay that the provider asks for takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// How often one model call is tried again; 0 switches retries off.
    pub max_retries: u32,
    /// The first delay, in milliseconds.
    pub base_ms: u64,
    /// The longest delay of our own, in milliseconds.
    pub max_ms: u64,
    /// The longest delay that a provider may ask for; a longer one ends the run.
    pub max_retry_after_ms: u64,
    /// After how long without a byte a model call counts as broken, in milliseconds.
    pub idle_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 4,
            base_ms: 500,
            max_ms: 8_000,
            max_retry_after_ms: 120_000,
            idle_ms: 300_000,
        }
    }
}

/// Time limits of tool runs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a run whose call names none; a profile may set another (Spec §3.5).
    pub default_command_ms: u64,
    /// No run gets more.
    pub max_command_ms: u64,
    /// How long a cancelled effect may take to answer before it counts as lost.
    pub grace_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { default_command_ms: 10_000, max_command_ms: 600_000, grace_ms: 5_000 }
    }
}

/// What the system prompt tells of the place the agent works in (Spec §6.3, §6.4). What is empty
/// or absent is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
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
}

/// The state of version control when the session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GitFacts {
    /// The current branch.
    pub branch: String,
    /// How many files are modified, where the host knows.
    pub modified: Option<u32>,
    /// How many files are untracked, where the host knows.
    pub untracked: Option<u32>,
    /// Subjects of the newest commits, newest first.
    pub recent_commits: Vec<String>,
}

/// A program of the host's registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramFacts {
    /// Its name.
    pub name: String,
    /// What it is and how it is called, in a sentence.
    pub description: String,
}

/// An instruction file of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectDoc {
    /// Its path in the workspace.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A change of a session's configuration, in force from the next model call (Spec §1.2).
/// What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigPatch {
    /// Another model of the same endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Another effort; `Some(None)` goes back to the provider's default.
    #[serde(skip_serializing_if = "Option::is_none", with = "double_option")]
    pub reasoning_effort: Option<Option<String>>,
    /// Other limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Other instructions of the user; an empty text removes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// Keeps `null` (set to nothing) and absence (leave alone) apart.
mod double_option {
    use alloc::string::String;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::option_option, clippy::ref_option, reason = "the shape serde asks for")]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Option<String>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<String>>, D::Error> {
        Option::<String>::deserialize(deserializer).map(Some)
    }
}
