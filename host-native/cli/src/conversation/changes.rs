//! What a conversation has changed and not applied yet.

use crate::{notices, style::OutputStyle};
use innerloop_workspace::{
    Workspace,
    diff::{HiddenCounts, RunChanges},
};
use tokio::task::spawn_blocking;

/// Returns how many files are changed and not applied.
pub(super) async fn pending(workspace: &Workspace) -> usize {
    if !workspace.is_overlay() {
        return 0;
    }
    let workspace = workspace.clone();
    spawn_blocking(move || changed(&workspace)).await.unwrap_or_default()
}

/// The same, at once.
pub(super) fn changed(workspace: &Workspace) -> usize {
    workspace.changes().0.iter().filter(|file| !file.is_same()).count()
}

/// Returns what is changed and not applied, as a diff, and below it what deserves a look.
pub(super) fn difference(workspace: &Workspace, style: OutputStyle) -> String {
    let (files, is_all) = workspace.changes();
    let mut changes = RunChanges::default();
    files.iter().for_each(|file| changes.add_file(file));
    let diff = changes.unified_until(|| false);
    style.diff(&diff.text) + &notices::of(&files, is_all, diff.hidden, style)
}

/// Returns what deserves a look of what is changed and not applied.
pub(super) async fn notices(workspace: &Workspace, style: OutputStyle) -> String {
    let workspace = workspace.clone();
    let told = move || {
        let (files, is_all) = workspace.changes();
        notices::of(&files, is_all, HiddenCounts::default(), style)
    };
    spawn_blocking(told).await.unwrap_or_default()
}

/// For example `2 changed files`.
pub(super) fn files(count: usize) -> String {
    format!("{count} changed file{}", if count == 1 { "" } else { "s" })
}
