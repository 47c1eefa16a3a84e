//! How words go on: commands at the beginning of a line, and files behind an `@`.

use innerloop_workspace::{EntryKind, Workspace};
use std::{collections::VecDeque, path::PathBuf};

/// Candidates that are shown.
const SHOWN: usize = 8;

/// Most entries of the workspace that are looked at for a name.
const LOOKED_AT: usize = 20_000;

/// Folders that nobody looks for files in.
const PASSED_OVER: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// The source of completions.
pub(super) struct CompletionSource<'a> {
    commands: &'a [&'a str],
    /// The files that a part of a path or of a name stands for.
    files: &'a dyn Fn(&str) -> Vec<String>,
    /// The words that may stand behind a command.
    words: &'a dyn Fn(&str) -> Vec<String>,
}

/// A word that is being completed.
#[derive(Debug)]
pub(super) struct Completion {
    all: Vec<String>,
    /// The candidate that stands there; none where it is only what all have in common.
    at: Option<usize>,
    text: String,
}

impl<'a> CompletionSource<'a> {
    pub(super) fn new(
        commands: &'a [&'a str],
        files: &'a dyn Fn(&str) -> Vec<String>,
        words: &'a dyn Fn(&str) -> Vec<String>,
    ) -> Self {
        Self { commands, files, words }
    }

    /// Completes the end of that text: gives how many bytes of it go, and what comes in their
    /// place.
    pub(super) fn complete(&self, before: &str) -> Option<(usize, Completion)> {
        if before.starts_with('/') && !before.contains(char::is_whitespace) {
            let fits = self.commands.iter().filter(|name| name.starts_with(before));
            let all: Vec<String> = fits.map(|name| format!("{name} ")).collect();
            return Completion::of(all, before).map(|completion| (before.len(), completion));
        }
        if let Some((command, part)) = before.split_once(' ')
            && command.starts_with('/')
            && !part.contains(char::is_whitespace)
        {
            let all = (self.words)(command).into_iter().filter(|word| word.starts_with(part));
            let completion = Completion::of(all.collect(), part);
            return completion.map(|completion| (part.len(), completion));
        }
        let (typed, part) = mentioned(before)?;
        let all = (self.files)(part).into_iter();
        let all = all.map(|name| quoted(name, typed.starts_with('"'))).collect();
        Completion::of(all, typed).map(|completion| (typed.len(), completion))
    }
}

/// Returns what stands behind the `@` at the end of that text, and the part of a path in it.
fn mentioned(before: &str) -> Option<(&str, &str)> {
    let open = before.rsplit_once("@\"").map(|(_, part)| part);
    if let Some(part) = open.filter(|part| !part.contains(['"', '\n'])) {
        return Some((before.get(before.len() - part.len() - 1..)?, part));
    }
    let at = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = before.get(at..)?.trim_start();
    word.strip_prefix('@').map(|part| (part, part))
}

/// A path as it stands in a mention. What is within a folder may follow.
fn quoted(path: String, is_quoted: bool) -> String {
    if !is_quoted && !path.contains(char::is_whitespace) {
        return path;
    }
    let end = if path.ends_with('/') { "" } else { "\"" };
    format!("\"{path}{end}")
}

impl Completion {
    /// Returns what all candidates have in common where that is more than `part`, else the first of
    /// them.
    fn of(all: Vec<String>, part: &str) -> Option<Self> {
        let first = all.first()?;
        let common = all.iter().fold(first.as_str(), |common, name| {
            let same = common.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
            let end = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
            common.get(..end).unwrap_or_default()
        });
        if all.len() > 1 && common.len() > part.len() && common.starts_with(part) {
            let text = common.to_owned();
            return Some(Self { text, at: None, all });
        }
        Some(Self { text: first.clone(), at: Some(0), all })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The next candidate, with the length of the text that it takes the place of.
    pub(super) fn next(&mut self) -> (usize, String) {
        let at = self.at.map_or(0, |at| (at + 1) % self.all.len().max(1));
        let next = self.all.get(at).cloned().unwrap_or_default();
        let length = self.text.len();
        self.text.clone_from(&next);
        self.at = Some(at);
        (length, next)
    }

    /// The candidates, where there are several.
    pub(super) fn hint(&self) -> Option<String> {
        if self.all.len() < 2 {
            return None;
        }
        let from = self.at.unwrap_or(0) / SHOWN * SHOWN;
        let shown: Vec<&str> =
            self.all.iter().skip(from).take(SHOWN).map(|name| name.trim_end()).collect();
        let more = self.all.len().saturating_sub(from + shown.len());
        let more = if more > 0 { format!("  … {more} more") } else { String::new() };
        Some(shown.join("  ") + &more)
    }
}

/// The files and folders of a workspace that `part` stands for: those whose path begins with it,
/// else those whose name has it in it.
pub(super) fn files(workspace: &Workspace, part: &str) -> Vec<String> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let listed = workspace.folder(folder).and_then(|real| workspace.list(&real).ok());
    let mut found: Vec<String> = Vec::new();
    for entry in listed.unwrap_or_default() {
        let Some(entry_name) = entry.name.to_str() else { continue };
        let is_hidden = entry_name.starts_with('.') && !name.starts_with('.');
        if entry_name.starts_with(name) && !is_hidden {
            let slash = if entry.kind == EntryKind::Folder { "/" } else { "" };
            let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            found.push(format!("{folder}{entry_name}{slash}"));
        }
    }
    if found.is_empty() && folder.is_empty() && !name.is_empty() {
        found = named(workspace, name);
    }
    found.sort_unstable();
    found
}

/// The files whose names have `part` in them, wherever they are.
fn named(workspace: &Workspace, part: &str) -> Vec<String> {
    let part = part.to_lowercase();
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut folders = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = folders.pop_front() {
        for entry in workspace.list(&folder).unwrap_or_default() {
            looked_at += 1;
            if looked_at > LOOKED_AT {
                return found;
            }
            let Some(name) = entry.name.to_str() else { continue };
            let path = folder.join(name);
            if entry.kind == EntryKind::Folder {
                if !PASSED_OVER.contains(&name) {
                    folders.push_back(path);
                }
            } else if name.to_lowercase().contains(&part) {
                found.extend(path.to_str().map(str::to_owned));
            }
        }
    }
    found
}
