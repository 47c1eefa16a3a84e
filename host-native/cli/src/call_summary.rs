//! The summary of a call in words, the same whatever the model's vocabulary names the tool. The
//! transcript, questions, reports and lists use it. A summary is one harmless line; `is_all` is
//! true only if nothing of the call is missing from it, since a person may allow it by that.

use super::{patch_reader::PatchReader, style::brief};
use innerloop_core::{
    Profile,
    action::{Action, FilePatch, GrepQuery, Patch},
    config::{EnvironmentFacts, SessionConfig},
    json::{Json, JsonObject},
    message::ToolCall,
};
use std::{borrow::Cow, collections::BTreeMap};

/// The most characters of a name, and of a value.
const NAME: usize = 40;
const VALUE: usize = 60;

/// The most characters of the text after the verb.
const REST: usize = 200;

/// The lines of a file that a call reads by default.
const USUAL: u64 = 2_000;

/// The most items of a list that are named.
const NAMED: usize = 4;

/// The describer of calls of a session's tools.
#[derive(Clone, Debug)]
pub(super) struct CallDescriber {
    profile: Profile,
    facts: EnvironmentFacts,
    /// The user's own tools, which may have the names of built-in ones.
    own: Vec<String>,
    /// The calls whose beginning an earlier program has shown, by id.
    told: BTreeMap<String, CallDescription>,
    patches: PatchReader,
}

/// A call in words; neither part can steer the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallDescription {
    /// The verb for what is done, or the tool's name.
    pub(super) verb: String,
    /// The object of the verb; empty if there is nothing to say.
    pub(super) rest: String,
    /// True if these words say everything that the call says.
    pub(super) is_all: bool,
    /// True if its changes say everything about its result.
    pub(super) is_edit: bool,
}

impl CallDescriber {
    /// Describes the calls of a session with that configuration.
    pub(super) fn new(config: &SessionConfig) -> Self {
        let own = config.tools.iter().map(|tool| tool.name.clone()).collect();
        let (profile, facts) = (Profile::of(&config.model), config.facts.clone());
        Self { profile, facts, own, told: BTreeMap::new(), patches: PatchReader::default() }
    }

    /// Adds calls whose beginning an earlier program has shown.
    pub(super) fn with_told(mut self, calls: Vec<ToolCall>) -> Self {
        for call in calls {
            let phrase = self.phrase(&call.name, &call.arguments);
            self.told.insert(call.id, phrase);
        }
        self
    }

    /// Returns the call of that id in the words of its beginning, or else its tool's name.
    pub(super) fn told(&self, id: &str, name: &str) -> CallDescription {
        self.told.get(id).cloned().unwrap_or_else(|| CallDescription::name(name))
    }

    /// Returns the action that the call means, if it is a call of a built-in tool.
    pub(super) fn action(&self, name: &str, arguments: &str) -> Option<Action> {
        // The user's own tool replaces a built-in one of the same name, and means something else.
        if self.own.iter().any(|own| own == name) {
            return None;
        }
        Some(self.profile.translate(&self.facts, name, arguments).ok()?.action)
    }

    /// Returns the call in words.
    pub(super) fn phrase(&self, name: &str, arguments: &str) -> CallDescription {
        let action = self.action(name, arguments);
        let other = || CallDescription::new(&brief(name, NAME), &named(arguments), false);
        action.map_or_else(other, |action| self.phrase_of(&action))
    }

    /// Returns an action in words.
    pub(super) fn phrase_of(&self, action: &Action) -> CallDescription {
        let (verb, rest, is_all) = told(action, &self.patches);
        let is_edit =
            matches!(action, Action::Write { .. } | Action::Edit { .. } | Action::Patch { .. });
        CallDescription { is_edit, ..CallDescription::new(verb, &rest, is_all) }
    }

    /// Returns the reader of its calls' patches.
    pub(super) const fn patches(&self) -> &PatchReader {
        &self.patches
    }
}

impl CallDescription {
    /// Returns a description of nothing but a tool's name.
    pub(super) fn name(name: &str) -> Self {
        Self::new(&brief(name, NAME), "", false)
    }

    fn new(verb: &str, rest: &str, is_all: bool) -> Self {
        let whole = brief(rest, usize::MAX);
        let rest_in_brief = brief(rest, REST);
        // Neither cut nor with anything escaped or joined: only then do the words say it all.
        let is_all = is_all && rest == whole && whole == rest_in_brief;
        Self { verb: verb.to_owned(), rest: rest_in_brief, is_all, is_edit: false }
    }

    /// Returns a label such as `shell: cargo test`, in at most that many characters.
    pub(super) fn label(&self, chars: usize) -> String {
        if self.rest.is_empty() {
            return brief(&self.verb, chars);
        }
        brief(&format!("{}: {}", self.verb, self.rest), chars)
    }
}

/// Returns the verb, its object, and whether they say everything about the action.
fn told(action: &Action, patches: &PatchReader) -> (&'static str, String, bool) {
    let place = |path: &Option<String>| match path.as_deref() {
        None | Some("" | ".") => String::new(),
        Some(path) => format!(" in {path}"),
    };
    match action {
        Action::Read { path, offset, limit, .. } => {
            ("read", format!("{path}{}", lines(*offset, *limit)), true)
        }
        Action::ViewImage { path } => ("view", path.clone(), true),
        Action::ReadMany { include, exclude, .. } => {
            let without = match exclude.as_slice() {
                [] => String::new(),
                exclude => format!(" without {}", listed(exclude)),
            };
            let is_all = include.len().max(exclude.len()) <= NAMED;
            ("read", format!("{}{without}", listed(include)), is_all)
        }
        Action::Write { path, content, .. } => {
            let count = content.lines().count();
            let plural = if count == 1 { "" } else { "s" };
            ("write", format!("{path} ({count} line{plural})"), false)
        }
        Action::Edit { path, all, .. } => {
            let everywhere = if *all { " (everywhere)" } else { "" };
            ("edit", format!("{path}{everywhere}"), false)
        }
        Action::Patch { patch, .. } => {
            let patch = patches.read(patch);
            ("patch", patch.map(|patch| patched(&patch)).unwrap_or_default(), false)
        }
        Action::List { path, depth, .. } => {
            let depth = if *depth > 1 { format!(" ({depth} levels)") } else { String::new() };
            let path = path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
            ("list", format!("{path}{depth}"), true)
        }
        Action::Glob { pattern, path, .. } => ("find", format!("{pattern}{}", place(path)), true),
        Action::Grep(grep) => ("grep", searched(grep), false),
        Action::RunProgram { program, args, stdin } => {
            let words = std::iter::once(program).chain(args).map(|word| quoted(word));
            ("run", words.collect::<Vec<_>>().join(" "), stdin.is_none())
        }
        Action::Shell { command, folder } => {
            let patch = patches.read_line(command).filter(|_| folder.is_none());
            if let Some(patch) = patch {
                return ("shell", format!("apply_patch {}", patched(&patch)), false);
            }
            let folder = folder.as_deref().filter(|folder| !folder.is_empty());
            let folder = folder.map(|folder| format!(" (in {folder})")).unwrap_or_default();
            // A command line may itself end like ` (in src)`: with a folder the words are
            // ambiguous.
            let is_all = folder.is_empty();
            ("shell", format!("{command}{folder}"), is_all)
        }
        Action::Fetch { urls, prompt } => {
            ("fetch", listed(urls), prompt.is_none() && urls.len() <= NAMED)
        }
    }
}

/// Returns a range such as ` (lines 10–40)`; empty if a file is read from its start up to the
/// default number of lines.
fn lines(offset: Option<u64>, limit: Option<u64>) -> String {
    match (offset.map(|offset| offset.max(1)), limit) {
        (None | Some(1), Some(USUAL)) => String::new(),
        (None, None) => String::new(),
        (Some(first), None) => format!(" (from line {first})"),
        (first, Some(1)) => format!(" (line {})", first.unwrap_or(1)),
        (first, Some(limit)) => {
            let first = first.unwrap_or(1);
            format!(" (lines {first}–{})", first.saturating_add(limit.saturating_sub(1)))
        }
    }
}

/// Returns a search such as `"fn main" in src (*.rs)`.
fn searched(grep: &GrepQuery) -> String {
    let place = grep.path.as_deref().filter(|path| !matches!(*path, "" | "."));
    let place = place.map(|path| format!(" in {path}")).unwrap_or_default();
    let only: Vec<&str> =
        grep.glob.as_deref().into_iter().chain(grep.file_type.as_deref()).collect();
    let only = if only.is_empty() { String::new() } else { format!(" ({})", only.join(", ")) };
    format!("\"{}\"{place}{only}", grep.pattern)
}

/// Returns the files of a patch in words.
fn patched(patch: &Patch) -> String {
    let mut paths: Vec<&str> = Vec::new();
    for file in &patch.files {
        let (FilePatch::Add { path, .. }
        | FilePatch::Delete { path }
        | FilePatch::Update { path, .. }) = file;
        if !paths.contains(&path.as_str()) && paths.len() <= NAMED {
            paths.push(path);
        }
    }
    match paths.as_slice() {
        [] => String::new(),
        [path] => (*path).to_owned(),
        _ => format!("{} files: {}", patch.files.len(), listed(&paths)),
    }
}

/// Returns the first names of a list.
fn listed(names: &[impl AsRef<str>]) -> String {
    let mut named: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    if names.len() > NAMED {
        named.push("…");
    }
    named.join(", ")
}

/// Returns a word of a command line, in quotes if a shell would not read it as one without.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Returns arguments as `key: value, …`, or as they are if they are not an object.
fn named(arguments: &str) -> String {
    let Ok(fields) = serde_json::from_str::<JsonObject>(arguments) else {
        return arguments.to_owned();
    };
    let fields = fields.0.iter().map(|(name, value)| {
        format!("{}: {}", brief(name, NAME), brief(&value_text(value), VALUE))
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn value_text(value: &Json) -> String {
    if let Ok(text) = serde_json::from_str::<String>(value.text()) {
        return text;
    }
    match serde_json::from_str::<Vec<JsonObject>>(value.text()) {
        Ok(items) if items.len() == 1 => "1 item".to_owned(),
        Ok(items) if !items.is_empty() => format!("{} items", items.len()),
        _ => value.text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::config::{ModelConfig, ProgramFacts};
    use serde_json::{Value, json};

    fn words(profile: &str, vocabulary: &str) -> CallDescriber {
        let mut config = SessionConfig::default();
        let model = json!({"profile": profile, "vocabulary": vocabulary});
        config.model = serde_json::from_value::<ModelConfig>(model).unwrap();
        let program = |name: &str| {
            let program = json!({"name": name, "description": ""});
            serde_json::from_value::<ProgramFacts>(program).unwrap()
        };
        config.facts.programs = vec![program("bash"), program("qjs")];
        CallDescriber::new(&config)
    }

    fn told(words: &CallDescriber, name: &str, arguments: &Value) -> String {
        let phrase = words.phrase(name, &arguments.to_string());
        format!("{} {}", phrase.verb, phrase.rest)
    }

    #[test]
    fn the_same_call_has_the_same_words_in_all_vocabularies() {
        let command = json!({"command": "cargo test --all"});
        let file = json!({"file_path": "src/main.rs"});
        let cases = [
            ("anthropic", "seed", "read_file", &file, "read src/main.rs"),
            ("anthropic", "native", "Read", &file, "read src/main.rs"),
            ("gemini", "native", "read_file", &file, "read src/main.rs"),
            ("small", "native", "read_file", &file, "read src/main.rs"),
            ("openai", "native", "read_file", &file, "read src/main.rs"),
            ("anthropic", "seed", "shell", &command, "shell cargo test --all"),
            ("anthropic", "native", "Bash", &command, "shell cargo test --all"),
            ("gemini", "native", "run_shell_command", &command, "shell cargo test --all"),
            ("openai", "native", "shell_command", &command, "shell cargo test --all"),
        ];
        for (profile, vocabulary, name, arguments, want) in cases {
            let words = words(profile, vocabulary);
            assert_eq!(told(&words, name, arguments), want, "{profile} {vocabulary}");
        }
    }

    #[test]
    fn each_call_says_what_it_does() {
        let words = words("anthropic", "seed");
        let patch = "*** Begin Patch\n*** Add File: b\n+x\n*** Delete File: c\n*** End Patch";
        let cases = [
            (
                "read_file",
                json!({"file_path": "a b", "offset": 10, "limit": 31}),
                "read a b (lines 10–40)",
            ),
            ("read_file", json!({"file_path": "a", "offset": 7, "limit": 1}), "read a (line 7)"),
            ("write_file", json!({"file_path": "a", "content": "x"}), "write a (1 line)"),
            (
                "edit_file",
                json!({"file_path": "a", "old_string": "x", "new_string": "", "replace_all": true}),
                "edit a (everywhere)",
            ),
            ("apply_patch", json!({"patch": patch}), "patch 2 files: b, c"),
            ("list_dir", json!({"path": "src", "depth": 2}), "list src (2 levels)"),
            ("glob", json!({"pattern": "**/*.rs", "path": "src"}), "find **/*.rs in src"),
            (
                "grep",
                json!({"pattern": "fn main", "path": "src", "glob_filter": "*.rs"}),
                "grep \"fn main\" in src (*.rs)",
            ),
            (
                "run_program",
                json!({"program": "qjs", "args": ["-e", "1 + 'a'"]}),
                r"run qjs -e '1 + '\''a'\'''",
            ),
            ("shell", json!({"command": "a  b\nc"}), "shell a b c"),
            (
                "shell",
                json!({"command": format!("apply_patch <<'EOF'\n{patch}\nEOF")}),
                "shell apply_patch 2 files: b, c",
            ),
            (
                "shell",
                json!({"command": "apply_patch <<EOF\n$(rm a)\nEOF"}),
                "shell apply_patch <<EOF $(rm a) EOF",
            ),
            (
                "own",
                json!({"text": "two\nlines", "n": [1, 2], "of": [{}]}),
                "own n: [1,2], of: 1 item, text: two lines",
            ),
            ("own\u{1b}", json!(["x"]), "own\\u001b [\"x\"]"),
        ];
        for (name, arguments, want) in cases {
            assert_eq!(told(&words, name, &arguments), want, "{name}");
        }
        let is_all = |arguments: Value| words.phrase("shell", &arguments.to_string()).is_all;
        assert!(is_all(json!({"command": "cargo test"})));
        assert!(!is_all(json!({"command": "a\nb"})), "the lines are shown below");
        assert!(!is_all(json!({"command": "x".repeat(500)})));
        assert!(!words.phrase("write_file", r#"{"file_path": "a", "content": "x"}"#).is_all);
    }

    #[test]
    fn a_tool_of_the_users_own_is_no_built_in_one() {
        let mut words = words("anthropic", "seed");
        words.own.push("read_file".to_owned());
        assert_eq!(told(&words, "read_file", &json!({"file_path": "a"})), "read_file file_path: a");
    }
}
