//! Files of an overlay that are opened to be changed. For that, their contents must be in the
//! store: they are copied up from below, made anew, or there already. In an overlay that outlives
//! its program a run changes only contents of its own, so that what was saved stays whole.

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
    /// Opens a file to change it, and asks the writer's quota before it copies bytes from below for
    /// that.
    ///
    /// # Errors
    /// `DQUOT` if the quota does not suffice, otherwise as for a file in the folder itself.
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
            // The content of another run may be one that a saved view names: it is copied, and the
            // copy changed, so that a kill leaves what was saved.
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

    /// Returns whether a run may change a content without copying it.
    fn is_own(&self, number: u64, run: u64) -> bool {
        // An overlay that goes with its program has nothing saved that could be torn.
        self.store.kept().is_none() || self.owners().get(&number) == Some(&run)
    }

    /// Makes an empty content for a path at which nothing is, and returns its number.
    fn add(&self, view: &mut OverlayView, path: &Path) -> Result<u64> {
        self.check_folder(view, path)?;
        self.note(view, path)?;
        let number = view.next();
        drop(self.store.add(number)?);
        // A file that was removed and is made again keeps its mode, as one that is overwritten: a
        // tool that writes a file anew may do either.
        if let Some(Some(LowerSnapshot { stat, .. })) = view.noted.get(path)
            && stat.kind == EntryKind::File
        {
            self.store.set_mode(number, stat.permissions())?;
        }
        Ok(number)
    }

    /// Copies the file below that is shown at a path into the store, without its content if it is
    /// to be emptied. Returns the number of the copy.
    fn copy_up(
        &self,
        view: &mut OverlayView,
        path: &Path,
        (from, found): (&Path, PathStat),
        access: FileAccess,
        charge: QuotaCharge<'_>,
    ) -> Result<u64> {
        plain(found)?;
        // In the folder itself the system would refuse to write to it. A change that cannot be
        // applied must not be made here either.
        self.lower.check_writable(from)?;
        // Noted before it is copied, so that a change between the two counts as foreign.
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

    /// Sets a file's times, for which its content is copied up. Those of folders and links are not
    /// kept.
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
        // Looked up again, since copying has given the content a new number.
        match self.view().entry(path) {
            Some(OverlayEntry::File(OverlayContent::Own(number))) => {
                self.store.set_times(*number, times)
            }
            _ => Err(Errno::NOENT),
        }
    }

    /// Sets a file's permissions, for which its content is copied up.
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
