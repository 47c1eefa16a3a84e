//! The overlay's own `/tmp`, which every program expects. Where the folder below has no `tmp`, the
//! view has one that is not listed, and what calls put there as `/tmp` is never applied. The
//! workspace is a guest's `/`, so that `/tmp` and the project's `tmp/` are one path: the call's
//! words say which is meant, and what is made for the project is applied like any other file.

use super::{
    super::file_stat::EntryKind,
    Overlay, TMP,
    view::{OverlayEntry, OverlayView},
};
use crate::platform::{Errno, Result};
use innerloop_tools::TmpMeaning;
use std::path::{Path, PathBuf};

impl Overlay {
    /// Adds the view's own folder, unless the view or the folder below has an entry of that name.
    pub(super) fn add_temporary(&self, view: &mut OverlayView) {
        let path = Path::new(TMP);
        if view.entry(path).is_none() && self.lower.stat(path) == Err(Errno::NOENT) {
            let number = view.next();
            view.set(path, OverlayEntry::Folder(number));
            view.pass(path);
        }
    }

    /// Adds the folder again after a change failed for which it had made way.
    pub(crate) fn keep_temporary(&self) {
        self.add_temporary(&mut self.change());
    }

    /// Returns whether a path is that of the view's own folder, for a call that means the project's
    /// and so does not see it.
    pub(crate) fn is_unseen(&self, path: &Path, meant: TmpMeaning) -> bool {
        meant.is_project() && path == Path::new(TMP) && self.view().passes(path)
    }

    /// Makes the view's own folder the project's; false if the path is not that of the view's own
    /// folder, or the call means the system's.
    pub(crate) fn claim(&self, path: &Path, meant: TmpMeaning) -> Result<bool> {
        let mut view = self.change();
        if path != Path::new(TMP) || meant.is_system() || !view.passes(path) {
            return Ok(false);
        }
        self.note(&mut view, path)?;
        view.keep(path);
        Ok(true)
    }

    /// Removes the view's own folder, so that something else can be put there; `ISDIR` if there is
    /// something in it.
    pub(crate) fn make_way(&self, path: &Path, meant: TmpMeaning) -> Result<()> {
        let mut view = self.change();
        if path != Path::new(TMP) || meant.is_system() || !view.passes(path) {
            return Ok(());
        }
        if !self.list_in(&view, path)?.is_empty() {
            return Err(Errno::ISDIR);
        }
        view.unset(path);
        Ok(())
    }

    /// Notes whether the entry that was made at a path is temporary or the project's.
    pub(crate) fn note_made(&self, path: &Path, meant: TmpMeaning) -> Result<()> {
        let top = Path::new(TMP);
        let Some(above) = path.parent().filter(|above| above.starts_with(top)) else {
            return Ok(());
        };
        let mut view = self.change();
        // What a call that names neither makes in a temporary folder is temporary, too. `tmp` is
        // none in this sense: every overlay of a folder without a `tmp` has it.
        let is_inherited = above != top && view.passes(above) && !meant.is_project();
        // An entry that was below before is the project's.
        let is_new = matches!(view.noted.get(path), Some(None));
        if (meant.is_system() || is_inherited) && is_new {
            view.pass(path);
            return Ok(());
        }
        // The folders above are applied with it.
        for lasting in path.ancestors().take_while(|path| path.starts_with(top)) {
            if view.passes(lasting) {
                self.note(&mut view, lasting)?;
                view.keep(lasting);
            }
        }
        Ok(())
    }

    /// Notes the same for everything that was moved to a path, given as paths below it.
    pub(crate) fn moved(
        &self,
        to: &Path,
        all: &[(PathBuf, EntryKind)],
        meant: TmpMeaning,
    ) -> Result<()> {
        let inside = all.iter().map(|(below, _)| super::at(to, below));
        inside
            .filter(|path| path.starts_with(TMP))
            .try_for_each(|path| self.note_made(&path, meant))
    }

    /// Returns all paths that are never applied.
    #[cfg(test)]
    pub(in super::super) fn passing(&self) -> Vec<PathBuf> {
        self.view().passing().cloned().collect()
    }

    /// Returns the files and links that are never applied.
    pub(crate) fn passing_files(&self) -> Vec<PathBuf> {
        let view = self.view();
        let is_file =
            |path: &&PathBuf| !matches!(view.entry(path), None | Some(OverlayEntry::Folder(_)));
        view.passing().filter(is_file).cloned().collect()
    }
}
