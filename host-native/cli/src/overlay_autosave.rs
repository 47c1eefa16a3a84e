//! What a session's overlay holds is saved whenever a call has ended, before anybody is told what
//! came of it. That this fails is told here.

use super::console::warn;
use innerloop_core::event::{Event, EventKind};
use innerloop_workspace::Workspace;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells where what was changed is not saved.
#[derive(Debug)]
pub(super) struct SaveMonitor {
    workspace: Workspace,
    is_told: AtomicBool,
}

impl SaveMonitor {
    /// Of that workspace, if it is an overlay that outlives the program.
    pub(super) fn of(workspace: &Workspace) -> Option<Self> {
        workspace.kept_in()?;
        Some(Self { workspace: workspace.clone(), is_told: AtomicBool::default() })
    }

    /// Hears what the session says. That saving fails is told once, until it works again.
    pub(super) fn add(&self, event: &Event) {
        if !matches!(event.kind, EventKind::ToolCallEnd { .. }) {
            return;
        }
        let why = self.workspace.unsaved();
        let was_told = self.is_told.swap(why.is_some(), Ordering::AcqRel);
        if let Some(why) = why.filter(|_| !was_told) {
            let lost = "it would be lost if this program were killed";
            warn(&format!("what the agent has changed is not saved: {why}; {lost}"));
        }
    }
}
