//! Files of a view that are opened for changing, for which they must stand in the store: copied up
//! from below, made anew, or there already.

use super::{
    super::{
        file_stat::{EntryKind, PathStat},
        root::FileAccess,
    },
    Overlay, QuotaCharge, WriterContext, plain,
    view::{LowerSnapshot, OverlayContent, OverlayEntry, OverlayView},
};
use crate::platform::{Errno, Result, Timestamps};
use std::{fs::File, path::Path};

impl Overlay {
    /// Opens for changing, for which the file must stand in the store. How many bytes are copied
    /// for that is asked of the writer before. Of an overlay that outlives its program, a run
    /// changes contents of its own only: those of others may have been saved, and are copied.
    pub(in super::super) fn open(
        &self,
        path: &Path,
        access: FileAccess,
        writer: WriterContext<'_>,
    ) -> Result<File> {
        let mut view = self.change();
        let found = match self.stat_in(&view, path) {
            Ok(_) if access.exclusive => return Err(Errno::EXIST),
            Ok(found) => Some(found),
            Err(Errno::NOENT) if access.create => None,
            Err(error) => return Err(error),
        };
        let WriterContext { run, charge } = writer;
        let number = match (found, view.entry(path).cloned()) {
            (Some(_), Some(OverlayEntry::File(OverlayContent::Own(number))))
                if self.is_own(number, run) =>
            {
                number
            }
            (Some(found), Some(OverlayEntry::File(OverlayContent::Own(number)))) => {
                let new = view.next();
                self.store.copy_within((number, new), found, access.truncate)?;
                self.remove_content(number);
                new
            }
            (None, _) => self.add(&mut view, path)?,
            (Some(found), entry) => {
                let from = match entry {
                    Some(OverlayEntry::File(OverlayContent::Lower(from))) => from,
                    _ => path.to_owned(),
                };
                self.copy_up(&mut view, path, (&from, found), access, charge)?
            }
        };
        self.owners().insert(number, run);
        view.set(path, OverlayEntry::File(OverlayContent::Own(number)));
        self.store.open(number, access)
    }

    /// Returns whether a content may be changed where it stands.
    fn is_own(&self, number: u64, run: u64) -> bool {
        self.store.kept().is_none() || self.owners().get(&number) == Some(&run)
    }

    /// Makes an empty file in the store, for a path at which nothing is.
    fn add(&self, view: &mut OverlayView, path: &Path) -> Result<u64> {
        self.check_folder(view, path)?;
        self.note(view, path)?;
        let number = view.next();
        drop(self.store.add(number)?);
        // What takes the place of a file has its mode until it is told another.
        if let Some(Some(LowerSnapshot { stat, .. })) = view.noted.get(path)
            && stat.kind == EntryKind::File
        {
            self.store.set_mode(number, stat.permissions())?;
        }
        Ok(number)
    }

    /// Copies the file below that is shown at a path into the store, unless it is to be empty.
    fn copy_up(
        &self,
        view: &mut OverlayView,
        path: &Path,
        (from, found): (&Path, PathStat),
        access: FileAccess,
        charge: QuotaCharge<'_>,
    ) -> Result<u64> {
        plain(found)?;
        self.lower.check_writable(from)?;
        // It is noted before it is copied, so that a change between the two is seen.
        self.note(view, path)?;
        let content = self.lower.file(from, FileAccess::READ)?;
        let content = (!access.truncate).then_some(&content);
        if content.is_some() && !charge(found.size) {
            return Err(Errno::DQUOT);
        }
        let number = view.next();
        self.store.copy(number, content, found.mode)?;
        Ok(number)
    }

    /// Sets a file's times, for which it must stand in the store. Those of folders and links are
    /// not kept.
    pub(in super::super) fn set_times(
        &self,
        path: &Path,
        times: &Timestamps,
        writer: WriterContext<'_>,
    ) -> Result<()> {
        if self.stat(path)?.kind != EntryKind::File {
            return Ok(());
        }
        drop(self.open(path, FileAccess { write: true, ..FileAccess::READ }, writer)?);
        match self.view().entry(path) {
            Some(OverlayEntry::File(OverlayContent::Own(number))) => {
                self.store.set_times(*number, times)
            }
            _ => Err(Errno::NOENT),
        }
    }

    /// Sets a file's permissions, for which it must stand in the store.
    pub(in super::super) fn set_mode(
        &self,
        path: &Path,
        mode: u32,
        writer: WriterContext<'_>,
    ) -> Result<()> {
        drop(self.open(path, FileAccess { write: true, ..FileAccess::READ }, writer)?);
        match self.view().entry(path) {
            Some(OverlayEntry::File(OverlayContent::Own(number))) => {
                self.store.set_mode(*number, mode)
            }
            _ => Err(Errno::NOENT),
        }
    }
}
