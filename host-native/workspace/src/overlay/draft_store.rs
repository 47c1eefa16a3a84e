//! New contents of files that nobody sees before they are whole, and former ones that are kept
//! until then.

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

/// The largest content that is copied to be kept.
const MAX_SHELTERED: u64 = 64 << 20;

impl Overlay {
    /// Keeps what the file at the path holds.
    pub(crate) fn shelter(&self, path: &Path) -> Option<ShelterLocation> {
        let mut view = self.change();
        match view.entry(path).cloned() {
            None if view.hides(path).is_some() => None,
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

    /// Shows at the path again what the file held, if the one that took its place is there.
    pub(crate) fn put_back(&self, path: &Path, kept: ShelterLocation) {
        let mut view = self.change();
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

    /// A new content for the file at the path, with the permissions of what stands there: its
    /// number in the store, where nobody sees it yet.
    pub(crate) fn draft(&self, path: &Path) -> Result<(u64, File)> {
        let mut view = self.change();
        let found = self.check_replaced(&view, path)?;
        // It is noted before it is written, so that a change meanwhile is seen.
        self.note(&mut view, path)?;
        let below = || view.noted.get(path).cloned().flatten().map(|noted| noted.stat);
        let like = found.or_else(below).filter(|stat| stat.kind == EntryKind::File);
        let number = view.next();
        let file = self.store.add(number)?;
        if let Some(like) = like {
            self.store.set_mode(number, like.permissions())?;
        }
        Ok((number, file))
    }

    /// Shows a draft at the path, in place of what stands there.
    pub(crate) fn settle(&self, path: &Path, number: u64) -> Result<()> {
        let mut view = self.change();
        self.check_replaced(&view, path)?;
        self.note(&mut view, path)?;
        let before = view.entry(path).and_then(OverlayEntry::number);
        view.set(path, OverlayEntry::File(OverlayContent::Own(number)));
        // Who has it open keeps it.
        before.into_iter().for_each(|before| self.remove_content(before));
        Ok(())
    }

    /// Gives up a draft.
    pub(crate) fn abandon(&self, number: u64) {
        self.remove_content(number);
        self.keep_temporary();
    }

    /// Returns what a file that is written anew replaces, if anything stands there.
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
