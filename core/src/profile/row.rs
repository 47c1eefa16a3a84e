//! A built-in tool as a row of its vocabulary's table: all that is known of it stands there, and
//! nothing elsewhere knows a tool by its name.

use super::{
    args::Args,
    call::{InnerCall, Meaning, Translated},
    param::{self, Schema},
};
use crate::rules::truncate::{Keep, OutputLimit};
use alloc::{format, string::String, vec::Vec};
use innerloop_types::{
    action::{Action, Change, ChangeKind, Outcome, Patch, ToolError},
    config::Facts,
    json::Json,
    path::seen,
    tool::{BuiltinTools, Freeform, ToolSpec},
};

/// A built-in tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolRow {
    /// Its name, as the model is shown it.
    pub(super) name: &'static str,
    /// What it does and when to use it.
    pub(super) description: &'static str,
    pub(super) parameters: Parameters,
    /// How arguments become what the call asks for.
    pub(super) read: Reader,
    /// How an outcome is told in the form that the model family knows, where that is another than
    /// what the tool says.
    pub(super) tell: Option<fn(&FinishedRun<'_>) -> Option<String>>,
    pub(super) policy: Policy,
}

/// What a tool is called with. In descriptions `{default_ms}` stands for the family's time limit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parameters {
    /// These, always, as [`param`] reads them.
    Fixed(&'static str),
    /// One string, which goes without JSON where the protocol has free-form tools.
    Freeform {
        text: &'static str,
        /// The grammar of the text, in Lark's syntax.
        grammar: &'static str,
        /// What the model is told in place of the description.
        description: &'static str,
    },
    /// The form that the host wants of the final answer.
    Answer,
}

/// How arguments that fit the schema are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader {
    /// As an action on files.
    Action(fn(&mut Args<'_>) -> Action),
    /// As a run of a program.
    Run(fn(&mut Args<'_>, &Facts) -> Result<Translated, String>),
    /// As something that the core does itself.
    Inner(fn(&mut Args<'_>) -> InnerCall),
}

/// What is done about a tool apart from its calls' meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// What must be there for the tool to be shown.
    pub(super) needs: Option<Need>,
    pub(crate) category: Category,
    /// How much of its output the model reads.
    pub(crate) output: OutputLimit,
    /// The time limit of calls that name none, in milliseconds, where it is not the family's.
    pub(crate) default_ms: Option<u64>,
    pub(crate) timeout: TimeoutNote,
    /// Whether it shows what is in files.
    pub(crate) shows_files: bool,
}

/// What a tool may need in order to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// A program that is a shell.
    Shell,
    /// No shell: the tool stands in for what a shell is used for.
    NoShell,
    /// A program that is no shell.
    Program,
    /// A model that takes images.
    Images,
    /// A host that reads pages of the web.
    Web,
    /// Leave to start agents.
    Agents,
    /// A user who answers questions.
    User,
    /// A form that the final answer must have.
    AnswerForm,
}

/// What a tool's calls do to the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    /// They change nothing, and may run beside others.
    Reads,
    /// They change files.
    Changes,
    /// They run a program or a tool of the host, which may do anything.
    Runs,
}

/// What the model is told below the output of a run that its time limit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutNote {
    /// Nothing: the output itself says so.
    None,
    /// That it ended.
    Plain,
    /// That it ended, and the parameter that asks for more time.
    Parameter(&'static str),
}

/// What came of a run, to be told to the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FinishedRun<'a> {
    /// What was run.
    pub(crate) action: &'a Action,
    /// What its patch does to which files, if it was one.
    pub(crate) patch: Option<&'a Patch>,
    pub(crate) outcome: &'a Outcome,
    /// The folder that the agent works in.
    pub(crate) folder: &'a str,
    /// The run's time limit, in milliseconds.
    pub(crate) timeout_ms: u64,
}

impl FinishedRun<'_> {
    /// The first file that changed, as the agent sees it.
    pub(super) fn changed(&self) -> Option<(ChangeKind, &str)> {
        let Change { kind, path, .. } = self.outcome.changes.first()?;
        Some((*kind, seen(self.folder, path).unwrap_or(path)))
    }
}

impl Policy {
    /// For tools that change nothing.
    pub(crate) const READS: Self = Self {
        needs: None,
        category: Category::Reads,
        output: OutputLimit::DEFAULT,
        default_ms: None,
        timeout: TimeoutNote::Parameter("timeout_ms"),
        shows_files: false,
    };
    /// For tools that show what is in files.
    pub(super) const SHOWS: Self =
        Self { output: limit(50_000, None, Keep::HeadTail), shows_files: true, ..Self::READS };
    /// For tools that change files.
    pub(super) const CHANGES: Self = Self {
        category: Category::Changes,
        output: limit(10_000, None, Keep::Tail),
        ..Self::READS
    };
    /// For tools that run programs.
    pub(super) const RUNS: Self = Self {
        category: Category::Runs,
        output: limit(30_000, Some(256), Keep::HeadTail),
        ..Self::READS
    };
}

/// The output of tools that find lines: the first ones are the best.
pub(super) const MATCHES: OutputLimit = limit(20_000, Some(200), Keep::Head);
/// The output of tools that find or list files.
pub(super) const PATHS: OutputLimit = limit(20_000, Some(500), Keep::Head);
/// The output of tools that say that a file was written.
pub(super) const WRITTEN: OutputLimit = limit(1_000, None, Keep::Tail);
/// The output of tools that say what another agent did.
pub(super) const REPORTS: OutputLimit = limit(20_000, None, Keep::HeadTail);

const fn limit(max_chars: usize, max_lines: Option<usize>, keep: Keep) -> OutputLimit {
    OutputLimit { max_chars, max_lines, keep }
}

impl ToolRow {
    /// Whether the tool is shown where these needs are met and these tools are wanted. Some have
    /// a switch of their own.
    pub(super) fn is_shown(&self, met: &[Need], wanted: &BuiltinTools) -> bool {
        let is_named = |names: &[String]| names.iter().any(|name| *name == self.name);
        let is_wanted = match (self.policy.needs, wanted) {
            (Some(Need::User | Need::AnswerForm), _) | (_, BuiltinTools::All) => true,
            (_, BuiltinTools::ReadOnly) => self.policy.category == Category::Reads,
            (_, BuiltinTools::None) => false,
            (_, BuiltinTools::Only(names)) => is_named(names),
            (_, BuiltinTools::Except(names)) => !is_named(names),
        };
        is_wanted && self.policy.needs.is_none_or(|need| met.contains(&need))
    }

    /// Whether the tool's calls are carried out in the workspace, by the host.
    pub(crate) const fn is_action(&self) -> bool {
        matches!(self.read, Reader::Action(_) | Reader::Run(_))
    }

    /// Its name, as the model is shown it.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) const fn policy(&self) -> Policy {
        self.policy
    }

    /// The tool as the model is shown it; `answer` is the schema of the final answer.
    pub(crate) fn spec(&self, default_ms: u64, answer: Option<&Json>) -> ToolSpec {
        let fixed = |params| Json::of(&Schema { params, default_ms });
        let (parameters, freeform) = match &self.parameters {
            Parameters::Fixed(params) => (fixed(params), None),
            Parameters::Freeform { text, grammar, description } => {
                let freeform = Freeform {
                    grammar: (*grammar).into(),
                    property: param::name(text).into(),
                    description: (*description).into(),
                };
                (fixed(text), Some(freeform))
            }
            Parameters::Answer => (answer.cloned().unwrap_or_default(), None),
        };
        ToolSpec {
            name: self.name.into(),
            description: self.description.into(),
            parameters,
            read_only: self.policy.category == Category::Reads,
            timeout_ms: None,
            paths: Vec::new(),
            freeform,
        }
    }

    /// What a call asks for whose arguments fit the schema.
    ///
    /// # Errors
    /// A sentence for the model.
    pub(crate) fn read(&self, mut args: Args<'_>, facts: &Facts) -> Result<Meaning, String> {
        let meaning = match self.read {
            Reader::Action(read) => Ok(Meaning::Action(read(&mut args).into())),
            Reader::Run(read) => read(&mut args, facts).map(Meaning::Action),
            Reader::Inner(read) => Ok(Meaning::Inner(read(&mut args))),
        };
        args.finish()?;
        meaning
    }

    /// What the model reads of an outcome in the form that its family knows; `None` where that is
    /// what the tool says.
    pub(crate) fn tell(&self, run: &FinishedRun<'_>) -> Option<String> {
        match run.outcome.error {
            // What a tool or a program said itself; everything else is in our own words.
            None
            | Some(
                ToolError::Exit
                | ToolError::Timeout
                | ToolError::Limit
                | ToolError::EditConflict
                | ToolError::InvalidArguments,
            ) => self.tell?(run),
            Some(_) => None,
        }
    }
}

impl TimeoutNote {
    /// The note on a run that was given `timeout_ms`.
    pub(crate) fn text(self, timeout_ms: u64) -> Option<String> {
        let advice = match self {
            Self::None => return None,
            Self::Plain => String::new(),
            Self::Parameter(name) => {
                format!(" You can retry with a longer timeout by setting the {name} parameter.")
            }
        };
        Some(format!(
            "[ERROR: Command timed out after {timeout_ms}ms. Partial output is shown \
             above.{advice}]"
        ))
    }
}
