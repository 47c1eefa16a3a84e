//! Agents that can be started by name, from files: `.agents/agents/NAME.md` and
//! `.claude/agents/NAME.md` of a project, and the first of the two in the user's home. A file
//! begins with its front matter, between two lines of `---`; what is below is the agent's prompt.
//! Of YAML only what such files hold is read: texts, lists of names, and texts over several lines.

use super::{plain_files::FolderHandle, repository};
use innerloop_core::config::NamedAgent;
use innerloop_workspace::{Workspace, plain_file};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The folders of a project that may hold such files, the one that goes before first.
const FOLDERS: [&str; 2] = [".agents/agents", ".claude/agents"];

/// The most files of one folder, in the order of their names.
const MOST_FILES: usize = 64;

/// The most bytes of a user's file; those of projects have the same limit.
const MOST_BYTES: u64 = 64 << 10;

/// The words that stand for a model in files of other programs: they are no names that an endpoint
/// knows.
const ALIASES: [&str; 5] = ["inherit", "default", "sonnet", "opus", "haiku"];

/// A file that describes an agent.
#[derive(Clone, Debug)]
pub struct AgentFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Returns the files of a project: those of the workspace or, if it has none, of the repository
/// that it is in. Links are not followed.
#[must_use]
pub fn of_project(workspace: &Workspace) -> Vec<AgentFile> {
    in_project(workspace, &FOLDERS)
        .into_iter()
        .map(|(path, text)| AgentFile { path, text })
        .collect()
}

/// Returns the user's own files.
#[must_use]
pub fn of_user() -> Vec<AgentFile> {
    in_home(".agents/agents").into_iter().map(|(path, text)| AgentFile { path, text }).collect()
}

/// Returns the paths and texts of the Markdown files in these folders of a project, or else of the
/// repository that it is in.
pub(super) fn in_project(workspace: &Workspace, folders: &[&str]) -> Vec<(PathBuf, String)> {
    let own = in_folders(&FolderHandle::of(workspace), folders);
    // A look at the paths is faster than finding the repository, which hardly any folder needs.
    let mut above = workspace.root().ancestors().skip(1);
    if !own.is_empty() || !above.any(|top| folders.iter().any(|name| top.join(name).is_dir())) {
        return own;
    }
    repository::find(workspace).map(|found| in_folders(&found.root, folders)).unwrap_or_default()
}

/// Returns the paths and texts of the Markdown files in that folder of the user's home.
pub(super) fn in_home(folder: &str) -> Vec<(PathBuf, String)> {
    let Some(folder) = env::home_dir().map(|home| home.join(folder)) else {
        return Vec::new();
    };
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let read = |name: String| {
        let path = folder.join(name);
        // Links are followed here: people keep their settings elsewhere and link to them.
        let text = plain_file::text(&path, MOST_BYTES).ok()?;
        Some((path, text))
    };
    chosen(names).into_iter().filter_map(read).collect()
}

/// Returns the files below a folder that is held open.
fn in_folders(top: &FolderHandle, folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for folder in folders {
        let entries = top.list(folder).into_iter().flatten();
        for name in chosen(entries.filter_map(|entry| entry.name.into_string().ok())) {
            let below = format!("{folder}/{name}");
            let Some(text) = top.text(&below) else { continue };
            files.push((top.path().join(below), text));
        }
    }
    files
}

/// Returns the names of the files that count, sorted.
fn chosen(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    names.sort_unstable();
    names.truncate(MOST_FILES);
    names
}

impl AgentFile {
    /// Returns the name of the agent and what the file says of it.
    ///
    /// # Errors
    /// The reason why the file describes no agent.
    pub fn agent(&self) -> Result<(String, NamedAgent), String> {
        let (head, prompt) = parts(&self.text).ok_or("it does not begin with front matter")?;
        let fields = fields(head);
        let value = |name: &str| {
            let found = fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            found.filter(|value| !value.is_empty())
        };
        let stem = || self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = value("name").or_else(stem).unwrap_or_default();
        // Names are words of the model's: one that is written so is called by that name.
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(is_word) {
            return Err(format!("its name {name:?} is not made of letters, digits, - and _"));
        }
        let tools = value("tools").filter(|tools| tools != "*").map(|tools| list(&tools));
        let turns = value("max_turns").or_else(|| value("maxTurns"));
        let max_turns = match turns {
            Some(turns) => {
                turns.parse().map_err(|_| format!("max_turns is no whole number: {turns}"))?
            }
            None => 0,
        };
        let agent = NamedAgent {
            description: value("description").unwrap_or_default(),
            prompt: prompt.trim().to_owned(),
            model: value("model").filter(|model| !ALIASES.contains(&model.as_str())),
            tools,
            max_turns,
        };
        Ok((name, agent))
    }

    /// Returns the folder that the file is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// Returns the front matter and what is below it.
pub(super) fn parts(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

/// Returns the fields of front matter. Lines that are indented, or items of a list, go on with the
/// field above them.
pub(super) fn fields(head: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in head.lines() {
        let is_more = line.starts_with([' ', '\t', '-']);
        if let Some((_, value)) = fields.last_mut().filter(|_| is_more) {
            let item = line.trim().strip_prefix("- ").map(unquoted);
            let separator = if item.is_some() { "," } else { " " };
            if !value.is_empty() {
                value.push_str(separator);
            }
            value.push_str(item.unwrap_or_else(|| line.trim()));
        } else if let Some((key, value)) = line.split_once(':') {
            let value = value.trim();
            // A sign that the text is in the lines below.
            let is_block = matches!(value, ">" | ">-" | "|" | "|-");
            let value = if is_block { "" } else { unquoted(value) };
            fields.push((key.trim().to_owned(), value.to_owned()));
        }
    }
    fields
}

/// Returns a text without the quotes around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Returns the names of a list, as `A, B` or `[A, B]`.
fn list(text: &str) -> Vec<String> {
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    text.split(',').map(unquoted).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(text: &str) -> Result<(String, NamedAgent), String> {
        AgentFile { path: "a/reviewer.md".into(), text: text.into() }.agent()
    }

    #[test]
    fn a_file_is_its_front_matter_and_a_prompt() {
        let text = "---\nname: looker\ndescription: \"Looks: closely\"\ntools: Read, Grep\n\
                    model: sonnet\nmaxTurns: 9\ncolor: red\n---\n\nYou look.\n---\nOn.\n";
        let want = NamedAgent {
            description: "Looks: closely".into(),
            prompt: "You look.\n---\nOn.".into(),
            model: None,
            tools: Some(vec!["Read".into(), "Grep".into()]),
            max_turns: 9,
        };
        assert_eq!(agent(text), Ok(("looker".into(), want)));
    }

    #[test]
    fn lists_and_long_texts_may_take_several_lines() {
        let text = "---\ndescription: >\n  Looks\n  closely\ntools:\n  - Read\n  - 'Grep'\n\
                    model: m-1\n---\n";
        let (name, found) = agent(text).unwrap();
        assert_eq!(name, "reviewer");
        assert_eq!(found.description, "Looks closely");
        assert_eq!(found.tools.unwrap(), ["Read", "Grep"]);
        assert_eq!(found.model.as_deref(), Some("m-1"));
        assert_eq!(agent("---\ntools: []\n---\n").unwrap().1.tools, Some(Vec::new()));
        assert_eq!(agent("---\ntools: [A, \"B\"]\n---\n").unwrap().1.tools.unwrap(), ["A", "B"]);
    }

    #[test]
    fn what_describes_no_agent_says_why() {
        for (text, why) in [
            ("You look.", "front matter"),
            ("---\nname: x\n", "front matter"),
            ("---\nname: two words\n---\n", "two words"),
            ("---\nmax_turns: many\n---\n", "many"),
        ] {
            let error = agent(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
