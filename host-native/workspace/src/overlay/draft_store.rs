//! Drafts and shelters in an overlay's store: new contents of files that nobody sees before they
//! are whole, and former contents that are kept until the new ones are. Until a draft is settled,
//! the view names neither.

use super::{
    super::{
        file_stat::{EntryKind, PathStat},
        root::FileAccess,
    },
    Overlay, plain,
    view::{OverlayContent, OverlayEntry, OverlayView, ShelterLocation},
};
use crate::platform::{Errno, Result};
use std::{fs::File, path::Path};

/// The largest content that is copied to be kept, in bytes.
const MAX_SHELTERED: u64 = 64 << 20;

impl Overlay {
    /// Keeps the content of the file at the path, unless that is the view's own and too large.
    pub(crate) fn shelter(&self, path: &Path) -> Option<ShelterLocation> {
        let mut view = self.change();
        match view.entry(path).cloned() {
            None if view.hides(path).is_some() => None,
            // A content below stays there whatever the view does, so that it costs nothing to keep.
            None => {
                let is_file =
                    self.lower.stat(path).is_ok_and(|found| found.kind == EntryKind::File);
                is_file.then_some(ShelterLocation::Below(None))
            }
            Some(OverlayEntry::File(OverlayContent::Lower(from))) => {
                Some(ShelterLocation::Below(Some(from)))
            }
            Some(OverlayEntry::File(OverlayContent::Own(number))) => {
                let found = self.store.stat(number).ok()?;
                let content = self.store.open(number, FileAccess::READ).ok()?;
                let fits = found.size <= MAX_SHELTERED;
                let kept = fits.then(|| view.next())?;
                self.store.copy(kept, Some(&content), found.mode).ok()?;
                Some(ShelterLocation::Stored(kept))
            }
            Some(OverlayEntry::Gone | OverlayEntry::Folder(_) | OverlayEntry::Link(..)) => None,
        }
    }

    /// Shows the former content at the path again, if the new one is still there.
    pub(crate) fn put_back(&self, path: &Path, kept: ShelterLocation) {
        let mut view = self.change();
        // Without a new content, somebody has removed or moved the file since: it stays so.
        let spoilt = view.entry(path).and_then(OverlayEntry::number);
        match (kept, spoilt) {
            (ShelterLocation::Below(None), Some(_)) => view.unset(path),
            (ShelterLocation::Below(Some(from)), Some(_)) => {
                view.set(path, OverlayEntry::File(OverlayContent::Lower(from)));
            }
            (ShelterLocation::Stored(number), Some(_)) => {
                view.set(path, OverlayEntry::File(OverlayContent::Own(number)));
            }
            (ShelterLocation::Stored(number), None) => self.remove_content(number),
            (ShelterLocation::Below(_), None) => {}
        }
        spoilt.into_iter().for_each(|spoilt| self.remove_content(spoilt));
    }

    /// Makes a new content for the file at the path, with the permissions of the file that it
    /// replaces. Returns its number in the store, and the file to write to.
    pub(crate) fn draft(&self, path: &Path) -> Result<(u64, File)> {
        let mut view = self.change();
        let found = self.check_replaced(&view, path)?;
        // Noted before anything is written, so that a change meanwhile counts as foreign.
        self.note(&mut view, path)?;
        // A file that the view has removed and now makes again has the mode of the one below.
        let below = || view.noted.get(path).cloned().flatten().map(|noted| noted.stat);
        let like = found.or_else(below).filter(|stat| stat.kind == EntryKind::File);
        let number = view.next();
        let file = self.store.add(number)?;
        if let Some(like) = like {
            self.store.set_mode(number, like.permissions())?;
        }
        Ok((number, file))
    }

    /// Shows a draft at the path, in place of the file there.
    pub(crate) fn settle(&self, path: &Path, number: u64) -> Result<()> {
        let mut view = self.change();
        // Checked and noted as in `draft`: since then the entry may have been removed or moved.
        self.check_replaced(&view, path)?;
        self.note(&mut view, path)?;
        let before = view.entry(path).and_then(OverlayEntry::number);
        view.set(path, OverlayEntry::File(OverlayContent::Own(number)));
        // The system keeps it for whoever has it open.
        before.into_iter().for_each(|before| self.remove_content(before));
        Ok(())
    }

    /// Gives up a draft.
    pub(crate) fn abandon(&self, number: u64) {
        self.remove_content(number);
        self.keep_temporary();
    }

    /// Returns the attributes of the file that new content at the path replaces, if there is one;
    /// fails if it cannot be replaced.
    fn check_replaced(&self, view: &OverlayView, path: &Path) -> Result<Option<PathStat>> {
        let found = match self.stat_in(view, path) {
            Ok(found) => found,
            Err(Errno::NOENT) => return self.check_folder(view, path).map(|()| None),
            Err(error) => return Err(error),
        };
        plain(found)?;
        match view.entry(path) {
            Some(OverlayEntry::File(OverlayContent::Own(_))) => {}
            Some(OverlayEntry::File(OverlayContent::Lower(from))) => {
                self.lower.check_writable(from)?;
            }
            _ => self.lower.check_writable(path)?,
        }
        Ok(Some(found))
    }
}
