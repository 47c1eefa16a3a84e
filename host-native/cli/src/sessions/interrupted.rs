//! Folders that were left half applied: a program was killed while it applied a session's changes.

use super::store::SessionStore;
use crate::console::warn;
use innerloop_workspace::{TakenBack, Workspace};

/// Puts a folder right that another session's program was killed in while it applied changes.
pub(crate) fn put_right(folder: &Workspace) {
    if !folder.is_half_applied() {
        return;
    }
    // Where no session can be looked at, that the folder stays so is told below.
    let all = SessionStore::open().and_then(|store| store.list()).unwrap_or_else(|_| Vec::new());
    // Also one of which all is applied, and only what was put aside is left.
    for listed in all.iter().filter(|listed| listed.overlay().is_dir()) {
        // Whoever works with it puts it right.
        let Ok(_lock) = listed.lock() else { continue };
        // One of another folder, or a damaged one, is none of those.
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

/// Says what was taken back when an overlay was taken up, whose changes `who` holds.
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
