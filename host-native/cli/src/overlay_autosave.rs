//! The warning if a session's overlay can't be saved. The workspace saves it whenever a call has
//! ended, before the result is reported; this module only watches whether that works.

use super::console::warn;
use innerloop_core::event::{Event, EventKind};
use innerloop_workspace::Workspace;
use std::sync::atomic::{AtomicBool, Ordering};

/// The monitor that warns of changes that are not saved.
#[derive(Debug)]
pub(super) struct SaveMonitor {
    workspace: Workspace,
    is_told: AtomicBool,
}

impl SaveMonitor {
    /// Watches that workspace, if it is an overlay that should outlive the program.
    pub(super) fn of(workspace: &Workspace) -> Option<Self> {
        workspace.kept_in()?;
        Some(Self { workspace: workspace.clone(), is_told: AtomicBool::default() })
    }

    /// Follows an event. A failure is reported once, and again only after saving has worked.
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
