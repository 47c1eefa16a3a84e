//! The recorder of changes: it keeps each file's state from before the file is first opened for
//! writing, removed or moved, and compares it with the state at the end. There is one for each run,
//! whose changes the model reads, and in place one for the session, whose changes the user reviews.
//! Files, names and contents that it keeps are bounded, and it says if something was left out.

use super::{
    change::{FileChange, is_untold},
    file_stat::{EntryKind, PathStat},
    layer::WorkspaceLayer,
    state::{FileState, IsStopped, ReadAllowance, smallest_first},
};
use innerloop_types::action::ReportedChange;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// The maximum number of files that are watched.
const MAX_FILES: usize = 10_000;

/// The maximum number of bytes of their paths.
// A guest chooses the names: many long ones would take hundreds of MiB of the host's memory.
const MAX_NAMED: usize = 4 << 20;

/// A recorder of the states of files before they change.
#[derive(Debug)]
pub struct ChangeRecorder {
    before: BTreeMap<PathBuf, FileState>,
    /// Those of them that were opened for writing.
    opened: BTreeSet<PathBuf>,
    /// The former attributes of those that were files or folders.
    stood: BTreeMap<PathBuf, PathStat>,
    /// Those of them that had other names (hard links), too.
    linked: BTreeSet<PathBuf>,
    /// The number of bytes of their paths.
    named: usize,
    left: ReadAllowance,
    overflow: bool,
}

/// The changes of a run.
#[derive(Debug, Default)]
pub struct ChangeRecords {
    /// The changes, ordered by path.
    pub changes: Vec<ReportedChange>,
    /// True if more files were touched than are watched.
    pub overflow: bool,
}

impl ChangeRecorder {
    /// Makes a recorder for one run, whose changes the model reads.
    pub fn of_run() -> Self {
        Self::new(ReadAllowance::TEXTS)
    }

    /// Makes a recorder for all runs together, whose changes the user reviews.
    pub(super) fn of_session() -> Self {
        Self::new(ReadAllowance::ALL)
    }

    fn new(left: ReadAllowance) -> Self {
        Self {
            before: BTreeMap::new(),
            opened: BTreeSet::new(),
            stood: BTreeMap::new(),
            linked: BTreeSet::new(),
            named: 0,
            left,
            overflow: false,
        }
    }

    /// Returns whether nothing was touched.
    pub fn is_blank(&self) -> bool {
        self.before.is_empty() && !self.overflow
    }

    /// Returns whether the state of the file is kept.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.before.contains_key(path)
    }

    /// Takes over the states of files that another recorder has kept and this one has not, as far
    /// as there is room. What this one has is older, and stays.
    pub(super) fn take_over(&mut self, other: Self) {
        for (path, state) in other.before {
            if !self.has_room(&path) {
                continue;
            }
            if let Some(stood) = other.stood.get(&path) {
                self.stood.insert(path.clone(), *stood);
            }
            self.before.insert(path, state);
        }
        let linked = other.linked.into_iter().filter(|path| self.before.contains_key(path));
        self.linked.extend(linked);
    }

    /// Returns whether the file's state is to be kept: it is not yet, and there is room for it. If
    /// there is no room, that is noted.
    fn has_room(&mut self, path: &Path) -> bool {
        if self.before.contains_key(path) {
            return false;
        }
        let named = self.named.saturating_add(path.as_os_str().len());
        let has_room = self.before.len() < MAX_FILES && named <= MAX_NAMED;
        if has_room {
            self.named = named;
        } else {
            self.overflow = true;
        }
        has_room
    }

    /// Keeps the state of the file at a real path if it is touched for the first time.
    pub(super) fn touch(&mut self, layer: &WorkspaceLayer, path: &Path) {
        if !self.has_room(path) {
            return;
        }
        let state = FileState::of(layer, path, &mut self.left, &|| false);
        self.before.insert(path.to_path_buf(), state);
        let Ok(stood) = layer.stat(path) else { return };
        self.stood.insert(path.to_path_buf(), stood);
        if stood.kind == EntryKind::File && stood.links > 1 {
            self.linked.insert(path.to_path_buf());
        }
    }

    /// Notes that a file that was touched has been opened for writing.
    pub(super) fn opened(&mut self, path: &Path) {
        // One for which there was no room when it was touched stays out of all lists.
        if self.before.contains_key(path) {
            self.opened.insert(path.to_path_buf());
        }
    }

    /// Returns the touched files that have changed or were opened for writing, ordered by path, and
    /// whether they are all. Once it `is_stopped`, no more content is read.
    pub(super) fn changes(
        &self,
        layer: &WorkspaceLayer,
        is_stopped: IsStopped<'_>,
    ) -> (Vec<FileChange>, bool) {
        // A copy, so that a later report may read as much as this one.
        let mut left = self.left;
        // The files are read by size, and the map puts them in the order of their paths again.
        let mut changes = BTreeMap::new();
        for path in smallest_first(self.before.keys().cloned().collect(), &[layer]) {
            let Some(before) = self.before.get(&path) else { continue };
            let after = FileState::of(layer, &path, &mut left, is_stopped);
            let stats = (self.stood.get(&path).copied(), layer.stat(&path).ok());
            let mut change = FileChange::new(&path, before.clone(), after).with_modes(stats);
            let is_nothing = is_untold(&change.before, &change.after, stats);
            let is_opened = self.opened.contains(&path);
            // Removing or moving one of a file's names leaves the others alone; writing does not.
            change.has_other_names = is_opened && self.linked.contains(&path);
            // A file is also touched by an attempt that then failed.
            if !is_nothing && (is_opened || !change.is_same()) {
                changes.insert(path, change);
            }
        }
        (changes.into_values().collect(), !self.overflow)
    }

    /// Returns the same in the form in which an outcome reports it.
    pub(super) fn records(&self, layer: &WorkspaceLayer) -> ChangeRecords {
        let (changes, is_all) = self.changes(layer, &|| false);
        let changes = changes.into_iter().map(FileChange::told).collect();
        ChangeRecords { changes, overflow: !is_all }
    }
}
