//! The pending changes of a conversation: those that are not applied yet, counted and shown. The
//! asynchronous functions compare files on another thread, so that the screen stays alive.

use crate::{notices, style::OutputStyle};
use innerloop_workspace::{
    Workspace,
    diff::{HiddenCounts, RunChanges},
};
use tokio::task::spawn_blocking;

/// Returns the number of files that are changed and not applied.
pub(super) async fn pending(workspace: &Workspace) -> usize {
    if !workspace.is_overlay() {
        return 0;
    }
    let workspace = workspace.clone();
    spawn_blocking(move || changed(&workspace)).await.unwrap_or_default()
}

/// Returns the same number, and blocks until the files are compared.
pub(super) fn changed(workspace: &Workspace) -> usize {
    workspace.changes().0.iter().filter(|file| !file.is_same()).count()
}

/// Returns the pending changes as a diff, followed by the notices about them.
pub(super) fn difference(workspace: &Workspace, style: OutputStyle) -> String {
    let (files, is_all) = workspace.changes();
    let mut changes = RunChanges::default();
    files.iter().for_each(|file| changes.add_file(file));
    let diff = changes.unified_until(|| false);
    style.diff(&diff.text) + &notices::of(&files, is_all, diff.hidden, style)
}

/// Returns the notices about the pending changes.
pub(super) async fn notices(workspace: &Workspace, style: OutputStyle) -> String {
    let workspace = workspace.clone();
    let told = move || {
        let (files, is_all) = workspace.changes();
        notices::of(&files, is_all, HiddenCounts::default(), style)
    };
    spawn_blocking(told).await.unwrap_or_default()
}

/// Returns a count in words, such as `2 changed files`.
pub(super) fn files(count: usize) -> String {
    format!("{count} changed file{}", if count == 1 { "" } else { "s" })
}
