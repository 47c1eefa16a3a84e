//! The repair of folders that were left half applied because a program was killed while it applied
//! a session's changes. Opening that session's overlay undoes what was applied, so that the task
//! here is to find the session, or to warn if there is none.

use super::store::SessionStore;
use crate::console::warn;
use innerloop_workspace::{TakenBack, Workspace};

/// Undoes a half-finished application of changes to a folder, whichever session's it was.
pub(crate) fn put_right(folder: &Workspace) {
    if !folder.is_half_applied() {
        return;
    }
    // If the sessions can't be read, the warning at the end tells that the folder is still as it
    // was left.
    let all = SessionStore::open().and_then(|store| store.list()).unwrap_or_else(|_| Vec::new());
    // Not only sessions with changes: one may have applied all of them and died before it removed
    // the files that it had put aside.
    for listed in all.iter().filter(|listed| listed.overlay().is_dir()) {
        // A program that has the lock repairs the folder itself.
        let Ok(_lock) = listed.lock() else { continue };
        // An overlay of another folder, or a damaged one, cannot be the one that is looked for.
        let Ok(overlay) = folder.overlay_in(&listed.overlay()) else { continue };
        if overlay.taken_back().is_some() {
            tell_taken_back(&overlay, &format!("the session {}", listed.short()));
            let how = format!("innerloop sessions apply {} applies them", listed.short());
            warn(&how);
        }
    }
    if folder.is_half_applied() {
        warn(
            "a program was ended while it applied changes to this folder, and its session is not \
             here: the files that it replaced are in .innerloop",
        );
    }
}

/// Warns that opening an overlay has undone a half-finished application; `who` holds the changes.
pub(crate) fn tell_taken_back(overlay: &Workspace, who: &str) {
    let Some(TakenBack { kept }) = overlay.taken_back() else { return };
    let kept = kept.as_ref().map(|kept| {
        format!("; files that something else has changed since are in {}", kept.display())
    });
    warn(&format!(
        "the program was ended while it applied changes: the folder is again as it was before, \
         and {who} holds the changes{}",
        kept.unwrap_or_default()
    ));
}
