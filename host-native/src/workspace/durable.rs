//! Overlays that outlive their program: they are kept in a folder of the caller's, and taken up
//! again from there.

use super::{
    Workspace,
    apply::{
        interrupted::{self, NotTakenBack},
        sweep,
    },
    change::shown,
    layer::Layer,
    open::WorkspaceError,
    overlay::{
        Overlay,
        kept::KeptError,
        resume::{Resumed, Unfinished},
    },
    root::Root,
    step::TakenBack,
};
use crate::places::meets;
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
        let Resumed { mut overlay, unfinished } = Overlay::resume(Arc::clone(root), folder.clone())
            .map_err(|error| unkept(root, folder, error))?;
        match unfinished {
            None => sweep(root),
            Some(Unfinished::Applied(application)) => {
                interrupted::end(root, &application);
                overlay.forget_applied();
            }
            Some(Unfinished::Applying(application)) => {
                let taken_back = interrupted::take_back(&overlay, &application);
                let taken_back = taken_back.map_err(|NotTakenBack { path, kept, error }| {
                    WorkspaceError::HalfApplied { path: shown(&path), kept, error }
                })?;
                overlay.save().map_err(no_place)?;
                overlay.taken_back = taken_back;
            }
        }
        Ok(Self::of(Layer::Overlay(Box::new(overlay))))
    }

    /// Makes what an overlay has changed so far last, in the folder that it was given, also if the
    /// program is killed or the machine stops. What is written later to a file that is saved is
    /// kept, too; any other change is lost without another save. Costs next to nothing if nothing
    /// has changed since the last time, otherwise a time in proportion to the number of all changed
    /// names and of the files written since. Without such a folder there is nothing to do.
    ///
    /// # Errors
    /// The system's; then what was saved before still is.
    pub fn save(&self) -> io::Result<()> {
        match &*self.shared.layer {
            Layer::InPlace(_) => Ok(()),
            Layer::Overlay(overlay) => overlay.save(),
        }
    }

    /// As [`Workspace::save`], to be called again and again: if the last save took more than 50 ms,
    /// nothing is done until 19 times as long has gone by, so that however many names are changed,
    /// no more than a twentieth of the time goes into it. Gives whether all is saved; if not, it
    /// should be called once more before long.
    ///
    /// # Errors
    /// As there.
    pub fn save_if_due(&self) -> io::Result<bool> {
        match &*self.shared.layer {
            Layer::InPlace(_) => Ok(true),
            Layer::Overlay(overlay) => overlay.save_if_due(),
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
        let Layer::Overlay(overlay) = &*self.shared.layer else { return Ok(()) };
        let folder = place(overlay.lower(), folder)?;
        let copied = overlay.copy_to(folder.clone());
        copied.map_err(|error| unkept(overlay.lower(), folder, error))
    }

    /// The folder that an overlay was given to be kept in.
    #[must_use]
    pub fn kept_in(&self) -> Option<&Path> {
        match &*self.shared.layer {
            Layer::InPlace(_) => None,
            Layer::Overlay(overlay) => overlay.kept_in(),
        }
    }

    /// What was taken back when this overlay was opened, for people to be told.
    #[must_use]
    pub fn taken_back(&self) -> Option<&TakenBack> {
        match &*self.shared.layer {
            Layer::InPlace(_) => None,
            Layer::Overlay(overlay) => overlay.taken_back.as_ref(),
        }
    }
}

/// Where an overlay of that folder may be kept, if that is one of the places.
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

fn unkept(root: &Root, folder: PathBuf, error: KeptError) -> WorkspaceError {
    match error {
        KeptError::Busy => WorkspaceError::Busy(folder),
        KeptError::OfAnother(root) => WorkspaceError::OfAnother { folder, root },
        KeptError::Damaged(why) => WorkspaceError::Damaged { folder, why },
        KeptError::Failed(error) => no_place(root, error),
    }
}

#[cfg(test)]
mod tests;
