//! A built-in tool as a row of its vocabulary's table. Everything that is known of the tool is in
//! its row; nothing elsewhere knows a tool by its name.

use super::{
    args::ToolArguments,
    call::{CallIntent, CanonicalCall, InnerCall},
    param::{self, ParamSchema},
};
use crate::rules::truncate::{OutputLimit, TruncateMode};
use alloc::{format, string::String, vec::Vec};
use innerloop_json::Map;
use innerloop_types::{
    action::{Action, ChangeKind, Outcome, Patch, ReportedChange, ToolError},
    config::{AskAbout, EnvironmentFacts, NamedAgent},
    json::Json,
    path::seen,
    tool::{BuiltinTools, FreeformSpec, ToolSpec},
};

/// A built-in tool with everything that is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolRow {
    /// Its name, as the model is shown it.
    pub(super) name: &'static str,
    /// The description of what it does and when to use it.
    pub(super) description: &'static str,
    pub(super) parameters: ToolParameters,
    /// The reader that turns arguments into what the call asks for.
    pub(super) read: ArgumentReader,
    /// The function that words an outcome in the form that the model family knows; `None` if the
    /// tool's own words are right.
    pub(super) tell: Option<fn(&FinishedRun<'_>) -> Option<String>>,
    pub(super) policy: ToolPolicy,
}

/// The parameters of a tool. In descriptions `{default_ms}` stands for the family's time limit.
#[derive(Clone, Copy, Debug)]
pub(super) enum ToolParameters {
    /// Always these, in the form that [`param`] reads.
    Fixed(&'static str),
    /// These, of a tool that starts agents: its description lists those that have a name.
    Spawning(&'static str),
    /// One string, which is sent without JSON if the protocol has free-form tools.
    Freeform {
        /// The parameter, in the form that [`param`] reads.
        text: &'static str,
        /// The grammar of the text, in Lark's syntax.
        grammar: &'static str,
        /// The description that the model reads in place of the tool's.
        description: &'static str,
    },
    /// The form that the host wants of the final answer.
    Answer,
}

/// The way to read arguments that fit the schema.
#[derive(Clone, Copy, Debug)]
// Three kinds of functions instead of one: only a run can fail for want of a program, and a call
// that never leaves the core can have no action.
pub(super) enum ArgumentReader {
    /// As an action on files or pages.
    Action(fn(&mut ToolArguments<'_>) -> Action),
    /// As a run of a program.
    Run(fn(&mut ToolArguments<'_>, &EnvironmentFacts) -> Result<CanonicalCall, String>),
    /// As something that the core does itself.
    Inner(fn(&mut ToolArguments<'_>) -> InnerCall),
}

/// The handling of a tool, apart from the meaning of its calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolPolicy {
    /// The requirement for the tool to be shown.
    pub(super) needs: Option<ToolRequirement>,
    pub(crate) category: ToolCategory,
    /// The limit on how much of its output the model reads.
    pub(crate) output: OutputLimit,
    /// The time limit of calls that name none, in milliseconds; `None` for the family's.
    pub(crate) default_ms: Option<u64>,
    pub(crate) timeout: TimeoutNote,
    /// True if it shows what is in files.
    pub(crate) shows_files: bool,
    /// True if it writes a file as a whole.
    pub(crate) writes_files: bool,
}

/// A requirement that a tool may have in order to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolRequirement {
    /// A program that is a shell.
    Shell,
    /// No shell: the tool does what a shell would be used for.
    NoShell,
    /// A program that is no shell.
    Program,
    /// A model that takes images.
    Images,
    /// A host that can read pages of the web.
    Web,
    /// The right to start agents.
    Agents,
    /// The right to start agents and to wait for them, in one call.
    AgentBatches,
    /// A user who answers questions.
    User,
    /// A form that the final answer must have.
    AnswerForm,
    /// Outputs that are kept.
    Results,
}

/// The effect of a tool's calls on the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolCategory {
    /// Calls change nothing, and may run beside others.
    Reads,
    /// Calls change files of the workspace.
    Changes,
    /// Calls run a program or a tool of the host, which may do anything.
    Runs,
}

impl ToolCategory {
    /// Returns whether such calls wait for an approval under that policy.
    pub(crate) const fn is_asked_about(self, ask: AskAbout) -> bool {
        match ask {
            AskAbout::Nothing => false,
            AskAbout::Programs => matches!(self, Self::Runs),
            AskAbout::Changes => !matches!(self, Self::Reads),
            AskAbout::Everything => true,
        }
    }
}

/// The note that the model reads below the output of a run that its time limit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutNote {
    /// No note: the output itself says so.
    None,
    /// A note that the run was ended.
    Plain,
    /// A note that the run was ended, and the parameter that asks for more time.
    Parameter(&'static str),
}

/// A run that is over, to be reported to the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FinishedRun<'a> {
    /// The action that was run.
    pub(crate) action: &'a Action,
    /// The changes that its patch makes to files, if it was one.
    pub(crate) patch: Option<&'a Patch>,
    pub(crate) outcome: &'a Outcome,
    /// The folder that the agent works in.
    pub(crate) folder: &'a str,
    /// The run's time limit, in milliseconds.
    pub(crate) timeout_ms: u64,
}

impl FinishedRun<'_> {
    /// Returns the first file that changed, as the agent sees it.
    pub(super) fn changed(&self) -> Option<(ChangeKind, &str)> {
        let ReportedChange { kind, path, .. } = self.outcome.changes.first()?;
        // Changes are reported from the workspace's root on. The agent's next call would look for
        // that path in its own folder.
        Some((*kind, seen(self.folder, path).unwrap_or(path)))
    }
}

impl ToolPolicy {
    /// The policy of tools that change nothing.
    pub(crate) const READS: Self = Self {
        needs: None,
        category: ToolCategory::Reads,
        output: OutputLimit::DEFAULT,
        default_ms: None,
        timeout: TimeoutNote::Parameter("timeout_ms"),
        shows_files: false,
        writes_files: false,
    };
    /// The policy of tools that show what is in files.
    pub(super) const SHOWS: Self = Self {
        output: limit(50_000, None, TruncateMode::HeadTail),
        shows_files: true,
        ..Self::READS
    };
    /// The policy of tools that change files.
    pub(super) const CHANGES: Self = Self {
        category: ToolCategory::Changes,
        output: limit(10_000, None, TruncateMode::Tail),
        ..Self::READS
    };
    /// The policy of tools that run programs.
    pub(super) const RUNS: Self = Self {
        category: ToolCategory::Runs,
        output: limit(30_000, Some(256), TruncateMode::HeadTail),
        ..Self::READS
    };
}

/// The output limit of tools that find lines: the first ones are the best.
pub(super) const MATCHES: OutputLimit = limit(20_000, Some(200), TruncateMode::Head);
/// The output limit of tools that find or list files.
// The newest files come first, so that the beginning stays (`docs/decisions.md#output-limits`).
pub(super) const PATHS: OutputLimit = limit(20_000, Some(500), TruncateMode::Head);
/// The output limit of tools that report a written file.
pub(super) const WRITTEN: OutputLimit = limit(1_000, None, TruncateMode::Tail);
/// The output limit of tools that report what another agent did.
pub(super) const REPORTS: OutputLimit = limit(20_000, None, TruncateMode::HeadTail);

/// The output limit of tools whose answers are made to fit.
pub(super) const WHOLE: OutputLimit = limit(50_000, None, TruncateMode::Head);

const fn limit(max_chars: usize, max_lines: Option<usize>, keep: TruncateMode) -> OutputLimit {
    OutputLimit { max_chars, max_lines, keep }
}

impl ToolRow {
    /// Returns whether the tool is shown if the requirements `met` are met and the tools `wanted`
    /// are wanted.
    pub(super) fn is_shown(&self, met: &[ToolRequirement], wanted: &BuiltinTools) -> bool {
        self.is_wanted(wanted) && self.policy.needs.is_none_or(|need| met.contains(&need))
    }

    /// Returns whether the tool is among those that are wanted.
    pub(super) fn is_wanted(&self, wanted: &BuiltinTools) -> bool {
        let is_named = |names: &[String]| names.iter().any(|name| *name == self.name);
        match (self.policy.needs, wanted) {
            // These have switches of their own in the configuration. A session without any other
            // tool may still ask, and must be able to give its final answer.
            (
                Some(
                    ToolRequirement::User | ToolRequirement::AnswerForm | ToolRequirement::Results,
                ),
                _,
            )
            | (_, BuiltinTools::All) => true,
            (_, BuiltinTools::ReadOnly) => self.policy.category == ToolCategory::Reads,
            (_, BuiltinTools::None) => false,
            (_, BuiltinTools::Only(names)) => is_named(names),
            (_, BuiltinTools::Except(names)) => !is_named(names),
        }
    }

    /// Returns whether the tool's calls are carried out in the workspace, by the host.
    pub(crate) const fn is_action(&self) -> bool {
        matches!(self.read, ArgumentReader::Action(_) | ArgumentReader::Run(_))
    }

    /// Returns the tool's name, as the model is shown it.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) const fn policy(&self) -> ToolPolicy {
        self.policy
    }

    /// Returns whether the tool starts agents, some of which may have names.
    pub(crate) const fn starts_agents(&self) -> bool {
        matches!(self.parameters, ToolParameters::Spawning(_))
    }

    /// Returns the tool as the model is shown it; `answer` is the schema of the final answer, and
    /// `agents` are those that have a name. Without `agents` it takes any name, and is for checks
    /// alone.
    pub(crate) fn spec(
        &self,
        default_ms: u64,
        answer: Option<&Json>,
        agents: Option<&Map<NamedAgent>>,
    ) -> ToolSpec {
        let fixed = |params| Json::of(&ParamSchema { params, default_ms, agents });
        let mut description = String::from(self.description);
        let (parameters, freeform) = match &self.parameters {
            ToolParameters::Fixed(params) => (fixed(params), None),
            ToolParameters::Spawning(params) => {
                if let Some(agents) = agents {
                    for (name, agent) in agents {
                        description.push_str(&format!("\n- {name}: {}", agent.description));
                    }
                }
                (fixed(params), None)
            }
            ToolParameters::Freeform { text, grammar, description } => {
                let freeform = FreeformSpec {
                    grammar: (*grammar).into(),
                    property: param::name(text).into(),
                    description: (*description).into(),
                };
                (fixed(text), Some(freeform))
            }
            ToolParameters::Answer => (answer.cloned().unwrap_or_default(), None),
        };
        ToolSpec {
            name: self.name.into(),
            description,
            parameters,
            read_only: self.policy.category == ToolCategory::Reads,
            untrusted: false,
            timeout_ms: None,
            paths: Vec::new(),
            freeform,
        }
    }

    /// Reads arguments that fit the schema, and returns what the call asks for.
    ///
    /// # Errors
    /// A sentence for the model.
    pub(crate) fn read(
        &self,
        mut args: ToolArguments<'_>,
        facts: &EnvironmentFacts,
    ) -> Result<CallIntent, String> {
        let meaning = match self.read {
            ArgumentReader::Action(read) => Ok(CallIntent::Action(read(&mut args).into())),
            ArgumentReader::Run(read) => read(&mut args, facts).map(CallIntent::Action),
            ArgumentReader::Inner(read) => Ok(CallIntent::Inner(read(&mut args))),
        };
        // A fault in the arguments goes before the reader's own refusal: it is the one that the
        // model can fix.
        args.finish()?;
        meaning
    }

    /// Returns an outcome in the form that the model's family knows; `None` if the tool's own words
    /// are right.
    pub(crate) fn tell(&self, run: &FinishedRun<'_>) -> Option<String> {
        match run.outcome.error {
            // These are what a tool or a program said itself. Other failures are refusals in our
            // own words, which must not look like the output of a command.
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
    /// Returns the note on a run that was ended after `timeout_ms`.
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
