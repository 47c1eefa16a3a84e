//! Floor 3: what a model family is shown: its tools, its base prompt, its defaults. A profile
//! translates the model's vocabulary to canonical actions and knows nothing of wires.

mod anthropic;
pub mod inner;
mod translated;

pub use translated::Translated;

use crate::{
    nouns::{
        config::{Facts, ModelConfig, ProfileKind, Vocabulary},
        tool::ToolSpec,
    },
    rules::truncate::OutputLimit,
};
use alloc::{format, string::String, vec::Vec};

/// A model family under one of its two vocabularies (Spec §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    kind: ProfileKind,
    vocabulary: Vocabulary,
}

impl Profile {
    /// The profile of that family under that vocabulary.
    #[must_use]
    pub const fn new(kind: ProfileKind, vocabulary: Vocabulary) -> Self {
        Self { kind, vocabulary }
    }

    /// The profile that a model's configuration names.
    #[must_use]
    pub const fn of(model: &ModelConfig) -> Self {
        Self::new(model.profile, model.vocabulary)
    }

    /// The tools, as the model is shown them.
    #[must_use]
    pub fn tools(self, facts: &Facts) -> Vec<ToolSpec> {
        match (self.kind, self.vocabulary) {
            _ => anthropic::tools(facts),
        }
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
        let _ = facts;
        match (self.kind, self.vocabulary) {
            _ => anthropic::translate(name, arguments),
        }
    }

    /// How much of a tool's output the model reads if the configuration does not say (Spec §5.2,
    /// §5.3; searches keep their beginning, CONFLICTS X4).
    #[must_use]
    pub fn output_limit(self, name: &str) -> OutputLimit {
        anthropic::output_limit(name)
    }

    /// The base instructions.
    #[must_use]
    pub const fn base_prompt(self) -> &'static str {
        anthropic::BASE_PROMPT
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
