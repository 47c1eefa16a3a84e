//! What a session's overlay holds is saved whenever a call has ended, so that a program that is
//! killed takes nothing with it.

use super::console::warn;
use crate::sandbox::Workspace;
use innerloop_core::event::{Event, EventKind};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::Notify,
    task::{JoinHandle, spawn_blocking},
    time::sleep,
};

/// After this time it is tried again, where saving was put off.
const AGAIN: Duration = Duration::from_millis(50);

/// Saves beside what goes on, until it is dropped.
#[derive(Debug)]
pub(super) struct Saving {
    wanted: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Saving {
    /// Of that workspace, if it is an overlay that outlives the program.
    pub(super) fn of(workspace: &Workspace) -> Option<Self> {
        let _place = workspace.kept_in()?;
        let (workspace, wanted) = (workspace.clone(), Arc::new(Notify::new()));
        let heard = Arc::clone(&wanted);
        let task = tokio::spawn(async move {
            loop {
                heard.notified().await;
                while !save(&workspace).await {
                    sleep(AGAIN).await;
                }
            }
        });
        Some(Self { wanted, task })
    }

    /// Hears what the session says.
    pub(super) fn add(&self, event: &Event) {
        if matches!(event.kind, EventKind::ToolCallEnd { .. }) {
            self.wanted.notify_one();
        }
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Saves, unless that is put off; gives whether there is nothing more to do.
async fn save(workspace: &Workspace) -> bool {
    let workspace = workspace.clone();
    match spawn_blocking(move || workspace.save_if_due()).await {
        Ok(Ok(is_saved)) => is_saved,
        Ok(Err(error)) => {
            warn(&format!("what was changed is not saved: {error}; make room"));
            true
        }
        Err(_) => true,
    }
}
