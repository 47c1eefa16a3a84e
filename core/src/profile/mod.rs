//! Floor 3: what a model family is shown: its tools, its base prompt, its defaults. A profile
//! translates the model's vocabulary to canonical actions and knows nothing of wires.

mod anthropic;
pub mod inner;
mod translated;

pub use translated::Translated;

use crate::{
    nouns::{
        config::{Facts, ProfileKind},
        tool::ToolSpec,
    },
    rules::truncate::OutputLimit,
};
use alloc::{format, string::String, vec::Vec};

/// The tools of the profile, as the model is shown them.
#[must_use]
pub fn tools(profile: ProfileKind, facts: &Facts) -> Vec<ToolSpec> {
    match profile {
        _ => anthropic::tools(facts),
    }
}

/// A call of one of the profile's tools in canonical form.
///
/// # Errors
/// A sentence for the model where the name or the arguments are not the profile's.
pub fn translate(profile: ProfileKind, name: &str, arguments: &str) -> Result<Translated, String> {
    match profile {
        _ => anthropic::translate(name, arguments),
    }
}

/// How much of a tool's output the model reads if the configuration does not say (Spec §5.2,
/// §5.3; searches keep their beginning, CONFLICTS X4).
#[must_use]
pub fn output_limit(profile: ProfileKind, name: &str) -> OutputLimit {
    match profile {
        _ => anthropic::output_limit(name),
    }
}

/// The names of the project's instruction files that the family reads (Spec §6.5).
#[must_use]
pub const fn doc_names(profile: ProfileKind) -> &'static [&'static str] {
    match profile {
        _ => &["AGENTS.md", "CLAUDE.md"],
    }
}

/// Where instruction files may stand, in the order in which they are shown: from the folder `root`
/// down to the folder `below` it, both with `/` between names and empty for the topmost.
#[must_use]
pub fn doc_places(profile: ProfileKind, root: &str, below: &str) -> Vec<String> {
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
    let names = doc_names(profile);
    folders.iter().flat_map(|folder| names.iter().map(move |name| place(folder, name))).collect()
}

/// The base instructions.
#[must_use]
pub const fn base_prompt(profile: ProfileKind) -> &'static str {
    match profile {
        _ => anthropic::BASE_PROMPT,
    }
}

/// The time limit of a program's run whose call names none, in milliseconds, where the family
/// has its own (Spec §3.5).
#[must_use]
pub const fn default_command_ms(profile: ProfileKind) -> Option<u64> {
    match profile {
        _ => Some(120_000),
    }
}
