//! The table of all settings: their names, the values they take, and whether a project's file may
//! set them. `layer` reads by it and `list` prints it; a new setting is a new row.

use crate::{
    args::{ApprovalLevel, ChangesSetting, ColourChoice, FileBackend, PresetName, ToolVocabulary},
    style::brief,
};
use clap::ValueEnum;
use innerloop_driver::providers;
use strsim::osa_distance;

/// The kind of value that a setting takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum SettingKind {
    /// Any text but an empty one.
    Text,
    /// One of these words.
    Word(fn() -> Vec<String>),
    /// A whole number, no less than this.
    Number(u32),
    /// The point at which a conversation is summed up.
    Compact,
    /// The tools that requests show.
    ToolsShown,
    /// A list of texts.
    Texts,
    /// The path of a file or folder; a relative one in a settings file begins in its folder.
    Path,
    /// A list of such paths.
    Paths,
}

/// A setting.
#[derive(Debug)]
pub(super) struct SettingSpec {
    /// Its name in files; in the environment it is in capitals, after `INNERLOOP_`.
    pub(super) name: &'static str,
    pub(super) kind: SettingKind,
    /// The value if nobody sets one.
    pub(super) default: &'static str,
    /// True if a project's file may set it.
    pub(super) of_projects: bool,
    /// Its field of the session's configuration, if it has one; else empty.
    pub(super) field: &'static [&'static str],
}

const fn row(name: &'static str, kind: SettingKind, default: &'static str) -> SettingSpec {
    SettingSpec { name, kind, default, of_projects: false, field: &[] }
}

impl SettingSpec {
    const fn of_projects(self) -> Self {
        Self { of_projects: true, ..self }
    }

    const fn sets(self, field: &'static [&'static str]) -> Self {
        Self { field, ..self }
    }

    /// Returns the variable of the environment that sets it. A list has none, nor has `base_url`:
    /// each provider has a variable of its own for that.
    pub(super) fn variable(&self) -> Option<String> {
        let is_list = matches!(self.kind, SettingKind::Texts | SettingKind::Paths);
        let is_said = !is_list && self.name != "base_url";
        is_said.then(|| format!("INNERLOOP_{}", self.name.to_uppercase()))
    }
}

/// All settings. `[config]`, `[hooks]` and `[providers.NAME]` are tables beside them.
pub(super) const ROWS: &[SettingSpec] = &[
    row("provider", SettingKind::Word(providers), "anthropic, or the one whose key is set"),
    row("model", SettingKind::Text, "the provider's").of_projects().sets(&["model", "name"]),
    row("base_url", SettingKind::Text, "the provider's"),
    row("fallback", SettingKind::Texts, "none"),
    row("cheap_model", SettingKind::Text, "none"),
    row("approve", SettingKind::Word(words::<ApprovalLevel>), "by what is run where")
        .of_projects()
        .sets(&["approval", "ask"]),
    row("preset", SettingKind::Word(words::<PresetName>), "the provider's, else modern"),
    row("vocabulary", SettingKind::Word(words::<ToolVocabulary>), "the preset's")
        .of_projects()
        .sets(&["model", "vocabulary"]),
    row("effort", SettingKind::Text, "the provider's")
        .of_projects()
        .sets(&["model", "reasoning_effort"]),
    row("max_turns", SettingKind::Number(0), "the preset's")
        .of_projects()
        .sets(&["limits", "max_turns"]),
    row("max_tool_rounds", SettingKind::Number(0), "the preset's, else 200")
        .of_projects()
        .sets(&["limits", "max_tool_rounds_per_input"]),
    row("max_output_tokens", SettingKind::Number(1), "the model's, up to 32,000")
        .of_projects()
        .sets(&["model", "max_output_tokens"]),
    row("context_window", SettingKind::Number(1), "the model's")
        .of_projects()
        .sets(&["model", "context_window"]),
    row("compact", SettingKind::Compact, "auto, as the preset has it").sets(&["compaction"]),
    row("tools_shown", SettingKind::ToolsShown, "30").sets(&["tools_shown"]),
    row("keep_results", SettingKind::Word(switches), "off").sets(&["results"]),
    row("mode", SettingKind::Word(words::<ChangesSetting>), "ask"),
    row("isolation", SettingKind::Word(words::<FileBackend>), "native"),
    row("allow", SettingKind::Texts, "none"),
    row("allow_domain", SettingKind::Texts, "none"),
    row("tool", SettingKind::Paths, "none"),
    row("programs", SettingKind::Path, "those that are installed"),
    row("betas", SettingKind::Texts, "none").sets(&["model", "betas"]),
    row("base_prompt", SettingKind::Path, "the program's own").sets(&["base_prompt"]),
    row("models", SettingKind::Path, "the catalogue that comes along"),
    row("color", SettingKind::Word(words::<ColourChoice>), "auto"),
];

/// The tables beside them.
pub(super) const CONFIG: &str = "config";
pub(super) const HOOKS: &str = "hooks";
pub(super) const PROVIDERS: &str = "providers";

/// The keys that `[providers.NAME]` may have.
pub(super) const OF_PROVIDER: [&str; 3] = ["base_url", "model", "api_key_env"];

/// Fields of the configuration that a project's file may set: how much of a tool's output the model
/// reads. Any other field could widen what the user has granted.
pub(super) const OF_PROJECTS: [&str; 3] =
    ["tool_line_limits", "tool_output_limits", "tool_output_percent"];

/// Returns the setting of that name.
pub(super) fn find(name: &str) -> Option<&'static SettingSpec> {
    ROWS.iter().find(|row| row.name == name)
}

/// The most characters of a name in a message; longer names are cut.
const LONGEST: usize = 64;

/// Returns the message about an unknown name: with the one that was probably meant, or with all.
pub(super) fn unknown<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let name = &*brief(name, LONGEST);
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let wanted = plain(name);
    let length = wanted.chars().count();
    let distances = known.iter().map(|other| (osa_distance(&plain(other), &wanted), other));
    // More than a third of the letters wrong is a different word, not a typing error.
    let near = distances.filter(|(distance, _)| *distance <= length / 3);
    match near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other) {
        Some(nearest) => format!("there is no {name}; do you mean {nearest}?"),
        None => format!("there is no {name}; known: {}", known.join(", ")),
    }
}

/// Returns all names at the top level of a file.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name).chain([CONFIG, HOOKS, PROVIDERS])
}

fn providers() -> Vec<String> {
    providers::all().into_iter().map(|provider| provider.name).collect()
}

fn switches() -> Vec<String> {
    ["on", "off"].map(str::to_owned).into()
}

fn words<T: ValueEnum>() -> Vec<String> {
    let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_was_meant_is_told() {
        let cases = [
            ("modle", "there is no modle; do you mean model?"),
            ("max-turns", "there is no max-turns; do you mean max_turns?"),
            ("Provider", "there is no Provider; do you mean provider?"),
            ("allow_domains", "there is no allow_domains; do you mean allow_domain?"),
        ];
        for (name, want) in cases {
            assert_eq!(unknown(name, names()), want);
        }
        let all = unknown("quux", names());
        assert!(all.contains("known: provider, model") && all.ends_with("providers"), "{all}");
        let _ = unknown(&"x".repeat(1 << 20), names());
    }
}
