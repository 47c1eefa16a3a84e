//! What was typed before: kept in a file for the next time, and looked through with the arrows.

use crate::{journal::private, places};
use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::PathBuf,
};

/// Most entries that are kept.
const MOST: usize = 1_000;

/// Largest file that is read.
const MOST_BYTES: u64 = 4 << 20;

/// The entries, the oldest first, and the one that is looked at.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<String>,
    /// Behind the last one where none is looked at.
    at: usize,
    /// What was being typed when the first one was looked at.
    draft: String,
    file: Option<PathBuf>,
}

impl History {
    /// That of this user. Without a file, or with a broken one, it begins anew.
    pub(crate) fn open() -> Self {
        let file = places::state().map(|state| state.join("history.jsonl"));
        let text = file.as_ref().filter(|path| {
            fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MOST_BYTES)
        });
        let text = text.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let entries: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let entries = entries.split_at(entries.len().saturating_sub(MOST)).1.to_vec();
        Self { at: entries.len(), entries, draft: String::new(), file }
    }

    /// Notes what was typed.
    pub(crate) fn add(&mut self, text: &str) {
        if !text.trim().is_empty() && self.entries.last().is_none_or(|last| last != text) {
            self.entries.push(text.to_owned());
            // It is a convenience: what cannot be kept is not missed.
            let _kept = self.write();
        }
        self.at = self.entries.len();
        self.draft.clear();
    }

    /// The entry before the one that is looked at, where `now` is what is being typed.
    pub(crate) fn back(&mut self, now: &str) -> Option<&str> {
        let before = self.at.checked_sub(1)?;
        if self.at == self.entries.len() {
            now.clone_into(&mut self.draft);
        }
        self.at = before;
        self.entries.get(before).map(String::as_str)
    }

    /// The entry behind the one that is looked at; behind the last one, what was being typed.
    pub(crate) fn forth(&mut self) -> Option<&str> {
        if self.at >= self.entries.len() {
            return None;
        }
        self.at += 1;
        Some(self.entries.get(self.at).unwrap_or(&self.draft))
    }

    /// Appends the newest entry; a file that has grown long is written anew.
    fn write(&self) -> Option<()> {
        let path = self.file.as_ref()?;
        let line = |text: &String| serde_json::to_string(text).map(|line| line + "\n").ok();
        fs::create_dir_all(path.parent()?).ok()?;
        let is_long = self.entries.len() > 2 * MOST;
        let options = &mut OpenOptions::new();
        let options = options.create(true).append(!is_long).write(true).truncate(is_long);
        let mut file = private(options).open(path).ok()?;
        let from = self.entries.len() - if is_long { MOST } else { 1 };
        let lines: Option<String> = self.entries.iter().skip(from).map(line).collect();
        file.write_all(lines?.as_bytes()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_looked_through_and_the_draft_comes_back() {
        let mut history = History::default();
        for text in ["one", "two", "two", " "] {
            history.add(text);
        }
        assert_eq!(history.back("dra"), Some("two"));
        assert_eq!(history.back("two"), Some("one"));
        assert_eq!(history.back("one"), None);
        assert_eq!(history.forth(), Some("two"));
        assert_eq!(history.forth(), Some("dra"));
        assert_eq!(history.forth(), None);
    }
}
