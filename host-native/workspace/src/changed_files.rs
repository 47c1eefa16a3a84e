//! Which files were changed: each file's state is kept before it is first opened for writing,
//! removed or moved, and compared with its state at the end.

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

/// Most files that are watched.
const MAX_FILES: usize = 10_000;

/// Most bytes of their paths.
const MAX_NAMED: usize = 4 << 20;

/// Notes what is about to change.
#[derive(Debug)]
pub struct ChangeRecorder {
    before: BTreeMap<PathBuf, FileState>,
    /// Those of them that were opened for writing.
    opened: BTreeSet<PathBuf>,
    /// The former attributes of those that were files or folders.
    stood: BTreeMap<PathBuf, PathStat>,
    /// Those of them that had other names, too.
    linked: BTreeSet<PathBuf>,
    /// Bytes of their paths.
    named: usize,
    left: ReadAllowance,
    overflow: bool,
}

/// The changes of a run.
#[derive(Debug, Default)]
pub struct ChangeRecords {
    /// By path.
    pub changes: Vec<ReportedChange>,
    /// True if more files were touched than are watched.
    pub overflow: bool,
}

impl ChangeRecorder {
    /// Of one run, whose changes the model is told.
    pub fn of_run() -> Self {
        Self::new(ReadAllowance::TEXTS)
    }

    /// Of all runs, whose changes the user is told.
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

    /// Takes over what another one has kept of files that this one has not, as far as there is
    /// room.
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

    /// Returns whether the state of one more file is to be kept; if there is no room for it, that
    /// is noted.
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
        if self.before.contains_key(path) {
            self.opened.insert(path.to_path_buf());
        }
    }

    /// Returns what was touched, as it was and as it is, by path, and whether that is all. A file
    /// that was opened for writing is there, also if it is what it was. As soon as it `is_stopped`
    /// no content is read.
    pub(super) fn changes(
        &self,
        layer: &WorkspaceLayer,
        is_stopped: IsStopped<'_>,
    ) -> (Vec<FileChange>, bool) {
        let mut left = self.left;
        let mut changes = BTreeMap::new();
        for path in smallest_first(self.before.keys().cloned().collect(), &[layer]) {
            let Some(before) = self.before.get(&path) else { continue };
            let after = FileState::of(layer, &path, &mut left, is_stopped);
            let stats = (self.stood.get(&path).copied(), layer.stat(&path).ok());
            let mut change = FileChange::new(&path, before.clone(), after).with_modes(stats);
            let is_nothing = is_untold(&change.before, &change.after, stats);
            let is_opened = self.opened.contains(&path);
            change.has_other_names = is_opened && self.linked.contains(&path);
            // What was only tried has changed nothing.
            if !is_nothing && (is_opened || !change.is_same()) {
                changes.insert(path, change);
            }
        }
        (changes.into_values().collect(), !self.overflow)
    }

    /// The same as an outcome tells it.
    pub(super) fn records(&self, layer: &WorkspaceLayer) -> ChangeRecords {
        let (changes, is_all) = self.changes(layer, &|| false);
        let changes = changes.into_iter().map(FileChange::told).collect();
        ChangeRecords { changes, overflow: !is_all }
    }
}
