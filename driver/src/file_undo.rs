//! The changes that steps have made to files, and the actions that undo them when a step is undone.
//! A step begins with each input of the user. A host passes in each event; changes of a time before
//! it listened are unknown and stay. A file that has changed since is never overwritten.

use crate::firewall::SessionFirewall;
use alloc::{string::String, vec::Vec};
use innerloop_core::{
    action::{ChangeKind, ReportedChange},
    event::{Event, EventKind},
    id::AgentId,
    input::Command,
    message::{RewindReason, TurnKind},
};
use innerloop_json::ToJson;

/// The maximum number of bytes of texts that are kept; beyond that the oldest are forgotten.
const KEPT: usize = 16 << 20;

/// A file whose changes are undone, and the action that does it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct UndoneFile {
    /// The file's path from the workspace's root on.
    pub path: String,
    /// The action that undoes its changes.
    pub undo: FileUndo,
}

/// The action that undoes the changes to a file.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
pub enum FileUndo {
    /// Write this text, which the file had before.
    Write(String),
    /// Remove the file, which was not there before.
    Remove,
    /// Leave the file as it is, for that reason.
    Keep(&'static str),
}

/// The changes that the steps of a session have made to files. A host passes in each event, and the
/// number of inputs that were taken over from elsewhere.
#[derive(Debug, Default)]
pub struct FileSteps {
    /// The changes in order, each with its step.
    changes: Vec<(i64, ReportedChange)>,
    /// The newest step that is not undone. Signed: undoing steps of a time before this began to
    /// listen leads below 0.
    newest: i64,
    /// The number of steps that are undone.
    undone: i64,
}

/// Returns how many inputs of the user a command imports.
#[must_use]
pub fn imported(command: &Command) -> usize {
    let Command::Import { turns } = command else { return 0 };
    turns.iter().filter(|turn| matches!(turn.kind, TurnKind::User(_))).count()
}

impl FileSteps {
    /// Notes what an event says of changes and steps.
    pub fn on_event(&mut self, event: &Event) {
        match &event.kind {
            // Of any agent: what a child changes belongs to the step of the user that led to it.
            // Steps themselves are the root's alone, since a child's input is its task.
            EventKind::ToolCallEnd { outcome, .. } => {
                let step = self.newest;
                self.changes.extend(outcome.changes.iter().map(|change| (step, change.clone())));
                self.forget();
            }
            EventKind::UserInput { .. } if event.agent == AgentId::ROOT => self.on_import(1),
            EventKind::Rewound { why, redo_left, .. } if event.agent == AgentId::ROOT => {
                if matches!(why, RewindReason::Undo | RewindReason::Redo) {
                    // The event says how many steps can be redone now, not how many it undid.
                    let undone = i64::from(*redo_left);
                    self.newest -= undone - self.undone;
                    self.undone = undone;
                } else {
                    // A restore or a clear is a step of its own, which can be undone; it leaves
                    // files alone.
                    self.on_import(1);
                }
            }
            _ => {}
        }
    }

    /// Begins so many steps that have changed nothing yet; steps that are undone by then cannot be
    /// redone.
    pub fn on_import(&mut self, inputs: usize) {
        if inputs > 0 {
            // First, since the new steps get the numbers of those that are undone.
            self.settle();
            self.undone = 0;
            self.newest += i64::try_from(inputs).unwrap_or(0);
        }
    }

    /// Returns the actions that undo the changes of the steps that are undone now. A file gets its
    /// former text only if it still is as those steps left it. `read` returns a file's bytes, or
    /// `None` if there is no such file; `firewall` is the driver's, which has masked the changes.
    pub fn undone(
        &self,
        firewall: &SessionFirewall,
        read: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Vec<UndoneFile> {
        // A list, and not a map: files are reported in the order in which they were first changed.
        let mut files: Vec<(&ReportedChange, &ReportedChange)> = Vec::new();
        for (_, change) in self.changes.iter().filter(|(step, _)| *step > self.newest) {
            match files.iter_mut().find(|(first, _)| first.path == change.path) {
                Some((_, last)) => *last = change,
                None => files.push((change, change)),
            }
        }
        let mut undone = Vec::new();
        for (first, last) in files {
            let path = first.path.clone();
            if let Some(undo) = undo(first, last, firewall, read(&path)) {
                undone.push(UndoneFile { path, undo });
            }
        }
        undone
    }

    /// Forgets the changes of the steps that are undone now: their files have been dealt with.
    pub fn settle(&mut self) {
        self.changes.retain(|(step, _)| *step <= self.newest);
    }

    /// Forgets the oldest texts while all of them together are too large.
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
            // The entry stays, as a change without texts: the user is told that this file cannot be
            // undone. `Created` or `Deleted` would mean a known absence of one side.
            (change.kind, change.before, change.after) = (ChangeKind::Modified, None, None);
        }
    }
}

/// Returns the action that leads from behind the last change of a file to before its first; `None`
/// if the file came and went in between.
fn undo(
    first: &ReportedChange,
    last: &ReportedChange,
    firewall: &SessionFirewall,
    there: Option<Vec<u8>>,
) -> Option<FileUndo> {
    let (is_new, is_gone) = (first.kind == ChangeKind::Created, last.kind == ChangeKind::Deleted);
    if is_new && is_gone {
        return None;
    }
    if (first.before.is_none() && !is_new) || (last.after.is_none() && !is_gone) {
        return Some(FileUndo::Keep("what it was, or what became of it, is not known"));
    }
    let there = there.map(String::from_utf8).transpose();
    // Compared with masks, as the change has them: equal secrets have equal masks.
    let is_as_left = |there: &Option<String>| {
        there.as_deref().map(|text| firewall.masked(text)).as_deref() == last.after.as_deref()
    };
    let Some(there) = there.ok().filter(is_as_left) else {
        return Some(FileUndo::Keep("it has been changed since"));
    };
    let Some(before) = &first.before else { return Some(FileUndo::Remove) };
    Some(firewall.unmasked(before, &there.unwrap_or_default()).map_or(
        FileUndo::Keep("it had a secret that it has no longer, and that is known nowhere else"),
        FileUndo::Write,
    ))
}
