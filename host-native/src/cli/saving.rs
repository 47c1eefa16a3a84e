//! What a session's overlay holds is saved whenever a call has ended, so that a program that is
//! killed takes no more with it than what it was about to save. Up to when that was done is noted
//! beside the overlay, so that the next program knows whether anything is missing.

use super::console::warn;
use crate::sandbox::Workspace;
use innerloop_core::{
    event::{Event, EventKind},
    time::Instant,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::Notify,
    task::{JoinHandle, spawn_blocking},
    time::sleep,
};

/// After this time it is tried again, where saving was put off.
const AGAIN: Duration = Duration::from_millis(50);

/// The file beside an overlay that says up to which session time it is saved.
const SAVED: &str = "saved";

/// What it says where all is saved, or where it should be.
const ALL: u64 = u64::MAX;

/// Saves beside what goes on, until it is dropped.
#[derive(Debug)]
pub(super) struct Saving {
    wanted: Arc<Notify>,
    /// When the last call ended that has changed anything.
    changed: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

/// Notes that all that was changed is where it belongs.
pub(super) fn note_all(workspace: &Workspace) {
    workspace.kept_in().into_iter().for_each(|overlay| note(overlay, ALL));
}

/// Notes that it is known what is missing of what was changed before that time.
pub(super) fn note_known(workspace: &Workspace, until: Instant) {
    workspace.kept_in().into_iter().for_each(|overlay| note(overlay, until.0));
}

/// Whether changes are missing that were made up to that time, as the session's log says.
pub(super) fn is_behind(workspace: &Workspace, changed: Option<Instant>) -> bool {
    let Some((overlay, changed)) = workspace.kept_in().zip(changed) else { return false };
    let text = fs::read_to_string(place(overlay)).unwrap_or_default();
    text.trim().parse::<u64>().unwrap_or_default() < changed.0
}

fn note(overlay: &Path, until: u64) {
    // Without the note more is told to be missing than is.
    drop(fs::write(place(overlay), until.to_string()));
}

fn place(overlay: &Path) -> PathBuf {
    overlay.with_file_name(SAVED)
}

impl Saving {
    /// Of that workspace, if it is an overlay that outlives the program.
    pub(super) fn of(workspace: &Workspace) -> Option<Self> {
        let overlay = workspace.kept_in()?.to_owned();
        let (workspace, wanted) = (workspace.clone(), Arc::new(Notify::new()));
        let changed = Arc::new(AtomicU64::default());
        let (heard, last) = (Arc::clone(&wanted), Arc::clone(&changed));
        let task = tokio::spawn(async move {
            let mut is_told = false;
            loop {
                heard.notified().await;
                let mut until = last.load(Ordering::Acquire);
                let mut saved = save(&workspace, &mut is_told).await;
                while saved == Saved::Later {
                    sleep(AGAIN).await;
                    until = last.load(Ordering::Acquire);
                    saved = save(&workspace, &mut is_told).await;
                }
                if saved == Saved::All && until > 0 {
                    note(&overlay, until);
                }
            }
        });
        Some(Self { wanted, changed, task })
    }

    /// Hears what the session says.
    pub(super) fn add(&self, event: &Event) {
        if let EventKind::ToolCallEnd { outcome, .. } = &event.kind {
            if !outcome.changes.is_empty() {
                self.changed.fetch_max(event.at.0, Ordering::AcqRel);
            }
            self.wanted.notify_one();
        }
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What has come of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saved {
    All,
    /// It is put off.
    Later,
    /// It can't be done now.
    Failed,
}

/// Saves, unless that is put off. That it can't be done is told once, until it can.
async fn save(workspace: &Workspace, is_told: &mut bool) -> Saved {
    let workspace = workspace.clone();
    match spawn_blocking(move || workspace.save_if_due()).await {
        Ok(Ok(true)) => {
            *is_told = false;
            Saved::All
        }
        Ok(Ok(false)) => Saved::Later,
        Ok(Err(error)) => {
            if !std::mem::replace(is_told, true) {
                let lost = "it would be lost if this program were killed";
                warn(&format!("what the agent has changed is not saved: {error}; {lost}"));
            }
            Saved::Failed
        }
        Err(_) => Saved::Failed,
    }
}
