//! An overlay that outlives its program: how it is taken up, when its view is saved, and what is
//! noted while it is applied.

use super::{
    super::{apply_step::PlanApplication, file_stat::PathStat, root::Root},
    Overlay, SaveState,
    overlay_folder::{KeptError, PersistentStore},
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
    /// It was applying what the overlay has changed.
    Applying(PlanApplication),
    /// It had done so, and what comes after that is not done.
    Applied(PlanApplication),
}

/// The overlay of a folder that lies in another one, and what is to be done first.
#[derive(Debug)]
pub(in super::super) struct ResumedOverlay {
    pub(in super::super) overlay: Overlay,
    pub(in super::super) unfinished: Option<InterruptedApplication>,
}

impl Overlay {
    /// A view that shows what was saved in the folder at that absolute path, or, where nothing is,
    /// what stands below.
    pub(in super::super) fn resume(
        lower: Arc<Root>,
        folder: PathBuf,
    ) -> Result<ResumedOverlay, KeptError> {
        let kept = PersistentStore::open(folder)?;
        let applied = kept.applied()?.and_then(|text| saved_view::read(&text).ok()?.application);
        let Some(text) = kept.view()? else {
            // Nothing is there that anything names.
            let _ = kept.take_up(&[].into(), 0);
            let overlay = Self::with(lower, OverlayStore::Kept(kept))?;
            let unfinished = applied.map(InterruptedApplication::Applied);
            return Ok(ResumedOverlay { overlay, unfinished });
        };
        let SavedView { root, mut view, is_partial, application } =
            saved_view::read(&text).map_err(KeptError::Damaged)?;
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
        // What is under way is to be forgotten once it is settled.
        saving.version = application.is_none().then_some((view.version(), !is_partial));
        saving.is_partial = is_partial;
        *overlay.view.get_mut().unwrap_or_else(PoisonError::into_inner) = view;
        let unfinished = application.map(InterruptedApplication::Applying);
        let unfinished = unfinished.or_else(|| applied.map(InterruptedApplication::Applied));
        Ok(ResumedOverlay { overlay, unfinished })
    }

    /// The path of the folder whose overlay was saved in that one, if one was.
    pub(in super::super) fn lower_of(folder: PathBuf) -> Result<Option<PathBuf>, KeptError> {
        let text = PersistentStore::open(folder)?.view()?;
        let saved =
            text.map(|text| saved_view::read(&text)).transpose().map_err(KeptError::Damaged)?;
        Ok(saved.map(|saved| saved.root.path))
    }

    /// Treats a partial overlay as complete, so that it can be applied: the person has said so.
    pub(in super::super) fn accept(&self) {
        self.saving().is_partial = false;
    }

    /// Returns where it is kept, if it outlives its program.
    pub(in super::super) fn kept_in(&self) -> Option<&Path> {
        self.store.kept().map(PersistentStore::folder)
    }

    /// Makes what has changed last as long as the folder in which it is kept; says there whether a
    /// run is still changing files.
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

    /// Returns whether it holds what a run has changed that its program did not live to end.
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
        let view = self.view();
        let version = (view.version(), is_whole);
        if application.is_none() && saving.version == Some(version) {
            drop(view);
            return kept.sync();
        }
        let root = identity(&self.lower)?;
        let text = saved_view::write((&root, &view), !is_whole, application);
        let unused = kept.names(view.last());
        drop(view);
        // Until it is done, nothing is known of what is there.
        saving.version = None;
        kept.save(&text, unused)?;
        saving.version = application.is_none().then_some(version);
        Ok(())
    }

    /// Keeps what this shows in that folder, too, for another overlay.
    pub(in super::super) fn copy_to(&self, folder: PathBuf) -> Result<(), KeptError> {
        let copy = OverlayStore::Kept(PersistentStore::open(folder)?);
        let Some(kept) = copy.kept() else { return Ok(()) };
        let view = self.view();
        if view.noted.is_empty() {
            return Ok(());
        }
        let copied = view.stored().try_for_each(|number| self.store.copy_to(number, &copy));
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

    /// Saves the view, and that it is about to be applied in these steps.
    pub(in super::super) fn begin_applying(&self, application: &PlanApplication) -> io::Result<()> {
        self.save_with(&mut self.saving(), false, Some(application))
    }

    /// Says that it is not being applied any more: it was wholly or in part taken back.
    pub(in super::super) fn end_applying(&self) {
        // If that can't be saved now, the next save does it.
        let _ = self.save(false);
    }

    /// Notes anew what stands below at a path if it is what was `found` there, but for having been
    /// moved away and back: that alone is no change.
    pub(in super::super) fn note_again(&self, path: &Path, found: &PathStat) {
        let Ok(now) = self.lower.stat(path) else { return };
        let key = |found: &PathStat| (found.inode, found.size, found.modified);
        let mut view = self.change();
        let Some(Some(noted)) = view.noted.get(path).cloned() else { return };
        if found.is_still(&noted.stat) && key(&now) == key(found) {
            view.note(path, Some(LowerSnapshot { stat: now, ..noted }));
        }
    }

    /// Takes what something else has put below meanwhile for what stood there when it was first
    /// changed here.
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

    /// Says that all was applied, before anything of it is forgotten.
    pub(in super::super) fn set_applied(&self) {
        let Some(kept) = self.store.kept() else { return };
        // What was moved must be on the disk before it is said. If it can't be said, the view goes
        // at once, which says it, too.
        let _ = self.lower.sync_all().and_then(|()| kept.set_applied());
    }

    /// Says that nothing is left to do of what was applied.
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

/// Returns whether it is the same folder: it may have been moved, and its file system may have got
/// another number, but not both.
fn is_same(one: &RootIdentity, other: &RootIdentity) -> bool {
    one.inode == other.inode && (one.device == other.device || one.path == other.path)
}

#[cfg(test)]
impl Overlay {
    /// Has the view saved again although it is the same.
    pub(in super::super) fn touch_again(&self) {
        self.saving().version = None;
    }

    /// Reads a view that was saved, whatever it is.
    pub(in super::super) fn is_readable(text: &str) -> bool {
        saved_view::read(text).is_ok()
    }
}
