//! Tools as the model sees them, and one run of a tool as the host carries it out. The core
//! translates between the two: a host never sees a vocabulary, and a model never sees a job.

use crate::{action::Action, base::json::Json};
use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, ToJson};

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ToolSpec {
    /// A unique name; among equal names the latest registration wins.
    pub name: String,
    /// The description of the tool and of its purpose.
    pub description: String,
    /// A JSON Schema whose root is an object.
    #[json(like = "innerloop_json::JsonObject")]
    // Kept as the text that came: parsed into a map, it would lose the order of its keys, and with
    // it the provider's cached prefix (`docs/decisions.md#opaque-json`).
    pub parameters: Json,
    /// True if it only reads, so that it may run beside others.
    #[json(default)]
    pub read_only: bool,
    /// True if its results come from elsewhere, such as the web: the model reads them as
    /// information that nobody has checked (`SessionConfig::firewall`).
    #[json(default, skip_serializing_if = "is_false")]
    pub untrusted: bool,
    /// The time limit of a run, in milliseconds, at most `timeouts.max_command_ms`; if absent, the
    /// default limit of commands.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The names of the arguments that are files or folders of the workspace, each one text or a
    /// list of texts; an input's `paths` is checked against them. An argument that a call omits
    /// stands for the agent's own folder.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    // A call of a tool that may change something and declares no paths is denied where an input
    // limits them: it would be the way around (`docs/decisions.md#options-of-an-input`).
    pub paths: Vec<String>,
    /// The form of a call with free text instead of JSON, for protocols that support it.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub freeform: Option<FreeformSpec>,
}

impl ToolSpec {
    /// Creates a tool that may change something, with the JSON Schema of its arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Json) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
            read_only: false,
            untrusted: false,
            timeout_ms: None,
            paths: Vec::new(),
            freeform: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derive calls it with a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A tool that is called with free text if the protocol supports that (OpenAI's custom tools), and
/// with the schema's arguments otherwise.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct FreeformSpec {
    /// The grammar of the text, in Lark's syntax.
    pub grammar: String,
    /// The property of the schema that the text is the value of.
    pub property: String,
    /// The description that replaces the tool's for the model.
    pub description: String,
}

/// The choice of the profile's own tools, by their names in its vocabulary. The tools that ask the
/// user or give the final answer have switches of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum BuiltinTools {
    /// All tools that this session can carry out.
    #[default]
    All,
    /// Only the tools that change nothing and run nothing.
    ReadOnly,
    /// None of the profile's tools.
    None,
    /// The tools with these names.
    Only(Vec<String>),
    /// All tools except those with these names.
    Except(Vec<String>),
}

/// The tools that a request shows (`docs/decisions.md#tools-shown`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ToolsShown {
    /// All.
    All,
    /// At first only `select_category`, then the tools of the category that the model has chosen.
    /// For small models, which choose badly among many tools.
    Staged,
    /// At most this many tools, but all built-in ones. `tool_search` names the host's further
    /// tools, and the model finds them with it.
    Deferred(u32),
}

impl Default for ToolsShown {
    fn default() -> Self {
        Self::Deferred(30)
    }
}

/// The rules for outputs that are kept if the model has read only a part of them: it reads the rest
/// with `read_result` (`docs/decisions.md#kept-results`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ResultPolicy {
    /// The maximum number of characters of a cut output that the model reads at first; 0 for as
    /// many as without this policy.
    pub preview_chars: u32,
}

impl Default for ResultPolicy {
    fn default() -> Self {
        Self { preview_chars: 2_000 }
    }
}

/// A query of kept outputs. Without an id it lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct ResultQuery {
    /// The output to read from.
    #[json(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool whose outputs are listed.
    #[json(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The number of characters to skip.
    pub offset: u64,
    /// The number of characters to read; 0 for as many as fit.
    pub limit: u64,
}

/// One run of a tool, which `Effect::RunTool` asks the host for.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ToolRun {
    /// The call's id, as the model gave it.
    pub call_id: String,
    /// The tool's name, as the model sees it.
    pub name: String,
    /// The job to run.
    pub job: Job,
    /// The folder of the workspace that the calling agent works in, relative to the root (empty for
    /// the root): the paths of a built-in action are relative to it, and a program runs in it.
    #[json(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The model's knowledge of the files that a built-in action names, in its order, if the guard
    /// is on: the digest of a file when the model last read or changed it, an empty text for any
    /// content, `null` for a file that it has not seen. A file that has changed since is not
    /// touched.
    #[json(default, skip_serializing_if = "Option::is_none")]
    // Checked where the files are, in the same step that writes them: a check in the core would be
    // a race with whoever else changes them, and links and `..` would get round it.
    pub known: Option<Vec<Option<String>>>,
    /// The time after which the host stops the run and answers with the output so far, with
    /// `timed_out` set, in milliseconds.
    pub timeout_ms: u64,
}

/// The job of a tool's run.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum Job {
    /// A built-in tool's action, already translated from the model's vocabulary.
    Builtin(Action),
    /// A tool that the host registered; the arguments have been checked against its schema.
    Custom(Json),
    /// A query of kept outputs, which the driver answers: its hosts never see it.
    Kept(ResultQuery),
}
