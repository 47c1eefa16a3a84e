//! Floor 3: what a model family is shown: its tools, its base prompt, its defaults. A profile
//! translates calls in the model's vocabulary to canonical actions, and their outcomes to what the
//! model reads. It knows nothing of protocols, and nothing outside of it knows a tool by its name.

mod anthropic;
mod args;
mod call;
mod family;
mod gemini;
pub(crate) mod inner;
mod openai;
mod param;
pub(crate) mod plan_tool;
mod row;
mod seed;
mod shell;
mod small;

pub(crate) use call::CanonicalCall;
pub(crate) use {
    args::ToolArguments,
    call::CallIntent,
    row::{FinishedRun, TimeoutNote, ToolCategory, ToolPolicy, ToolRow},
};

use family::ModelFamily;
use row::ToolRequirement;

use alloc::{format, string::String, vec::Vec};
use innerloop_json::{IntoList, Map, joined, quoted};
use innerloop_types::{
    config::{
        ConfigError, EnvironmentFacts, ModelConfig, ProfileKind, SessionConfig, TextCalls,
        ToolChoice, ToolTimeouts, VocabularyKind,
    },
    json::Json,
    tool::{BuiltinTools, ToolSpec},
};

/// The base instructions of a model of any family that is shown no tools.
pub(crate) const NO_TOOLS_PROMPT: &str = include_str!("no_tools.md");

/// A model family under one of its two vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    kind: ProfileKind,
    vocabulary: VocabularyKind,
}

/// The abilities of a family's models, unless something better is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCapabilities {
    /// True if they think before they answer, with an effort that can be set.
    pub reasoning: bool,
    /// True if replies come as streams.
    pub streaming: bool,
    /// True if one reply may hold several calls.
    pub parallel_tool_calls: bool,
    /// The maximum number of tokens in a call, input and output together.
    pub context_window: u32,
    /// The cases in which calls are looked for in the text.
    pub text_calls: TextCalls,
}

impl Profile {
    /// Creates the profile of a family under a vocabulary. Small models have the specification's
    /// only.
    #[must_use]
    pub const fn new(kind: ProfileKind, vocabulary: VocabularyKind) -> Self {
        match kind {
            // Not refused: the preset `modern` asks for native names, whatever the family.
            ProfileKind::Small => Self { kind, vocabulary: VocabularyKind::Seed },
            _ => Self { kind, vocabulary },
        }
    }

    /// Returns the profile that a model's configuration names.
    #[must_use]
    pub const fn of(model: &ModelConfig) -> Self {
        Self::new(model.profile, model.vocabulary)
    }

    /// Returns the tools that become actions, as models that take images are shown them, without
    /// those that nothing here could carry out.
    #[must_use]
    pub fn tools(self, facts: &EnvironmentFacts) -> Vec<ToolSpec> {
        let mut met = shell::needs_met(facts);
        met.push(ToolRequirement::Images);
        self.action_rows(&met, &BuiltinTools::All).map(|row| self.spec(row, None)).into_list()
    }

    /// Returns the family's own tools whose calls never leave the core: the one for the plan, if
    /// there is one.
    #[must_use]
    pub fn inner_tools(self) -> Vec<ToolSpec> {
        self.plan().map(|row| self.spec(row, None)).into_iter().into_list()
    }

    /// Returns all tools that an agent at nesting depth `depth` is shown; the session's own agent
    /// is at 0.
    pub(crate) fn rows(self, config: &SessionConfig, depth: u32) -> Vec<&'static ToolRow> {
        let mut met = shell::needs_met(&config.facts);
        let may_start = depth < config.subagents.max_depth;
        let is_large = self.family().is_large;
        let needs = [
            (ToolRequirement::Images, config.model.compat.images),
            (ToolRequirement::Web, config.web_fetch),
            (ToolRequirement::Agents, may_start && is_large),
            // A small model starts agents only where the user has made some for it, and by one
            // call that brings the results: ids to wait for are more than it keeps in mind.
            (ToolRequirement::AgentBatches, may_start && (is_large || !config.agents.is_empty())),
            // The user and the host talk with the session's own agent only. Agents that it starts
            // answer to it, in the form that they like.
            (ToolRequirement::User, config.ask_user && depth == 0),
            (ToolRequirement::AnswerForm, config.answer.is_some() && depth == 0),
            (ToolRequirement::Results, config.results.is_some()),
        ];
        met.extend(needs.into_iter().filter(|(_, is_met)| *is_met).map(|(need, _)| need));
        let wanted = &config.builtin_tools;
        let mut rows = self.action_rows(&met, wanted).into_list();
        rows.extend(self.inner_rows().into_iter().filter(|row| row.is_shown(&met, wanted)));
        rows
    }

    /// Checks that there are the tools that the configuration names.
    ///
    /// # Errors
    /// The name that no tool has, and those that there are.
    pub(crate) fn check(self, config: &SessionConfig) -> Result<(), ConfigError> {
        // All tools of the vocabulary, shown or not: a configuration that names the shell must stay
        // valid on a host without one.
        let mut known: Vec<&str> = self.all_rows().into_iter().map(ToolRow::name).into_list();
        if let BuiltinTools::Only(names) | BuiltinTools::Except(names) = &config.builtin_tools {
            check_tools("builtin_tools".into(), names, &known)?;
        }
        known.extend(config.tools.iter().map(|tool| tool.name.as_str()));
        for (name, agent) in &config.agents {
            if name.trim().is_empty() {
                return Err(ConfigError::new("agents", "one of them has no name"));
            }
            let names = agent.tools.as_deref().unwrap_or_default();
            check_tools(format!("agents.{name}.tools"), names, &known)?;
        }
        Ok(())
    }

    /// Leaves of the tools of a configuration only those with such names.
    pub(crate) fn narrow(self, config: &mut SessionConfig, names: &[String]) {
        config.tools.retain(|tool| names.contains(&tool.name));
        // Among those that the session's own agent may have: whoever gives it no tool that writes
        // wants none for the agents that it starts.
        let mut kept = names.to_vec();
        kept.retain(|name| {
            let row = self.all_rows().into_iter().find(|row| row.name == *name);
            row.is_some_and(|row| row.is_wanted(&config.builtin_tools))
        });
        config.builtin_tools = BuiltinTools::Only(kept);
        // A choice of a tool that is gone would be refused by the provider.
        if config.model.tool_choice != ToolChoice::None {
            config.model.tool_choice = ToolChoice::Auto;
        }
    }

    /// Returns a tool of the profile as the model is shown it; `answer` is the schema of the final
    /// answer.
    pub(crate) fn spec(self, row: &ToolRow, answer: Option<&Json>) -> ToolSpec {
        row.spec(self.command_ms(&ToolTimeouts::default()), answer, Some(&Map::new()))
    }

    /// Returns the tool of that name in the profile's vocabulary, shown or not.
    pub(crate) fn row(self, name: &str) -> Option<&'static ToolRow> {
        let others = match self.vocabulary {
            // The specification's names mean the same in every family: a tool that the family does
            // not show is still known by them.
            VocabularyKind::Seed if cfg!(feature = "builtins") => seed::TABLE,
            _ => &[],
        };
        self.table().iter().chain(others).copied().find(|row| row.name == name)
    }

    /// Returns the tool of that name that becomes an action, shown or not.
    #[must_use]
    pub fn tool(self, name: &str) -> Option<ToolSpec> {
        self.row(name).map(|row| self.spec(row, None))
    }

    /// Returns whether the vocabulary has a tool of that name that becomes an action.
    #[must_use]
    pub fn knows(self, name: &str) -> bool {
        self.row(name).is_some()
    }

    /// Returns whether the vocabulary has a tool of that name, also one whose calls never leave the
    /// core.
    #[must_use]
    pub fn has_tool(self, name: &str) -> bool {
        self.all_rows().iter().any(|row| row.name == name)
    }

    /// Translates a call of one of the tools to canonical form. `facts` are those under which the
    /// tools were offered.
    ///
    /// # Errors
    /// A sentence for the model if the name or the arguments are not the profile's.
    pub fn translate(
        self,
        facts: &EnvironmentFacts,
        name: &str,
        arguments: &str,
    ) -> Result<CanonicalCall, String> {
        let unknown = || format!("Unknown tool: {name}");
        let row = self.row(name).ok_or_else(unknown)?;
        let schema = innerloop_json::from_str(self.spec(row, None).parameters.text())
            .map_err(|error| format!("{error}"))?;
        match row.read(ToolArguments::parse(name, arguments, &schema, false)?, facts)? {
            CallIntent::Action(translated) => Ok(translated),
            CallIntent::Inner(_) => Err(unknown()),
        }
    }

    /// Returns the base instructions.
    #[must_use]
    pub const fn base_prompt(self) -> &'static str {
        self.family().base_prompt
    }

    /// Returns the time limit of a program's run whose call names none, in milliseconds, if the
    /// family has its own.
    #[must_use]
    pub const fn default_command_ms(self) -> Option<u64> {
        self.family().default_command_ms
    }

    /// Returns the time limit of a run whose call names none: the configured one goes before the
    /// family's.
    pub(crate) fn command_ms(self, timeouts: &ToolTimeouts) -> u64 {
        let family = self.default_command_ms().filter(|_| !timeouts.has_default());
        family.unwrap_or(timeouts.default_command_ms)
    }

    /// Returns what the family's models can do.
    #[must_use]
    pub const fn capabilities(self) -> ModelCapabilities {
        let ModelFamily { is_large, context_window, .. } = *self.family();
        ModelCapabilities {
            reasoning: is_large,
            streaming: true,
            parallel_tool_calls: is_large,
            context_window,
            text_calls: if is_large { TextCalls::Never } else { TextCalls::Fallback },
        }
    }

    /// Returns a model's configuration with the family's values; endpoint, protocol and name are
    /// left to be filled in.
    #[must_use]
    pub fn model_defaults(self) -> ModelConfig {
        let capabilities = self.capabilities();
        let plain = ModelConfig::default();
        let quarter = capabilities.context_window / 4;
        ModelConfig {
            profile: self.kind,
            vocabulary: self.vocabulary,
            context_window: capabilities.context_window,
            // A small window must have room for the conversation: a limit as large as the window
            // makes servers refuse every request (`docs/wires.md#context-overflow`).
            max_output_tokens: plain.max_output_tokens.min(quarter),
            // Only a no is said: many endpoints refuse the field, so that models which can are left
            // to the provider's default.
            parallel_tool_calls: (!capabilities.parallel_tool_calls).then_some(false),
            stream: capabilities.streaming,
            text_calls: capabilities.text_calls,
            ..plain
        }
    }

    const fn family(self) -> &'static ModelFamily {
        family(self.kind)
    }

    /// Returns the tools of the vocabulary that become actions, in the order in which they are
    /// shown.
    const fn table(self) -> &'static [&'static ToolRow] {
        match self.vocabulary {
            VocabularyKind::Seed => self.family().seed,
            VocabularyKind::Native => self.family().native,
        }
    }

    /// Returns the tool that keeps the plan, if the vocabulary has one.
    fn plan(self) -> Option<&'static ToolRow> {
        self.family().plan.filter(|_| self.vocabulary == VocabularyKind::Native)
    }

    fn action_rows(
        self,
        met: &[ToolRequirement],
        wanted: &BuiltinTools,
    ) -> impl Iterator<Item = &'static ToolRow> {
        let rows = self.table().iter().copied().filter(|row| row.is_shown(met, wanted));
        // After the filter, so that a tool that this host lacks leaves its place to the next one.
        rows.take(self.family().most_tools)
    }

    /// Returns all tools of the vocabulary, shown or not.
    fn all_rows(self) -> Vec<&'static ToolRow> {
        let mut rows = self.table().to_vec();
        rows.append(&mut self.inner_rows());
        rows
    }

    /// Returns the tools whose calls never leave the core; that of the final answer comes last.
    fn inner_rows(self) -> Vec<&'static ToolRow> {
        let mut rows = inner::rows();
        rows.extend(self.plan());
        rows.push(&inner::FINAL_ANSWER);
        rows
    }
}

/// Checks that there are tools of such names.
fn check_tools(field: String, names: &[String], known: &[&str]) -> Result<(), ConfigError> {
    let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let message = format!("there is no tool {}; there are {}", quoted(name), joined(known, ", "));
    Err(ConfigError::new(field, message))
}

/// Returns the names of the project's instruction files that the family reads.
#[must_use]
pub const fn doc_names(kind: ProfileKind) -> &'static [&'static str] {
    family(kind).docs
}

const fn family(kind: ProfileKind) -> &'static ModelFamily {
    match kind {
        ProfileKind::Openai => &openai::FAMILY,
        ProfileKind::Anthropic => &anthropic::FAMILY,
        ProfileKind::Gemini => &gemini::FAMILY,
        ProfileKind::Small => &small::FAMILY,
    }
}

/// Returns the folder that the file at `path` has instructions for, empty for the topmost; `None`
/// if the family does not read it.
#[must_use]
pub fn instructed_folder(kind: ProfileKind, path: &str) -> Option<&str> {
    let above = doc_names(kind).iter().find_map(|name| path.strip_suffix(name))?;
    // The slash is required: `MY-AGENTS.md` ends with the name and is not the file.
    if above.is_empty() { Some(above) } else { above.strip_suffix('/') }
}

/// Returns the places of instruction files, in the order in which they are shown: from the folder
/// `root` down to the folder `below` it, both with `/` between names and empty for the topmost.
#[must_use]
pub fn doc_places(kind: ProfileKind, root: &str, below: &str) -> Vec<String> {
    let mut folder = String::from(root);
    let mut folders = Vec::from([folder.clone()]);
    for name in below.split('/').filter(|name| !name.is_empty()) {
        if !folder.is_empty() {
            folder.push('/');
        }
        folder.push_str(name);
        folders.push(folder.clone());
    }
    let mut places = Vec::new();
    for folder in &folders {
        for &name in doc_names(kind) {
            places.push(if folder.is_empty() { name.into() } else { format!("{folder}/{name}") });
        }
    }
    places
}
