//! Overlays that outlive their program: they are kept in a folder of the caller's, and taken up
//! again from there.

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
    /// An overlay of this workspace's folder that outlives its program. What is changed is kept in
    /// `folder`, which is made when there is something to keep, private and with those around it,
    /// and must not meet the workspace. If an overlay was saved there, this one shows what that one
    /// showed; an application that was interrupted is taken back before. Only
    /// [`Workspace::discard`] and [`Workspace::apply`] remove it.
    ///
    /// # Errors
    /// [`WorkspaceError::NoOverlay`] if it cannot be there, [`WorkspaceError::Busy`] if another
    /// program works on it, [`WorkspaceError::OfAnother`] if it was made for another folder, and
    /// [`WorkspaceError::Damaged`] or [`WorkspaceError::HalfApplied`] if it cannot be taken up as
    /// it was. Then all stays as it is.
    pub fn overlay_in(&self, folder: &Path) -> Result<Self, WorkspaceError> {
        let root = self.shared.layer.lower();
        let no_place = |error| no_place(root, error);
        let folder = place(root, folder)?;
        let ResumedOverlay { mut overlay, unfinished } =
            Overlay::resume(Arc::clone(root), folder.clone())
                .map_err(|error| unkept(root.path(), folder, error))?;
        match unfinished {
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
                overlay.save(false).map_err(no_place)?;
                overlay.taken_back = taken_back;
            }
        }
        Ok(Self::of(WorkspaceLayer::Overlay(Box::new(overlay))))
    }

    /// The path of the folder that an overlay shows which was saved in `folder`; nothing if there
    /// is no overlay. [`Workspace::overlay_in`] of that folder takes it up.
    ///
    /// # Errors
    /// [`WorkspaceError::Busy`] if another program works on it, [`WorkspaceError::Damaged`] if it
    /// is not what was left there.
    pub fn overlaid(folder: &Path) -> Result<Option<PathBuf>, WorkspaceError> {
        if !folder.exists() {
            return Ok(None);
        }
        let lower = Overlay::lower_of(folder.to_owned());
        lower.map_err(|error| unkept(folder, folder.to_owned(), error))
    }

    /// Returns whether a program was killed while it applied changes to this folder, so that it
    /// holds some of them: whoever takes up their overlay puts it right.
    #[must_use]
    pub fn is_half_applied(&self) -> bool {
        is_interrupted(self.shared.layer.lower())
    }

    /// Takes what an overlay holds for whole, which [`Workspace::is_partial`].
    pub fn accept_partial(&self) {
        if let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer {
            overlay.accept();
        }
    }

    /// Makes what an overlay has changed so far last, in the folder that it was given, also if the
    /// program is killed or the machine stops: contents and names together, or neither. That is
    /// done when a run ends, before anybody is told what came of it. Costs next to nothing if
    /// nothing has changed since the last time, otherwise a time in proportion to the number of all
    /// changed names and of the files written since. Without such a folder there is nothing to do.
    ///
    /// # Errors
    /// The system's; then what was saved before still is.
    pub fn save(&self) -> io::Result<()> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => Ok(()),
            WorkspaceLayer::Overlay(overlay) => overlay.save(self.shared.runs.are_changing()),
        }
    }

    /// Returns why an overlay could not be saved the last time that it was tried, if that is so:
    /// what was changed since would be lost if the program were killed.
    #[must_use]
    pub fn unsaved(&self) -> Option<String> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => None,
            WorkspaceLayer::Overlay(overlay) => overlay.unsaved(),
        }
    }

    /// Returns whether an overlay that was taken up again holds what a call has changed that was
    /// ended with its program, before it was done.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => false,
            WorkspaceLayer::Overlay(overlay) => overlay.is_partial(),
        }
    }

    /// Keeps a copy of an overlay in another folder, which is made and must hold no overlay yet:
    /// [`Workspace::overlay_in`] there shows what this one shows. Does nothing if nothing is
    /// changed. Nobody else may use either folder meanwhile.
    ///
    /// # Errors
    /// As those of [`Workspace::overlay_in`]; then there is nothing in that folder that names
    /// anything.
    pub fn copy_overlay(&self, folder: &Path) -> Result<(), WorkspaceError> {
        let WorkspaceLayer::Overlay(overlay) = &*self.shared.layer else { return Ok(()) };
        let folder = place(overlay.lower(), folder)?;
        let copied = overlay.copy_to(folder.clone());
        copied.map_err(|error| unkept(overlay.lower().path(), folder, error))
    }

    /// The folder that an overlay was given to be kept in.
    #[must_use]
    pub fn kept_in(&self) -> Option<&Path> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => None,
            WorkspaceLayer::Overlay(overlay) => overlay.kept_in(),
        }
    }

    /// Returns what was taken back when this overlay was opened, for people to be told.
    #[must_use]
    pub fn taken_back(&self) -> Option<&TakenBack> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => None,
            WorkspaceLayer::Overlay(overlay) => overlay.taken_back.as_ref(),
        }
    }
}

/// Returns where an overlay of that folder may be kept, if that is one of the places.
fn place(root: &Root, folder: &Path) -> Result<PathBuf, WorkspaceError> {
    let folder = absolute(folder).map_err(|error| no_place(root, error))?;
    if meets(&folder, root.path()) {
        let why = format!("{} meets it; name another folder", folder.display());
        return Err(no_place(root, io::Error::other(why)));
    }
    Ok(folder)
}

fn no_place(root: &Root, error: io::Error) -> WorkspaceError {
    WorkspaceError::NoOverlay { path: root.path().to_owned(), error }
}

/// Returns why the overlay of the folder at `root` cannot be kept in `folder`.
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
