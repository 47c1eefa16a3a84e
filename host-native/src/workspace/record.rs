//! Which files were changed: each file's state is kept before it is first opened for writing,
//! removed or moved, and compared with its state at the end.

use super::{
    resolve::at,
    root::Root,
    stat::Kind,
    state::{Allowance, FileState},
};
use innerloop_core::action::{Change, ChangeKind};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Most files that are watched.
const MAX_FILES: usize = 10_000;

/// Notes what is about to change.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    before: BTreeMap<PathBuf, FileState>,
    /// Those of them that were opened for writing.
    opened: BTreeSet<PathBuf>,
    left: Allowance,
    overflow: bool,
}

/// What a run changed.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) changes: Vec<Change>,
    /// Whether more files were touched than are watched.
    pub(crate) overflow: bool,
}

impl Recorder {
    /// Keeps the state of the file at a real path if it is touched for the first time.
    pub(crate) fn touch(&mut self, root: &Root, path: &Path) {
        if self.before.contains_key(path) {
            return;
        }
        if self.before.len() >= MAX_FILES {
            self.overflow = true;
            return;
        }
        let state = FileState::of(root, path, &mut self.left);
        self.before.insert(path.to_path_buf(), state);
    }

    /// Notes that a file that was touched has been opened for writing.
    pub(crate) fn opened(&mut self, path: &Path) {
        if self.before.contains_key(path) {
            self.opened.insert(path.to_path_buf());
        }
    }

    /// Touches all that a move changes: these paths below both places.
    pub(crate) fn touch_move(
        &mut self,
        root: &Root,
        (from, to): (&Path, &Path),
        all: &[(PathBuf, Kind)],
    ) {
        for (below, _) in all.iter().filter(|(_, kind)| *kind != Kind::Folder) {
            self.touch(root, &at(from, below));
            self.touch(root, &at(to, below));
        }
    }

    /// What was touched, as it was and as it is. A file that was opened for writing counts as
    /// modified, also if it is what it was.
    pub(crate) fn records(&mut self, root: &Root) -> Records {
        let Self { before, opened, left, overflow } = std::mem::take(self);
        let mut left = left;
        let changes = before.into_iter().filter_map(|(path, before)| {
            let after = FileState::of(root, &path, &mut left);
            // What was only tried has changed nothing.
            let is_change = before != after || opened.contains(&path);
            is_change.then(|| change(&path, before, after)).flatten()
        });
        Records { changes: changes.collect(), overflow }
    }
}

fn change(path: &Path, before: FileState, after: FileState) -> Option<Change> {
    let kind = match (&before, &after) {
        (FileState::Absent, FileState::Absent) => return None,
        (FileState::Absent, _) => ChangeKind::Created,
        (_, FileState::Absent) => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    Some(Change { path: parts.join("/"), kind, before: before.text(), after: after.text() })
}
