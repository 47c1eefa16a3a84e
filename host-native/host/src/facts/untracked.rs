//! The number of files that are neither tracked nor ignored. As in `git status`, a folder without
//! any tracked file counts once.

use super::{budget::ScanBudget, plain_files::FolderHandle, repository::GitFolders};
use gix_ignore::{Search, glob::pattern::Case, search::Ignore};
use gix_index::State;
use gix_object::bstr::{BString, ByteSlice as _};
use innerloop_tools::parts::MAX_RULES;
use innerloop_workspace::EntryKind;
use std::path::Path;

/// The largest number of bytes of a file of rules.
const MAX_RULES_BYTES: u64 = 256 * 1024;
/// The deepest folder that is looked into.
const DEPTH: usize = 128;

/// Returns their number; `None` if it can't be counted in time. The rules are those of the
/// repository, without the ones that its user has set for all repositories.
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
    /// Looks into the folder, whose path is empty or ends with a slash, and returns whether it has
    /// any file that is not ignored. In a folder with tracked files, untracked ones are counted.
    fn enter(&mut self, path: &mut BString, is_tracked: bool, depth: usize) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let rules = path.to_path().ok()?.join(".gitignore");
        let has_rules = self.add_rules(self.root, &rules, Some(Path::new("")));
        // Each file is matched with every rule, so that time grows with the product of the two.
        let rules: usize = self.rules.patterns.iter().map(|list| list.patterns.len()).sum();
        let found = (rules <= MAX_RULES).then(|| self.entries(path, is_tracked, depth)).flatten();
        // The rules of a folder hold below it only. They are removed before anything is returned,
        // or they would hold for its neighbours, too.
        if has_rules {
            self.rules.patterns.pop();
        }
        found
    }

    fn entries(&mut self, path: &mut BString, is_tracked: bool, depth: usize) -> Option<bool> {
        let length = path.len();
        // A folder that can't be listed has nothing to count.
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
            // A folder without tracked files counts once, so that its first file settles it and the
            // rest is not listed.
            if is_found? && !is_tracked {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns whether the entry is, or holds, an untracked file, and counts it in a folder with
    /// tracked ones.
    fn entry(
        &mut self,
        path: &mut BString,
        is_folder: bool,
        is_tracked: bool,
        depth: usize,
    ) -> Option<bool> {
        // The folder of a submodule is tracked like a file.
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
            // Git shows a repository inside of another one as a single entry, and its files are
            // none of ours.
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

    /// Adds a file of rules, if it is there and can be read, and returns whether it did. The rules
    /// of a folder hold below it, as seen from `root`.
    fn add_rules(&mut self, base: &FolderHandle, below: &Path, root: Option<&Path>) -> bool {
        let bytes = base.whole(below, MAX_RULES_BYTES).filter(|bytes| !bytes.is_empty());
        let add = |bytes: Vec<u8>| {
            self.rules.add_patterns_buffer(&bytes, below, root, Ignore::default()).ok()
        };
        bytes.and_then(add).is_some()
    }
}
