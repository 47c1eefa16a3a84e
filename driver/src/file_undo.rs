//! Files that steps have changed, and what it takes to take them back with the steps. A step begins
//! with each input; what it changed is known to who has heard of it.

use crate::secret_key::MASK;
use alloc::{string::String, vec::Vec};
use innerloop_core::{
    action::{ChangeKind, ReportedChange},
    event::{Event, EventKind},
    id::AgentId,
    input::Command,
    message::{RewindReason, TurnKind},
};
use innerloop_json::ToJson;

/// So many bytes of texts are kept; beyond that the oldest are forgotten.
const KEPT: usize = 16 << 20;

/// A file whose changes are undone, with what is to be done to it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct UndoneFile {
    /// The file, from the workspace's root on.
    pub path: String,
    /// The action that undoes its changes.
    pub undo: FileUndo,
}

/// The action that undoes the changes to a file.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
pub enum FileUndo {
    /// It gets this text again.
    Write(String),
    /// It was not there before.
    Remove,
    /// It stays as it is, for that reason.
    Keep(&'static str),
}

/// The changes that the steps of a session have made to files. A host passes in each event, and the
/// number of inputs that were taken over from elsewhere.
#[derive(Debug, Default)]
pub struct FileSteps {
    /// In order, each with its step.
    changes: Vec<(i64, ReportedChange)>,
    /// The newest step that is not undone; those before the first that was heard of are below 1.
    newest: i64,
    /// The number of steps that are undone.
    undone: i64,
}

/// Returns how many inputs a command takes over from elsewhere.
#[must_use]
pub fn imported(command: &Command) -> usize {
    let Command::Import { turns } = command else { return 0 };
    turns.iter().filter(|turn| matches!(turn.kind, TurnKind::User(_))).count()
}

impl FileSteps {
    /// Takes an event in.
    pub fn on_event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::ToolCallEnd { outcome, .. } => {
                let step = self.newest;
                self.changes.extend(outcome.changes.iter().map(|change| (step, change.clone())));
                self.forget();
            }
            EventKind::UserInput { .. } if event.agent == AgentId::ROOT => self.on_import(1),
            EventKind::Rewound { why, redo_left, .. } if event.agent == AgentId::ROOT => {
                if matches!(why, RewindReason::Undo | RewindReason::Redo) {
                    let undone = i64::from(*redo_left);
                    self.newest -= undone - self.undone;
                    self.undone = undone;
                } else {
                    self.on_import(1);
                }
            }
            _ => {}
        }
    }

    /// So many inputs begin that have changed nothing yet; what is undone then cannot be put back.
    pub fn on_import(&mut self, inputs: usize) {
        if inputs > 0 {
            self.settle();
            self.undone = 0;
            self.newest += i64::try_from(inputs).unwrap_or(0);
        }
    }

    /// Returns what it takes to take back the files of the steps that are undone now: each becomes
    /// what it was, where it still is as its step left it. `read` gives a file's bytes, or nothing
    /// if it is not there.
    pub fn undone(&self, read: &mut dyn FnMut(&str) -> Option<Vec<u8>>) -> Vec<UndoneFile> {
        let mut files: Vec<(&ReportedChange, &ReportedChange)> = Vec::new();
        for (_, change) in self.changes.iter().filter(|(step, _)| *step > self.newest) {
            match files.iter_mut().find(|(first, _)| first.path == change.path) {
                Some((_, last)) => *last = change,
                None => files.push((change, change)),
            }
        }
        let undone = files.into_iter().filter_map(|(first, last)| {
            let path = first.path.clone();
            undo(first, last, read).map(|undo| UndoneFile { path, undo })
        });
        undone.collect()
    }

    /// The files of the steps that are undone now need not be taken back any more.
    pub fn settle(&mut self) {
        self.changes.retain(|(step, _)| *step <= self.newest);
    }

    /// Forgets the oldest texts where all are too large.
    fn forget(&mut self) {
        let size = |change: &ReportedChange| {
            [&change.before, &change.after].into_iter().flatten().map(String::len).sum::<usize>()
        };
        let mut all: usize = self.changes.iter().map(|(_, change)| size(change)).sum();
        for (_, change) in &mut self.changes {
            if all <= KEPT {
                return;
            }
            all -= size(change);
            (change.kind, change.before, change.after) = (ChangeKind::Modified, None, None);
        }
    }
}

/// Returns what is to be done with a file that is changed from before the first change to behind
/// the last; nothing if it came and went.
fn undo(
    first: &ReportedChange,
    last: &ReportedChange,
    read: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Option<FileUndo> {
    let (is_new, is_gone) = (first.kind == ChangeKind::Created, last.kind == ChangeKind::Deleted);
    if is_new && is_gone {
        return None;
    }
    // The text of a file with a key in it is not what was in the file.
    let known = |text: &Option<String>, is_absent| match text {
        Some(text) => !text.contains(MASK),
        None => is_absent,
    };
    if !known(&first.before, is_new) || !known(&last.after, is_gone) {
        return Some(FileUndo::Keep("what it was, or what became of it, is not known"));
    }
    if read(&first.path).as_deref() != last.after.as_ref().map(String::as_bytes) {
        return Some(FileUndo::Keep("it has been changed since"));
    }
    Some(first.before.clone().map_or(FileUndo::Remove, FileUndo::Write))
}
