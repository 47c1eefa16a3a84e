//! The ends of an overlay's changes, as methods of the workspace: they are applied to the folder,
//! copied elsewhere, or given up. All hold the workspace's lock for changes, but `keep`, which
//! only reads.

use super::{
    Workspace,
    apply::{self, ApplyError, ApplyProgress},
    layer::WorkspaceLayer,
};
use std::{io, path::Path};

impl Workspace {
    /// Applies an overlay's changes to its folder, if nothing else has changed the same files
    /// meanwhile; then the overlay shows the folder again. Does nothing where files are changed in
    /// place. Freeze the workspace before: files may still be open for writing.
    ///
    /// # Errors
    /// [`ApplyError`]; nothing was applied, unless it is [`ApplyError::Torn`].
    pub fn apply(&self) -> std::result::Result<(), ApplyError> {
        self.apply_until(&|_| false)
    }

    /// Applies the changes as [`Workspace::apply`] does, but undoes what was done once it
    /// `is_stopped`, which is asked before each step.
    ///
    /// # Errors
    /// As [`Workspace::apply`]'s, and [`ApplyError::Stopped`].
    pub fn apply_until(
        &self,
        is_stopped: &dyn Fn(ApplyProgress) -> bool,
    ) -> std::result::Result<(), ApplyError> {
        let _held = self.changing();
        let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer else { return Ok(()) };
        apply::apply(overlay, is_stopped)?;
        // Only now: what is applied is read from the overlay until the last step is done.
        overlay.reset();
        Ok(())
    }

    /// Accepts what something else has changed in the folder until now, so that applying replaces
    /// it by the overlay's files instead of failing. Does nothing where files are changed in place.
    pub fn rebase(&self) {
        let _held = self.changing();
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.rebase();
        }
    }

    /// Gives up an overlay's changes, so that it shows the folder again. Does nothing where files
    /// are changed in place.
    pub fn give_up(&self) {
        let _held = self.changing();
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.reset();
        }
    }

    /// Copies the files that an overlay has changed, as they are now, into a new folder, which is
    /// created with those above it. Does nothing where files are changed in place.
    ///
    /// # Errors
    /// The system's error if the folder exists or cannot be created; otherwise the first one of
    /// copying, which does not keep the other files from being copied.
    pub fn keep(&self, folder: &Path) -> io::Result<()> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => Ok(()),
            WorkspaceLayer::Overlay(overlay) => apply::keep(overlay, folder),
        }
    }

    /// Gives up an overlay's changes and removes the folder that they are kept in, even if clones
    /// are left, which can keep no more changes. Does nothing where files are changed in place.
    pub fn discard(&self) {
        let _held = self.changing();
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.discard();
        }
    }
}
