//! Which files a run changed: each file's state is kept before it is first opened for writing,
//! removed or renamed, and compared with its state after the run.

use super::paths;
use innerloop_core::action::{Change, ChangeKind};
use innerloop_tools::MAX_CHANGE_BYTES;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

/// Most bytes of all texts of one run.
const MAX_TEXTS: u64 = 32 << 20;
/// Most files of one run that are watched.
const MAX_FILES: usize = 10_000;

/// Notes what a run is about to change; clones share the notes.
#[derive(Clone)]
pub(super) struct Recorder {
    root: PathBuf,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Default)]
struct Notes {
    before: BTreeMap<PathBuf, State>,
    texts: u64,
    overflow: bool,
}

/// What a run changed.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) changes: Vec<Change>,
    /// Whether more files were touched than are watched.
    pub(super) overflow: bool,
}

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Absent,
    Text(String),
    /// Not text, or too long: known by its length and the time of its last change.
    Other {
        len: u64,
        modified: Option<SystemTime>,
    },
}

impl Recorder {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), notes: Arc::default() }
    }

    /// Keeps the state of the file at `path` if it is touched for the first time.
    pub(super) fn touch(&self, path: &Path) {
        let mut notes = self.lock();
        if notes.before.contains_key(path) {
            return;
        }
        if notes.before.len() >= MAX_FILES {
            notes.overflow = true;
            return;
        }
        let state = State::of(&self.root.join(path), &mut notes.texts);
        notes.before.insert(path.to_path_buf(), state);
    }

    /// Touches all that a rename changes.
    pub(super) fn touch_rename(&self, from: &Path, to: &Path) {
        let Some(all) = paths::tree(&self.root.join(from)) else {
            self.lock().overflow = true;
            return;
        };
        for below in all {
            self.touch(&paths::at(from, &below));
            self.touch(&paths::at(to, &below));
        }
    }

    /// What has changed since.
    pub(super) fn records(&self) -> Records {
        let mut notes = self.lock();
        let before = std::mem::take(&mut notes.before);
        let overflow = notes.overflow;
        let mut texts = notes.texts;
        let changes = before
            .into_iter()
            .filter_map(|(path, before)| {
                let after = State::of(&self.root.join(&path), &mut texts);
                change(&path, before, after)
            })
            .collect();
        Records { changes, overflow }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of(path: &Path, texts: &mut u64) -> Self {
        let Ok(meta) = fs::symlink_metadata(path) else { return Self::Absent };
        if meta.is_dir() {
            return Self::Absent;
        }
        let other = Self::Other { len: meta.len(), modified: meta.modified().ok() };
        if !meta.is_file()
            || meta.len() > MAX_CHANGE_BYTES as u64
            || *texts + meta.len() > MAX_TEXTS
        {
            return other;
        }
        match fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => {
                *texts += text.len() as u64;
                Self::Text(text)
            }
            _ => other,
        }
    }

    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Other { .. } => None,
        }
    }
}

fn change(path: &Path, before: State, after: State) -> Option<Change> {
    let kind = match (&before, &after) {
        (before, after) if before == after => return None,
        (State::Absent, _) => ChangeKind::Created,
        (_, State::Absent) => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    Some(Change { path: parts.join("/"), kind, before: before.text(), after: after.text() })
}
