//! The history of inputs, kept in a file and browsed with the arrow keys. Keys of providers are
//! masked in the file. It is a convenience: a failure to read or write it is never an error.

use crate::keys;
use innerloop_host::journal::private;
use innerloop_workspace::{app_dirs, plain_file};
use std::{
    fs::{self, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    process,
};

/// The most entries that are kept.
const MOST: usize = 1_000;

/// The most bytes that are read, from the file's end.
const MOST_BYTES: u64 = 4 << 20;

/// The entries, the oldest first, and the current one.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<String>,
    /// The index of the current entry; the number of entries if there is none.
    at: usize,
    /// The text that was being typed when browsing began.
    draft: String,
    file: Option<PathBuf>,
}

impl History {
    /// Opens this user's history; new entries are stored only if `is_kept`. Without a readable file
    /// it is empty.
    pub(crate) fn open(is_kept: bool) -> Self {
        let path = app_dirs::state().map(|state| state.join("history.jsonl"));
        let (entries, is_long) = path.as_deref().map(read).unwrap_or_default();
        let file = path.filter(|_| is_kept);
        let history = Self { at: entries.len(), entries, draft: String::new(), file };
        if is_long {
            let _written = history.rewrite();
        }
        history
    }

    /// Adds an entry, unless it repeats the last one.
    pub(crate) fn add(&mut self, text: &str) {
        if !text.trim().is_empty() && self.entries.last().is_none_or(|last| last != text) {
            self.entries.push(text.to_owned());
            let _kept = self.append(text);
        }
        self.at = self.entries.len();
        self.draft.clear();
    }

    /// Returns the entry before the current one; `now` is the text that is being typed.
    pub(crate) fn back(&mut self, now: &str) -> Option<&str> {
        let before = self.at.checked_sub(1)?;
        if self.at == self.entries.len() {
            now.clone_into(&mut self.draft);
        }
        self.at = before;
        self.entries.get(before).map(String::as_str)
    }

    /// Returns the entry after the current one; after the last one, the text that was being typed.
    pub(crate) fn forth(&mut self) -> Option<&str> {
        if self.at >= self.entries.len() {
            return None;
        }
        self.at += 1;
        Some(self.entries.get(self.at).unwrap_or(&self.draft))
    }

    // One appending write per entry: several programs may share the file.
    fn append(&self, text: &str) -> Option<()> {
        let path = self.file.as_ref()?;
        fs::create_dir_all(path.parent()?).ok()?;
        let mut file = private(OpenOptions::new().create(true).append(true)).open(path).ok()?;
        file.write_all(line(text)?.as_bytes()).ok()
    }

    /// Rewrites the file with the entries that are kept.
    fn rewrite(&self) -> Option<()> {
        let path = self.file.as_ref()?;
        let new = path.with_extension(format!("{}.new", process::id()));
        let lines: Option<String> = self.entries.iter().map(|text| line(text)).collect();
        let mut file = private(OpenOptions::new().create_new(true).write(true)).open(&new).ok()?;
        let written = file.write_all(lines?.as_bytes()).and_then(|()| fs::rename(&new, path));
        if written.is_err() {
            drop(fs::remove_file(&new));
        }
        written.ok()
    }
}

/// Reads the newest entries of a file; also returns whether it should be rewritten.
fn read(path: &Path) -> (Vec<String>, bool) {
    let Ok(mut file) = plain_file::open(path) else { return Default::default() };
    let length = file.metadata().ok().filter(fs::Metadata::is_file).map(|found| found.len());
    let Some(length) = length else { return Default::default() };
    let start = length.saturating_sub(MOST_BYTES);
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(start))
        .and_then(|_| (&mut file).take(MOST_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        return Default::default();
    }
    let text = String::from_utf8_lossy(&bytes);
    // A first line that is cut is not JSON and is skipped, as any damaged line is.
    let mut entries: Vec<String> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    // At twice the bound, so that it is not rewritten at each start.
    let is_long = start > 0 || entries.len() > 2 * MOST;
    entries.drain(..entries.len().saturating_sub(MOST));
    (entries, is_long)
}

/// Returns an entry's line in the file, with known keys masked.
fn line(text: &str) -> Option<String> {
    let text = keys::of_environment().masked(text);
    serde_json::to_string(&text).map(|line| line + "\n").ok()
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

    #[test]
    fn a_file_that_has_grown_long_is_cut_to_its_newest_entries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        let lines: String = (0..3 * MOST).map(|at| format!("\"{at}\"\n")).collect();
        fs::write(&path, lines + "not an entry\n").unwrap();
        let (entries, is_long) = read(&path);
        assert_eq!((entries.len(), entries[0].as_str(), is_long), (MOST, "2000", true));
        let at = entries.len();
        let mut history = History { entries, at, draft: String::new(), file: Some(path.clone()) };
        history.rewrite().unwrap();
        history.add("new");
        let (entries, is_long) = read(&path);
        assert_eq!((entries.len(), entries[MOST - 1].as_str(), is_long), (MOST, "new", false));
        fs::write(&path, format!("\"{}\"\n\"last\"\n", "x".repeat(5 << 20))).unwrap();
        assert_eq!(read(&path), (vec!["last".to_owned()], true));
    }
}
