//! The life of an overlay beyond its program: taking it up, saving its view, and noting that it is
//! being applied. What a save has written is always whole; whether a run was still at work is
//! written with it.

use super::{
    super::{apply_step::PlanApplication, file_stat::PathStat, root::Root},
    Overlay, SaveState,
    overlay_folder::{KeptError, PersistentStore},
    saved_changes,
    saved_view::{self, RootIdentity, SavedView},
    store::OverlayStore,
    view::LowerSnapshot,
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

/// The application of changes that an earlier program did not finish.
#[derive(Debug)]
pub(in super::super) enum InterruptedApplication {
    /// Some of its steps may be done, and are to be undone.
    Applying(PlanApplication),
    /// All steps were done, and cleaning up is not finished.
    Applied(PlanApplication),
}

/// An overlay that was taken up, and what has to be done before it is used.
#[derive(Debug)]
pub(in super::super) struct ResumedOverlay {
    pub(in super::super) overlay: Overlay,
    pub(in super::super) unfinished: Option<InterruptedApplication>,
}

impl Overlay {
    /// Takes up the overlay that was saved in the folder at this absolute path, or makes a new one
    /// there that shows `lower` as it is.
    pub(in super::super) fn resume(
        lower: Arc<Root>,
        folder: PathBuf,
    ) -> Result<ResumedOverlay, KeptError> {
        let kept = PersistentStore::open(folder)?;
        // If it cannot be read, only some room is lost: everything in it has been applied.
        let applied =
            kept.applied()?.and_then(|text| saved_view::read(&text, |_| Ok(())).ok()?.application);
        let Some(text) = kept.view()? else {
            // Without a view, all files that are left are of no more use.
            let _ = kept.take_up(&[].into(), 0);
            let overlay = Self::with(lower, OverlayStore::Kept(kept))?;
            let unfinished = applied.map(InterruptedApplication::Applied);
            return Ok(ResumedOverlay { overlay, unfinished });
        };
        let records = kept.records_after(&text)?;
        let SavedView { root, mut view, is_partial, application } =
            saved_view::read(&text, |form| saved_changes::replay(form, &records))
                .map_err(KeptError::Damaged)?;
        if !is_same(&root, &identity(&lower)?) {
            return Err(KeptError::OfAnother(root.path));
        }
        let named = view.stored().collect();
        let last = kept.take_up(&named, view.last()).map_err(|missing| {
            let of = view.entries().find(|(_, entry)| entry.number() == Some(missing));
            let of = of.map(|(path, _)| format!(", which holds {}", path.display()));
            KeptError::Damaged(format!("the file {missing}{} is missing", of.unwrap_or_default()))
        })?;
        view.skip_to(last);
        let mut overlay = Self::with(lower, OverlayStore::Kept(kept))?;
        overlay.add_temporary(&mut view);
        let saving = overlay.saving.get_mut().unwrap_or_else(PoisonError::into_inner);
        // An unfinished application is in the saved view, which therefore must be saved again once
        // it is undone, even if nothing else changes.
        saving.version = application.is_none().then_some((view.version(), !is_partial));
        saving.is_partial = is_partial;
        *overlay.view.get_mut().unwrap_or_else(PoisonError::into_inner) = view;
        let unfinished = application.map(InterruptedApplication::Applying);
        let unfinished = unfinished.or_else(|| applied.map(InterruptedApplication::Applied));
        Ok(ResumedOverlay { overlay, unfinished })
    }

    /// Returns the path of the workspace whose overlay was saved in that folder, if one was.
    pub(in super::super) fn lower_of(folder: PathBuf) -> Result<Option<PathBuf>, KeptError> {
        let text = PersistentStore::open(folder)?.view()?;
        let saved = text
            .map(|text| saved_view::read(&text, |_| Ok(())))
            .transpose()
            .map_err(KeptError::Damaged)?;
        Ok(saved.map(|saved| saved.root.path))
    }

    /// Treats a partial overlay as whole, so that it can be applied: the user has said so.
    pub(in super::super) fn accept(&self) {
        self.saving().is_partial = false;
    }

    /// Returns the folder that it is kept in, if it outlives its program.
    pub(in super::super) fn kept_in(&self) -> Option<&Path> {
        self.store.kept().map(PersistentStore::folder)
    }

    /// Saves what has changed in the folder that it is kept in, together with whether a run is
    /// still changing files.
    pub(in super::super) fn save(&self, is_changing: bool) -> io::Result<()> {
        let mut saving = self.saving();
        let saved = self.save_with(&mut saving, is_changing, None);
        saving.failed = saved.as_ref().err().map(ToString::to_string);
        saved
    }

    /// Returns why the last save has failed, if it has.
    pub(in super::super) fn unsaved(&self) -> Option<String> {
        self.saving().failed.clone()
    }

    /// Returns whether it holds changes of a run that was cut off when its program ended.
    pub(in super::super) fn is_partial(&self) -> bool {
        self.saving().is_partial
    }

    fn save_with(
        &self,
        saving: &mut SaveState,
        is_changing: bool,
        application: Option<&PlanApplication>,
    ) -> io::Result<()> {
        let Some(kept) = self.store.kept() else { return Ok(()) };
        let is_whole = !is_changing && !saving.is_partial;
        let mut view = self.change();
        let version = (view.version(), is_whole);
        if application.is_none() && saving.version == Some(version) {
            drop(view);
            // The names are saved, but open files may have been written to since.
            return kept.sync();
        }
        let root = identity(&self.lower)?;
        // If the save fails, it is unknown which view is on the disk. The next must not skip then,
        // and saves the view whole.
        let save = saving.version.take().and(kept.next_record());
        let save = save.filter(|_| application.is_none());
        let changed = view.take_unsaved();
        let text = match save {
            Some(save) => saved_changes::write(&view, &changed, save, !is_whole),
            None => saved_view::write((&root, &view), !is_whole, application),
        };
        let unused = kept.names(view.last());
        // The disk is waited for without the lock on the view, so that tools go on meanwhile.
        drop(view);
        match save {
            Some(_) => kept.append(&text, unused)?,
            None => kept.save(&text, unused)?,
        }
        saving.version = application.is_none().then_some(version);
        Ok(())
    }

    /// Copies this overlay into that folder, as another one that shows the same.
    pub(in super::super) fn copy_to(&self, folder: PathBuf) -> Result<(), KeptError> {
        let copy = OverlayStore::Kept(PersistentStore::open(folder)?);
        let Some(kept) = copy.kept() else { return Ok(()) };
        let view = self.view();
        if view.noted.is_empty() {
            return Ok(());
        }
        let copied = view.stored().try_for_each(|number| self.store.copy_to(number, &copy));
        // Without its files, the folder goes when `copy` is dropped, and can be copied to again.
        if let Err(error) = copied {
            view.stored().for_each(|number| copy.remove(number));
            return Err(error.into());
        }
        let root = identity(&self.lower)?;
        let text = saved_view::write((&root, &view), self.is_partial(), None);
        let unused = kept.names(view.last());
        kept.save(&text, unused)?;
        Ok(())
    }

    /// Saves the view together with the steps in which it is about to be applied.
    pub(in super::super) fn begin_applying(&self, application: &PlanApplication) -> io::Result<()> {
        self.save_with(&mut self.saving(), false, Some(application))
    }

    /// Saves the view without steps: its application was undone, wholly or in part.
    pub(in super::super) fn end_applying(&self) {
        // If this save fails, the next one makes up for it.
        let _ = self.save(false);
    }

    /// Notes anew what is below at a path, if it is the entry that was `found` there before it was
    /// moved away and back by an application that was undone.
    pub(in super::super) fn note_again(&self, path: &Path, found: &PathStat) {
        let Ok(now) = self.lower.stat(path) else { return };
        // A move sets the time of the last change. That is no foreign change, but a file without a
        // digest would be taken for one that was changed.
        let key = |found: &PathStat| (found.inode, found.size, found.modified);
        let mut view = self.change();
        let Some(Some(noted)) = view.noted.get(path).cloned() else { return };
        if found.is_still(&noted.stat) && key(&now) == key(found) {
            view.note(path, Some(LowerSnapshot { stat: now, ..noted }));
        }
    }

    /// Accepts foreign changes below: notes them as if they had been there when the view first
    /// changed these paths.
    pub(in super::super) fn rebase(&self) {
        let mut view = self.change();
        let is_other =
            |path: &Path, noted: &Option<LowerSnapshot>| !self.is_as_noted(path, noted.as_ref());
        let others = view.noted.iter().filter(|(path, noted)| is_other(path, noted));
        let others: Vec<PathBuf> = others.map(|(path, _)| path.clone()).collect();
        for path in others {
            let noted = self.found_below(&mut view, &path);
            view.note(&path, noted);
        }
    }

    /// Notes that everything was applied, before anything of it is removed.
    pub(in super::super) fn set_applied(&self) {
        let Some(kept) = self.store.kept() else { return };
        // The moves must be on the disk first: a power cut could otherwise undo them after the view
        // is gone, and lose both. If noting it fails, `reset` removes the view, which means the
        // same to the next program.
        let _ = self.lower.sync_all().and_then(|()| kept.set_applied());
    }

    /// Notes that cleaning up after an application is finished.
    pub(in super::super) fn forget_applied(&self) {
        if let Some(kept) = self.store.kept() {
            kept.forget_applied();
        }
    }
}

fn identity(root: &Root) -> io::Result<RootIdentity> {
    let PathStat { device, inode, .. } = root.stat(Path::new(""))?;
    Ok(RootIdentity { path: root.path().to_owned(), device, inode })
}

/// Returns whether both are the same folder.
fn is_same(one: &RootIdentity, other: &RootIdentity) -> bool {
    // A folder may be moved, and a file system may get another number when it is mounted again. If
    // both differ, an inode with that number may be any folder.
    one.inode == other.inode && (one.device == other.device || one.path == other.path)
}

#[cfg(test)]
impl Overlay {
    /// Makes the next save write the view even if it is the same.
    pub(in super::super) fn touch_again(&self) {
        self.saving().version = None;
    }

    /// Returns whether a text can be read as a saved view.
    pub(in super::super) fn is_readable(text: &str) -> bool {
        saved_view::read(text, |_| Ok(())).is_ok()
    }
}
