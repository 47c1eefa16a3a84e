//! What becomes of what an overlay has changed: it goes into the folder, elsewhere, or nowhere.

use super::{
    Workspace,
    apply::{self, ApplyError, ApplyProgress},
    layer::WorkspaceLayer,
};
use std::{io, path::Path};

impl Workspace {
    /// Brings what an overlay has changed into its folder, if nothing else has changed the same
    /// files meanwhile; from then on the overlay shows the folder again, and nothing is kept of it.
    /// Where files are changed in place there is nothing to do. What is still open for writing
    /// should be frozen before.
    ///
    /// # Errors
    /// [`ApplyError`]: nothing was applied.
    pub fn apply(&self) -> std::result::Result<(), ApplyError> {
        self.apply_until(&|_| false)
    }

    /// The same, but as soon as it `is_stopped`, which is asked before each step, what was done is
    /// undone.
    ///
    /// # Errors
    /// As [`Workspace::apply`]'s.
    pub fn apply_until(
        &self,
        is_stopped: &dyn Fn(ApplyProgress) -> bool,
    ) -> std::result::Result<(), ApplyError> {
        let _held = self.changing();
        let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer else { return Ok(()) };
        apply::apply(overlay, is_stopped)?;
        overlay.reset();
        Ok(())
    }

    /// Lets an overlay be applied also where something else has changed the same files meanwhile,
    /// as far as that is by now: its files take their place. Where files are changed in place there
    /// is nothing to do.
    pub fn rebase(&self) {
        let _held = self.changing();
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.rebase();
        }
    }

    /// Gives up what an overlay has changed: it shows the folder again. Where files are changed in
    /// place there is nothing to do.
    pub fn give_up(&self) {
        let _held = self.changing();
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.reset();
        }
    }

    /// Copies the files that an overlay has changed, as they are now, into a new folder, which is
    /// made with those around it. Where files are changed in place there is nothing to do.
    ///
    /// # Errors
    /// If the folder is there already, or the system refuses something.
    pub fn keep(&self, folder: &Path) -> io::Result<()> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => Ok(()),
            WorkspaceLayer::Overlay(overlay) => apply::keep(overlay, folder),
        }
    }

    /// Forgets what an overlay has changed and removes what was kept of it, also if clones are
    /// left: they are of no more use. Where files are changed in place there is nothing to do.
    pub fn discard(&self) {
        let _held = self.changing();
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.discard();
        }
    }
}
