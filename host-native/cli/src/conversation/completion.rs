//! The completion of words by Tab: commands at the beginning of a line, their arguments, and files
//! behind an `@`. It only proposes texts; the composer puts them into the line.

use innerloop_workspace::{EntryKind, Workspace};
use std::{collections::VecDeque, path::PathBuf};

/// The number of candidates that are shown at once.
const SHOWN: usize = 8;

/// The most entries of the workspace that are searched for a name: Tab must not block for long.
const LOOKED_AT: usize = 20_000;

/// The folders that are not searched.
const PASSED_OVER: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// The source of completions.
pub(super) struct CompletionSource<'a> {
    commands: &'a [&'a str],
    /// The files that match a part of a path or of a name.
    files: &'a dyn Fn(&str) -> Vec<String>,
    /// The words that may follow a command.
    words: &'a dyn Fn(&str) -> Vec<String>,
}

/// A word that is being completed.
#[derive(Debug)]
pub(super) struct Completion {
    all: Vec<String>,
    /// The candidate that is in the line; none if it is the common beginning of all.
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

    /// Completes the end of the text before the cursor: returns the number of its bytes that are
    /// replaced, and the replacement.
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

/// Returns the text after the last `@`, and the part of a path in it without its quote.
fn mentioned(before: &str) -> Option<(&str, &str)> {
    // A quoted name may hold spaces, so that it is looked for before the last word is.
    let open = before.rsplit_once("@\"").map(|(_, part)| part);
    if let Some(part) = open.filter(|part| !part.contains(['"', '\n'])) {
        return Some((before.get(before.len() - part.len() - 1..)?, part));
    }
    let at = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = before.get(at..)?.trim_start();
    word.strip_prefix('@').map(|part| (part, part))
}

/// Quotes a path for a mention if it needs that. A folder's quote stays open, since more of the
/// path may follow.
fn quoted(path: String, is_quoted: bool) -> String {
    if !is_quoted && !path.contains(char::is_whitespace) {
        return path;
    }
    let end = if path.ends_with('/') { "" } else { "\"" };
    format!("\"{path}{end}")
}

impl Completion {
    /// Returns the common beginning of all candidates if that is longer than `part`, else the
    /// first candidate.
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

    /// Moves on to the next candidate; returns the length of the text that it replaces, and it.
    pub(super) fn next(&mut self) -> (usize, String) {
        let at = self.at.map_or(0, |at| (at + 1) % self.all.len().max(1));
        let next = self.all.get(at).cloned().unwrap_or_default();
        let length = self.text.len();
        self.text.clone_from(&next);
        self.at = Some(at);
        (length, next)
    }

    /// Returns the candidates for people, if there are several.
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

/// Returns the files and folders of a workspace that match `part`: those whose path begins with it,
/// or else those whose name contains it.
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

/// Returns the files anywhere in the workspace whose names contain `part`.
fn named(workspace: &Workspace, part: &str) -> Vec<String> {
    let part = part.to_lowercase();
    let (mut found, mut looked_at) = (Vec::new(), 0);
    // Breadth first, so that files near the root are found before the bound ends the search.
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
