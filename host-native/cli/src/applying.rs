//! The application of changes to the folder, with its progress on a terminal if it takes long.

use super::terminal;
use innerloop_workspace::{ApplyError, ApplyProgress, Workspace};
use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// The time between two reports of the progress.
const PAUSE: Duration = Duration::from_secs(1);

/// Applies the changes of a workspace. Once `is_stopped` returns true, what was done is undone.
pub(super) fn apply(
    workspace: &Workspace,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), ApplyError> {
    let told = Cell::new(Instant::now());
    let is_watched = terminal::size().is_some();
    workspace.apply_until(&|ApplyProgress { done, of }| {
        if is_watched && told.get().elapsed() >= PAUSE {
            told.set(Instant::now());
            terminal::tell(&format!("applying the changes: {} %\n", done * 100 / of));
        }
        is_stopped()
    })
}
