//! Overlays that outlive their program, as methods of the workspace: an overlay is kept in a folder
//! of the caller's, such as a session's, and the next program takes it up from there. Whenever a
//! program is killed, the next one finds what the last save has left, and nothing of a later call;
//! an application that was interrupted is undone before anything else is done.

use super::{
    Workspace,
    apply::{
        interrupted::{self, NotTakenBack},
        is_interrupted, sweep,
    },
    apply_step::TakenBack,
    change::shown,
    layer::WorkspaceLayer,
    overlay::{
        Overlay,
        overlay_folder::KeptError,
        resume::{InterruptedApplication, ResumedOverlay},
    },
    root::Root,
    workspace_folder::WorkspaceError,
};
use crate::app_dirs::meets;
use std::{
    io,
    path::{Path, PathBuf, absolute},
    sync::Arc,
};

impl Workspace {
    /// Opens an overlay of this workspace's folder that outlives its program. Its changes are kept
    /// in `folder`, which is created privately once there is something to keep, and must neither
    /// be in the workspace nor around it. If an overlay was saved there, this one shows the same;
    /// an application that was interrupted is undone first. Only [`Workspace::discard`],
    /// [`Workspace::give_up`] and [`Workspace::apply`] remove what is kept.
    ///
    /// # Errors
    /// [`WorkspaceError::NoOverlay`] if it cannot be kept there, [`WorkspaceError::Busy`] if
    /// another program works on it, [`WorkspaceError::OfAnother`] if it was made for another
    /// folder, and [`WorkspaceError::Damaged`] or [`WorkspaceError::HalfApplied`] if it cannot be
    /// taken up as it was. Then nothing of it is removed.
    pub fn overlay_in(&self, folder: &Path) -> Result<Self, WorkspaceError> {
        let root = self.shared.layer.lower();
        let no_place = |error| no_place(root, error);
        let folder = place(root, folder)?;
        let ResumedOverlay { mut overlay, unfinished } =
            Overlay::resume(Arc::clone(root), folder.clone())
                .map_err(|error| unkept(root.path(), folder, error))?;
        match unfinished {
            // Stages of killed programs are removed only if none of them is this overlay's: what it
            // replaced in the folder may stand there alone.
            None => sweep(root),
            Some(InterruptedApplication::Applied(application)) => {
                interrupted::end(root, &application);
                overlay.forget_applied();
            }
            Some(InterruptedApplication::Applying(application)) => {
                let taken_back = interrupted::take_back(&overlay, &application);
                let taken_back = taken_back.map_err(|NotTakenBack { path, kept, error }| {
                    WorkspaceError::HalfApplied { path: shown(&path), kept, error }
                })?;
                // Saved at once without its steps: the next program must not undo them again.
                overlay.save(false).map_err(no_place)?;
                overlay.taken_back = taken_back;
            }
        }
        Ok(Self::of(WorkspaceLayer::Overlay(Box::new(overlay))))
    }

    /// Returns the path of the workspace whose overlay was saved in `folder`; `None` if there is no
    /// overlay. [`Workspace::overlay_in`] of that workspace takes it up.
    ///
    /// # Errors
    /// [`WorkspaceError::Busy`] if another program works on it, [`WorkspaceError::Damaged`] if it
    /// cannot be read.
    pub fn overlaid(folder: &Path) -> Result<Option<PathBuf>, WorkspaceError> {
        if !folder.exists() {
            return Ok(None);
        }
        let lower = Overlay::lower_of(folder.to_owned());
        lower.map_err(|error| unkept(folder, folder.to_owned(), error))
    }

    /// Returns whether a program was killed while it applied changes to this folder, so that the
    /// folder may hold some of them. Taking up the overlay that they are of undoes them.
    #[must_use]
    pub fn is_half_applied(&self) -> bool {
        is_interrupted(self.shared.layer.lower())
    }

    /// Treats an overlay that [`Workspace::is_partial`] as whole: a person has said so.
    pub fn accept_partial(&self) {
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.accept();
        }
    }

    /// Saves an overlay's changes in the folder that they are kept in, so that they outlast a kill
    /// of the program and a stop of the machine: contents and names together, or neither. Takes a
    /// time in proportion to what was changed since the last save, and next to none if nothing has
    /// changed; now and then to all changed names. Does nothing without such a folder.
    ///
    /// # Errors
    /// The system's; then the last save still holds.
    pub fn save(&self) -> io::Result<()> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => Ok(()),
            // There is one view for all runs: while another run still changes files, this save
            // holds a part of what that one does, and has to say so.
            WorkspaceLayer::Overlay(overlay) => overlay.save(self.shared.runs.are_changing()),
        }
    }

    /// Returns why the last save of an overlay has failed, if it has: what was changed since would
    /// be lost if the program were killed.
    #[must_use]
    pub fn unsaved(&self) -> Option<String> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => None,
            WorkspaceLayer::Overlay(overlay) => overlay.unsaved(),
        }
    }

    /// Returns whether an overlay that was taken up holds changes of a call that was cut off when
    /// its program ended.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => false,
            WorkspaceLayer::Overlay(overlay) => overlay.is_partial(),
        }
    }

    /// Copies an overlay into another folder, which is created and must hold no overlay yet:
    /// [`Workspace::overlay_in`] there shows what this one shows. Does nothing if nothing is
    /// changed. Nobody else may use either folder meanwhile.
    ///
    /// # Errors
    /// As those of [`Workspace::overlay_in`]; then there is no overlay in that folder.
    pub fn copy_overlay(&self, folder: &Path) -> Result<(), WorkspaceError> {
        let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer else { return Ok(()) };
        let folder = place(overlay.lower(), folder)?;
        let copied = overlay.copy_to(folder.clone());
        copied.map_err(|error| unkept(overlay.lower().path(), folder, error))
    }

    /// Returns the folder that an overlay is kept in, if it outlives its program.
    #[must_use]
    pub fn kept_in(&self) -> Option<&Path> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => None,
            WorkspaceLayer::Overlay(overlay) => overlay.kept_in(),
        }
    }

    /// Returns the report of an application that was undone when this overlay was opened, to be
    /// shown to the user.
    #[must_use]
    pub fn taken_back(&self) -> Option<&TakenBack> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => None,
            WorkspaceLayer::Overlay(overlay) => overlay.taken_back.as_ref(),
        }
    }
}

/// Returns the absolute path of a folder, if an overlay of that workspace may be kept there.
fn place(root: &Root, folder: &Path) -> Result<PathBuf, WorkspaceError> {
    let folder = absolute(folder).map_err(|error| no_place(root, error))?;
    // In the workspace, a guest could write to its own overlay's files.
    if meets(&folder, root.path()) {
        let why = format!("{} meets it; name another folder", folder.display());
        return Err(no_place(root, io::Error::other(why)));
    }
    Ok(folder)
}

fn no_place(root: &Root, error: io::Error) -> WorkspaceError {
    WorkspaceError::NoOverlay { path: root.path().to_owned(), error }
}

/// Makes the error that says why the overlay of the folder at `root` cannot be kept in `folder`.
fn unkept(root: &Path, folder: PathBuf, error: KeptError) -> WorkspaceError {
    match error {
        KeptError::Busy => WorkspaceError::Busy(folder),
        KeptError::OfAnother(root) => WorkspaceError::OfAnother { folder, root },
        KeptError::Damaged(why) => WorkspaceError::Damaged { folder, why },
        KeptError::Failed(error) => WorkspaceError::NoOverlay { path: root.to_owned(), error },
    }
}

#[cfg(test)]
mod tests;
