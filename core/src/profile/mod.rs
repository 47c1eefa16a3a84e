//! Floor 3: what a model family is shown: its tools, its base prompt, its defaults. A profile
//! translates the model's vocabulary to canonical actions, and their outcomes to what the model
//! reads, and knows nothing of wires.

mod anthropic;
mod gemini;
pub mod inner;
mod openai;
pub mod plan;
mod seed;
mod shell;
mod small;
mod translated;

pub use translated::Translated;

use crate::{
    rules::truncate::OutputLimit,
    types::{
        action::{Action, Outcome, ToolError},
        config::{Facts, ModelConfig, ProfileKind, TextCalls, Vocabulary},
        tool::ToolSpec,
    },
};
use alloc::{format, string::String, vec::Vec};

/// The time limit of programs where neither call nor family nor configuration names one, as the
/// model is told it (Spec §5.4).
const DEFAULT_COMMAND_MS: u64 = 10_000;

/// A model family under one of its two vocabularies (Spec §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    kind: ProfileKind,
    vocabulary: Vocabulary,
}

/// What the models of a family can do, as far as nothing better is known (Spec §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether they think before they answer, with an effort that can be set.
    pub reasoning: bool,
    /// Whether replies come as streams.
    pub streaming: bool,
    /// Whether one reply may hold several calls.
    pub parallel_tool_calls: bool,
    /// How many tokens a call may have, input and output together.
    pub context_window: u32,
    /// Whether calls are to be looked for in the text.
    pub text_calls: TextCalls,
}

impl Profile {
    /// The profile of that family under that vocabulary. Small models have the specification's
    /// only.
    #[must_use]
    pub const fn new(kind: ProfileKind, vocabulary: Vocabulary) -> Self {
        match kind {
            ProfileKind::Small => Self { kind, vocabulary: Vocabulary::Seed },
            _ => Self { kind, vocabulary },
        }
    }

    /// The profile that a model's configuration names.
    #[must_use]
    pub const fn of(model: &ModelConfig) -> Self {
        Self::new(model.profile, model.vocabulary)
    }

    /// The tools that become actions, as the model is shown them; those that nothing here could
    /// carry out are left out.
    #[must_use]
    pub fn tools(self, facts: &Facts) -> Vec<ToolSpec> {
        let ms = self.default_command_ms().unwrap_or(DEFAULT_COMMAND_MS);
        let mut tools = match (self.kind, self.vocabulary) {
            (ProfileKind::Openai, Vocabulary::Seed) => openai::seed_tools(ms),
            (ProfileKind::Openai, Vocabulary::Native) => openai::native_tools(ms),
            (ProfileKind::Anthropic, Vocabulary::Seed) => anthropic::seed_tools(ms),
            (ProfileKind::Anthropic, Vocabulary::Native) => anthropic::native_tools(ms),
            (ProfileKind::Gemini, Vocabulary::Seed) => gemini::seed_tools(ms),
            (ProfileKind::Gemini, Vocabulary::Native) => gemini::native_tools(ms),
            (ProfileKind::Small, _) => small::seed_tools(ms),
        };
        tools.retain(|tool| !plan::is_tool(&tool.name));
        shell::retain_runnable(&mut tools, facts);
        if (self.kind, self.vocabulary) == (ProfileKind::Openai, Vocabulary::Native) {
            openai::retain_needed(&mut tools);
        }
        if self.kind == ProfileKind::Small {
            small::retain_few(&mut tools);
        }
        tools
    }

    /// The tools whose calls never leave the core: the family's plan, where it has one.
    #[must_use]
    pub fn inner_tools(self) -> Vec<ToolSpec> {
        let mut tools = match (self.kind, self.vocabulary) {
            (_, Vocabulary::Seed) | (ProfileKind::Small, _) => Vec::new(),
            (ProfileKind::Openai, _) => openai::native_tools(0),
            (ProfileKind::Anthropic, _) => anthropic::native_tools(0),
            (ProfileKind::Gemini, _) => gemini::native_tools(0),
        };
        tools.retain(|tool| plan::is_tool(&tool.name));
        tools
    }

    /// Whether a tool has no use but to show an image.
    #[must_use]
    pub fn shows_images(name: &str) -> bool {
        name == "view_image"
    }

    /// Whether the family's models may start agents: small ones have enough to choose from.
    #[must_use]
    pub const fn starts_agents(self) -> bool {
        !matches!(self.kind, ProfileKind::Small)
    }

    /// A call of one of the tools in canonical form. The facts are those that the tools were
    /// offered under.
    ///
    /// # Errors
    /// A sentence for the model where the name or the arguments are not the profile's.
    pub fn translate(
        self,
        facts: &Facts,
        name: &str,
        arguments: &str,
    ) -> Result<Translated, String> {
        let translate = match (self.kind, self.vocabulary) {
            (_, Vocabulary::Seed) | (ProfileKind::Small, _) => seed::translate,
            (ProfileKind::Openai, _) => openai::translate,
            (ProfileKind::Anthropic, _) => anthropic::translate,
            (ProfileKind::Gemini, _) => gemini::translate,
        };
        translate(facts, name, arguments)
    }

    /// What the model reads of an action's outcome in the form that its family knows; `None`
    /// where that is what the tool says. `timeout_ms` was the run's time limit.
    #[must_use]
    pub fn present(self, action: &Action, outcome: &Outcome, timeout_ms: u64) -> Option<String> {
        match outcome.error {
            // What a tool or a program said itself; everything else is in our own words.
            None
            | Some(
                ToolError::Exit
                | ToolError::Timeout
                | ToolError::Limit
                | ToolError::EditConflict
                | ToolError::InvalidArguments,
            ) => {}
            Some(_) => return None,
        }
        match (self.kind, self.vocabulary) {
            (_, Vocabulary::Seed) | (ProfileKind::Small, _) => seed::present(action, outcome),
            (ProfileKind::Openai, _) => openai::present(action, outcome, timeout_ms),
            (ProfileKind::Anthropic, _) => anthropic::present(action, outcome),
            (ProfileKind::Gemini, _) => gemini::present(action, outcome),
        }
    }

    /// What the model is told below the output of a run that its time limit ended (Spec §5.4).
    #[must_use]
    pub fn timeout_note(self, name: &str, timeout_ms: u64) -> Option<String> {
        let parameter = match name {
            // Says so itself, in front of the output.
            "shell_command" => return None,
            "run_shell_command" => "",
            "Bash" => "timeout",
            _ => "timeout_ms",
        };
        let advice = match parameter {
            "" => String::new(),
            name => {
                format!(" You can retry with a longer timeout by setting the {name} parameter.")
            }
        };
        Some(format!(
            "[ERROR: Command timed out after {timeout_ms}ms. Partial output is shown \
             above.{advice}]"
        ))
    }

    /// How much of a tool's output the model reads if the configuration does not say (Spec §5.2,
    /// §5.3).
    #[must_use]
    pub fn output_limit(self, name: &str) -> OutputLimit {
        seed::output_limit(name)
    }

    /// The base instructions (Spec §6.2).
    #[must_use]
    pub const fn base_prompt(self) -> &'static str {
        match self.kind {
            ProfileKind::Openai => openai::BASE_PROMPT,
            ProfileKind::Anthropic => anthropic::BASE_PROMPT,
            ProfileKind::Gemini => gemini::BASE_PROMPT,
            ProfileKind::Small => small::BASE_PROMPT,
        }
    }

    /// The time limit of a program's run whose call names none, in milliseconds, where the family
    /// has its own (Spec §3.5).
    #[must_use]
    pub const fn default_command_ms(self) -> Option<u64> {
        match self.kind {
            ProfileKind::Anthropic => Some(120_000),
            ProfileKind::Openai | ProfileKind::Gemini | ProfileKind::Small => None,
        }
    }

    /// What the family's models can do.
    #[must_use]
    pub const fn capabilities(self) -> Capabilities {
        let (large, context_window) = match self.kind {
            ProfileKind::Openai => (true, 272_000),
            ProfileKind::Anthropic => (true, 200_000),
            ProfileKind::Gemini => (true, 1_048_576),
            ProfileKind::Small => (false, 32_768),
        };
        Capabilities {
            reasoning: large,
            streaming: true,
            parallel_tool_calls: large,
            context_window,
            text_calls: if large { TextCalls::Never } else { TextCalls::Fallback },
        }
    }

    /// A model's configuration as the family wants it; endpoint, protocol and name are left to be
    /// filled in.
    #[must_use]
    pub fn model_defaults(self) -> ModelConfig {
        let capabilities = self.capabilities();
        let plain = ModelConfig::default();
        let quarter = capabilities.context_window / 4;
        ModelConfig {
            profile: self.kind,
            vocabulary: self.vocabulary,
            context_window: capabilities.context_window,
            max_output_tokens: plain.max_output_tokens.min(quarter),
            parallel_tool_calls: (!capabilities.parallel_tool_calls).then_some(false),
            stream: capabilities.streaming,
            text_calls: capabilities.text_calls,
            ..plain
        }
    }
}

/// The names of the project's instruction files that the family reads (Spec §6.5).
#[must_use]
pub const fn doc_names(kind: ProfileKind) -> &'static [&'static str] {
    match kind {
        ProfileKind::Openai => &["AGENTS.md", ".codex/instructions.md"],
        ProfileKind::Anthropic => &["AGENTS.md", "CLAUDE.md"],
        ProfileKind::Gemini => &["AGENTS.md", "GEMINI.md"],
        ProfileKind::Small => &["AGENTS.md"],
    }
}

/// Where instruction files may stand, in the order in which they are shown: from the folder `root`
/// down to the folder `below` it, both with `/` between names and empty for the topmost.
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
    let place = |folder: &String, name: &str| {
        if folder.is_empty() { name.into() } else { format!("{folder}/{name}") }
    };
    let names = doc_names(kind);
    folders.iter().flat_map(|folder| names.iter().map(move |name| place(folder, name))).collect()
}
