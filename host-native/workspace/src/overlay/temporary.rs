//! `/tmp`, which every program expects. Where the folder below has none of that name, the view has
//! one: it is there, is not listed, and what calls put there under its name goes with the view. It
//! gives way to the project's own `tmp` as soon as somebody makes that, and what is made there for
//! the project is applied like any other file.

use super::{
    super::file_stat::EntryKind,
    Overlay, TMP,
    view::{OverlayEntry, OverlayView},
};
use crate::platform::{Errno, Result};
use innerloop_tools::TmpMeaning;
use std::path::{Path, PathBuf};

impl Overlay {
    /// Puts a folder there that is of the view's own, if nothing else is.
    pub(super) fn add_temporary(&self, view: &mut OverlayView) {
        let path = Path::new(TMP);
        if view.entry(path).is_none() && self.lower.stat(path) == Err(Errno::NOENT) {
            let number = view.next();
            view.set(path, OverlayEntry::Folder(number));
            view.pass(path);
        }
    }

    /// The same, after something that was to stand there could not be put there.
    pub(crate) fn keep_temporary(&self) {
        self.add_temporary(&mut self.change());
    }

    /// Returns whether a path is that of the view's own folder, which whoever means the project's
    /// does not see.
    pub(crate) fn is_unseen(&self, path: &Path, meant: TmpMeaning) -> bool {
        meant.is_project() && path == Path::new(TMP) && self.view().passes(path)
    }

    /// Makes the view's own folder the project's; says whether it was there to be made so.
    pub(crate) fn claim(&self, path: &Path, meant: TmpMeaning) -> Result<bool> {
        let mut view = self.change();
        if path != Path::new(TMP) || meant.is_system() || !view.passes(path) {
            return Ok(false);
        }
        self.note(&mut view, path)?;
        view.keep(path);
        Ok(true)
    }

    /// Takes the view's own folder away, so that something else can stand there.
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

    /// Notes whose the thing is that was made at a path.
    pub(crate) fn note_made(&self, path: &Path, meant: TmpMeaning) -> Result<()> {
        let top = Path::new(TMP);
        let Some(above) = path.parent().filter(|above| above.starts_with(top)) else {
            return Ok(());
        };
        let mut view = self.change();
        let is_inherited = above != top && view.passes(above) && !meant.is_project();
        // What stood there before is the project's.
        let is_new = matches!(view.noted.get(path), Some(None));
        if (meant.is_system() || is_inherited) && is_new {
            view.pass(path);
            return Ok(());
        }
        for lasting in path.ancestors().take_while(|path| path.starts_with(top)) {
            if view.passes(lasting) {
                self.note(&mut view, lasting)?;
                view.keep(lasting);
            }
        }
        Ok(())
    }

    /// Notes whose the things are that were moved, which are given as paths below both places.
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

    /// All that goes with the view.
    #[cfg(test)]
    pub(in super::super) fn passing(&self) -> Vec<PathBuf> {
        self.view().passing().cloned().collect()
    }

    /// The files that go with the view, by their paths.
    pub(crate) fn passing_files(&self) -> Vec<PathBuf> {
        let view = self.view();
        let is_file =
            |path: &&PathBuf| !matches!(view.entry(path), None | Some(OverlayEntry::Folder(_)));
        view.passing().filter(is_file).cloned().collect()
    }
}
