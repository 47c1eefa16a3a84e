//! How many files are neither tracked nor ignored. As in `git status`, a folder without any
//! tracked file counts once.

use super::{budget::ScanBudget, plain_files::FolderHandle, repository::GitFolders};
use gix_ignore::{Search, glob::pattern::Case, search::Ignore};
use gix_index::State;
use gix_object::bstr::{BString, ByteSlice as _};
use innerloop_tools::parts::MAX_RULES;
use innerloop_workspace::EntryKind;
use std::path::Path;

/// Most bytes of a file of rules.
const MAX_RULES_BYTES: u64 = 256 * 1024;
/// The deepest folder that is looked into.
const DEPTH: usize = 128;

/// Counts them; `None` if it cannot be done in time. The rules are those of the repository, not
/// what its user has set for all of them.
pub(super) fn count(
    root: &FolderHandle,
    folders: &GitFolders,
    state: &State,
    budget: &ScanBudget,
) -> Option<u32> {
    let mut walk = UntrackedWalker { root, state, budget, rules: Search::default(), count: 0 };
    walk.add_rules(&folders.common, Path::new("info/exclude"), None);
    walk.enter(&mut BString::default(), true, DEPTH)?;
    Some(walk.count)
}

struct UntrackedWalker<'a> {
    root: &'a FolderHandle,
    state: &'a State,
    budget: &'a ScanBudget,
    rules: Search,
    count: u32,
}

impl UntrackedWalker<'_> {
    /// Looks into the folder, whose path is empty or ends with a slash; says whether it has any
    /// file that is not ignored. In one with tracked files those that are not are counted.
    fn enter(&mut self, path: &mut BString, is_tracked: bool, depth: usize) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let rules = path.to_path().ok()?.join(".gitignore");
        let has_rules = self.add_rules(self.root, &rules, Some(Path::new("")));
        let rules: usize = self.rules.patterns.iter().map(|list| list.patterns.len()).sum();
        let found = (rules <= MAX_RULES).then(|| self.entries(path, is_tracked, depth)).flatten();
        if has_rules {
            self.rules.patterns.pop();
        }
        found
    }

    fn entries(&mut self, path: &mut BString, is_tracked: bool, depth: usize) -> Option<bool> {
        let length = path.len();
        // What cannot be listed has nothing to count.
        let Some(entries) = self.root.list(path.to_path().ok()?) else { return Some(false) };
        for entry in entries {
            self.budget.take_entry()?;
            let Some(name) = <[u8]>::from_os_str(&entry.name) else { continue };
            if name == b".git" || entry.kind == EntryKind::Other {
                continue;
            }
            path.extend_from_slice(name);
            let is_found = self.entry(path, entry.kind == EntryKind::Folder, is_tracked, depth);
            path.truncate(length);
            if is_found? && !is_tracked {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns whether the entry is, or holds, an untracked file; counts it in a folder with
    /// tracked ones.
    fn entry(
        &mut self,
        path: &mut BString,
        is_folder: bool,
        is_tracked: bool,
        depth: usize,
    ) -> Option<bool> {
        // A submodule's folder is tracked as a file is.
        if self.state.entry_index_by_path(path.as_bstr()).is_ok() {
            return Some(false);
        }
        let found = self.rules.pattern_matching_relative_path(
            path.as_bstr(),
            Some(is_folder),
            Case::Sensitive,
        );
        if found.is_some_and(|found| !found.pattern.is_negative()) {
            return Some(false);
        }
        let is_found = if is_folder {
            let is_repository = self.root.stat(path.to_path().ok()?.join(".git")).is_some();
            path.push(b'/');
            let holds_tracked = self.state.prefixed_entries_range(path.as_bstr()).is_some();
            if holds_tracked {
                return self.enter(path, true, depth);
            }
            is_repository || self.enter(path, false, depth)?
        } else {
            true
        };
        if is_found && is_tracked {
            self.count = self.count.saturating_add(1);
        }
        Some(is_found)
    }

    /// Adds a file of rules, if it is there and can be read. Those of a folder hold below it, as
    /// seen from `root`.
    fn add_rules(&mut self, base: &FolderHandle, below: &Path, root: Option<&Path>) -> bool {
        let bytes = base.whole(below, MAX_RULES_BYTES).filter(|bytes| !bytes.is_empty());
        let add = |bytes: Vec<u8>| {
            self.rules.add_patterns_buffer(&bytes, below, root, Ignore::default()).ok()
        };
        bytes.and_then(add).is_some()
    }
}
