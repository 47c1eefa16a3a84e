//! The overlay: a private view of a folder, while the folder itself is only read. The view is a
//! list of changed names over the folder, so that it costs nothing until something is written.
//! Changed contents are in a store of the overlay's own: a file is copied up there when it is first
//! opened for writing, and shares its bytes with the file below where the file system can do that.

mod copy_up;
mod draft_store;
pub(super) mod overlay_folder;
pub(super) mod resume;
mod saved_changes;
mod saved_view;
mod store;
mod temporary;
mod view;

pub(super) use view::ShelterLocation;

use super::{
    apply_step::TakenBack,
    file_stat::{EntryKind, PathStat},
    resolve::at,
    root::{FileAccess, ListedEntry, Root},
};
use crate::{
    digest::Digest,
    platform::{Errno, Result, name_of},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};
use store::OverlayStore;
use view::{LowerSnapshot, OverlayContent, OverlayEntry, OverlayView};

/// The path of the folder `tmp` from the workspace's root.
const TMP: &str = "tmp";

/// The number of bytes of files whose digests are noted before they change. Other files are
/// compared by inode, size and the time of their last change.
const DIGESTED: u64 = 256 << 20;

/// The maximum number of paths that are changed in one view.
const MAX_NOTED: usize = 1_000_000;

/// The maximum number of bytes of their paths.
const MAX_NAMED: u64 = 64 << 20;

/// The maximum lengths of a path and of a name, in bytes.
// A name that the folder could not hold must not be in the view: it could never be applied.
const MAX_PATH: usize = 4_000;
const MAX_NAME: usize = 255;

/// The mode bit without which its owner cannot write to a file.
const OWNER_WRITES: u32 = 0o200;

/// The bit that marks inode numbers of entries that only the view has.
// A guest takes entries with the same inode number for the same file.
const MADE: u64 = 1 << 63;
/// The bit that marks inode numbers of contents in the store, if that is on another file system.
const STORED: u64 = 1 << 62;

/// A function that takes bytes from a quota; false if there were not that many left.
pub type QuotaCharge<'a> = &'a mut dyn FnMut(u64) -> bool;

/// The writer of a file.
pub(super) struct WriterContext<'a> {
    /// The number of its run, or 0 where it is none.
    pub(super) run: u64,
    /// The quota that is asked before anything is copied for the writer.
    pub(super) charge: QuotaCharge<'a>,
}

/// A private view of a folder. Threads share it.
#[derive(Debug)]
pub(super) struct Overlay {
    lower: Arc<Root>,
    store: OverlayStore,
    view: RwLock<OverlayView>,
    /// The run that made each content of the store, by the content's number.
    owners: Mutex<BTreeMap<u64, u64>>,
    /// The lock that is held while the view is saved; it is taken before that of the view.
    saving: Mutex<SaveState>,
    /// The report of what had to be undone before the overlay could be taken up.
    pub(super) taken_back: Option<TakenBack>,
}

/// The state of saving an overlay that is kept.
#[derive(Debug, Default)]
struct SaveState {
    /// The version of the saved view, and whether it was whole; `None` if it must be saved again.
    version: Option<(u64, bool)>,
    /// True if the view holds changes of a run that was cut off.
    is_partial: bool,
    /// The reason why the last save failed.
    failed: Option<String>,
}

impl Overlay {
    /// Makes an overlay that shows the folder as it is. Its store is removed with it.
    pub(super) fn new(lower: Arc<Root>) -> io::Result<Self> {
        let store = OverlayStore::new(lower.path())?;
        Self::with(lower, store)
    }

    /// Makes an overlay over a store, which shows the folder as it is.
    fn with(lower: Arc<Root>, store: OverlayStore) -> io::Result<Self> {
        if is_lenient(&lower)? {
            let why = "its file system takes names in upper and lower case for the same; \
                       use --in-place";
            return Err(io::Error::other(why));
        }
        let (view, owners) = (RwLock::default(), Mutex::default());
        let saving = Mutex::default();
        let overlay = Self { lower, store, view, owners, saving, taken_back: None };
        overlay.begin(&mut overlay.saving(), &mut overlay.change());
        Ok(overlay)
    }

    /// Makes a fresh view count as saved, so that there is nothing to save until it changes.
    fn begin(&self, saving: &mut SaveState, view: &mut OverlayView) {
        self.add_temporary(view);
        *saving = SaveState { version: Some((view.version(), true)), ..SaveState::default() };
        self.owners().clear();
    }

    /// Returns the folder itself.
    pub(super) const fn lower(&self) -> &Arc<Root> {
        &self.lower
    }

    /// Shows the folder as it is again.
    pub(super) fn reset(&self) {
        let mut saving = self.saving();
        let mut view = self.change();
        // Numbers go on where they were: a content that cannot be removed still has its own.
        let fresh = view.fresh();
        self.store.clear(std::mem::replace(&mut *view, fresh).stored());
        self.begin(&mut saving, &mut view);
    }

    /// Shows the folder as it is, and removes the store: no more changes can be kept.
    pub(super) fn discard(&self) {
        self.reset();
        self.store.discard();
    }

    /// Returns the changed paths that are to be applied, parents first.
    pub(super) fn touched(&self) -> Vec<PathBuf> {
        let view = self.view();
        let changed = view.noted.keys().filter(|path| view.covers(path) && !view.passes(path));
        changed.cloned().collect()
    }

    /// Returns the path below that the file at this path was moved from, if its content is there.
    pub(super) fn moved_from(&self, path: &Path) -> Option<PathBuf> {
        match self.view().entry(path) {
            Some(OverlayEntry::File(OverlayContent::Lower(from))) => Some(from.clone()),
            _ => None,
        }
    }

    /// Returns the number of noted paths.
    #[cfg(test)]
    pub(super) fn noted(&self) -> usize {
        self.view().noted.len()
    }

    /// Returns whether the view has noted what is below at the path.
    pub(super) fn has_noted(&self, path: &Path) -> bool {
        self.view().noted.contains_key(path)
    }

    /// Returns whether the entry below at a path is still the one that was there when the view
    /// first changed it.
    pub(super) fn is_still(&self, path: &Path) -> bool {
        let noted = self.view().noted.get(path).cloned();
        noted.is_none_or(|noted| self.is_as_noted(path, noted.as_ref()))
    }

    fn view(&self) -> RwLockReadGuard<'_, OverlayView> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, OverlayView> {
        self.view.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn saving(&self) -> MutexGuard<'_, SaveState> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a content of the store that the view no longer shows.
    fn remove_content(&self, number: u64) {
        self.owners().remove(&number);
        self.store.remove(number);
    }

    fn owners(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stat(&self, path: &Path) -> Result<PathStat> {
        self.stat_in(&self.view(), path)
    }

    fn stat_in(&self, view: &OverlayView, path: &Path) -> Result<PathStat> {
        match view.entry(path) {
            None => view.hides(path).map_or_else(|| self.lower.stat(path), Err),
            Some(OverlayEntry::Gone) => Err(Errno::NOENT),
            Some(OverlayEntry::Folder(number)) => self.made(EntryKind::Folder, 0, *number),
            Some(OverlayEntry::Link(target, number)) => {
                self.made(EntryKind::Link, target.as_os_str().len() as u64, *number)
            }
            Some(OverlayEntry::File(OverlayContent::Lower(from))) => self.lower.stat(from),
            Some(OverlayEntry::File(OverlayContent::Own(number))) => {
                Ok(self.shown(self.store.stat(*number)?))
            }
        }
    }

    /// Returns the attributes of an entry that only the view has, which is as old as the folder.
    fn made(&self, kind: EntryKind, size: u64, number: u64) -> Result<PathStat> {
        let top = self.lower.stat(Path::new(""))?;
        Ok(PathStat { kind, size, links: 1, inode: MADE | number, ..top })
    }

    /// Returns a file's attributes as the view shows them: all its files are on one device, even if
    /// the store is on another.
    pub(super) fn shown(&self, found: PathStat) -> PathStat {
        let device = self.lower.device();
        if found.device == device {
            return found;
        }
        PathStat { device, inode: STORED | found.inode, ..found }
    }

    pub(super) fn link_target(&self, path: &Path) -> Result<PathBuf> {
        let view = self.view();
        match view.entry(path) {
            None => view.hides(path).map_or_else(|| self.lower.link_target(path), Err),
            Some(OverlayEntry::Link(target, _)) => Ok(target.clone()),
            Some(OverlayEntry::Gone) => Err(Errno::NOENT),
            Some(OverlayEntry::Folder(_) | OverlayEntry::File(_)) => Err(Errno::INVAL),
        }
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<ListedEntry>> {
        self.list_in(&self.view(), path)
    }

    fn list_in(&self, view: &OverlayView, path: &Path) -> Result<Vec<ListedEntry>> {
        let mut list = match view.entry(path) {
            None => view.hides(path).map_or_else(|| self.lower.list(path), Err)?,
            Some(OverlayEntry::Folder(_)) => Vec::new(),
            Some(OverlayEntry::Gone) => return Err(Errno::NOENT),
            Some(OverlayEntry::File(_) | OverlayEntry::Link(..)) => return Err(Errno::NOTDIR),
        };
        let Some(names) = view.names(path) else { return Ok(list) };
        list.retain(|named| !names.contains_key(&named.name));
        for (name, entry) in names.iter().filter(|(_, entry)| **entry != OverlayEntry::Gone) {
            let found = match entry {
                OverlayEntry::File(OverlayContent::Lower(from)) => self.lower.stat(from),
                _ => self.stat_in(view, &path.join(name)),
            };
            // To the project, an overlay's own `/tmp` does not exist.
            if path.as_os_str().is_empty() && name == TMP && view.passes(Path::new(TMP)) {
                continue;
            }
            // A moved file whose content somebody has removed below is not listed.
            let found = found.map(|PathStat { kind, inode, .. }| (kind, inode));
            list.extend(found.map(|(kind, inode)| ListedEntry { name: name.clone(), kind, inode }));
        }
        Ok(list)
    }

    /// Returns whether the folder shows anything from below, and its names that the view has
    /// changed.
    pub(super) fn changed_names(&self, path: &Path) -> Result<(bool, BTreeSet<OsString>)> {
        let view = self.view();
        let is_shown = match view.entry(path) {
            None => view.hides(path).map_or(Ok(true), Err)?,
            Some(OverlayEntry::Folder(_)) => false,
            Some(OverlayEntry::Gone) => return Err(Errno::NOENT),
            Some(OverlayEntry::File(_) | OverlayEntry::Link(..)) => return Err(Errno::NOTDIR),
        };
        let names = view.names(path).map(|names| names.keys().cloned().collect());
        let mut names: BTreeSet<OsString> = names.unwrap_or_default();
        if path.as_os_str().is_empty() && view.passes(Path::new(TMP)) {
            names.remove(OsStr::new(TMP));
        }
        Ok((is_shown, names))
    }

    /// Opens the file at the path for reading.
    pub(super) fn file(&self, path: &Path) -> Result<File> {
        let view = self.view();
        match view.entry(path) {
            None => view.hides(path).map_or_else(|| self.lower.file(path, FileAccess::READ), Err),
            Some(OverlayEntry::Gone) => Err(Errno::NOENT),
            Some(OverlayEntry::Folder(_)) => Err(Errno::ISDIR),
            Some(OverlayEntry::Link(..)) => Err(Errno::LOOP),
            Some(OverlayEntry::File(content)) => self.content(content),
        }
    }

    fn content(&self, content: &OverlayContent) -> Result<File> {
        match content {
            OverlayContent::Lower(from) => self.lower.file(from, FileAccess::READ),
            OverlayContent::Own(number) => self.store.open(*number, FileAccess::READ),
        }
    }

    pub(super) fn create_folder(&self, path: &Path) -> Result<()> {
        self.make(path, OverlayEntry::Folder)
    }

    pub(super) fn link(&self, target: &Path, path: &Path) -> Result<()> {
        if target.as_os_str().len() > MAX_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        self.make(path, |number| OverlayEntry::Link(target.to_owned(), number))
    }

    fn make(&self, path: &Path, entry: impl FnOnce(u64) -> OverlayEntry) -> Result<()> {
        let mut view = self.change();
        match self.stat_in(&view, path) {
            Ok(_) => return Err(Errno::EXIST),
            Err(Errno::NOENT) => self.check_folder(&view, path)?,
            Err(error) => return Err(error),
        }
        self.note(&mut view, path)?;
        let number = view.next();
        view.set(path, entry(number));
        Ok(())
    }

    pub(super) fn remove_folder(&self, path: &Path) -> Result<()> {
        let mut view = self.change();
        match self.stat_in(&view, path)?.kind {
            EntryKind::Folder if is_fixed(&view, path) => return Err(Errno::BUSY),
            EntryKind::Folder if !self.list_in(&view, path)?.is_empty() => {
                return Err(Errno::NOTEMPTY);
            }
            EntryKind::Folder => {}
            EntryKind::File | EntryKind::Link | EntryKind::Other => return Err(Errno::NOTDIR),
        }
        self.check_folder(&view, path)?;
        self.remove(&mut view, path)?;
        view.forget(path);
        self.add_temporary(&mut view);
        Ok(())
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<()> {
        let mut view = self.change();
        if self.stat_in(&view, path)?.kind == EntryKind::Folder {
            return Err(Errno::ISDIR);
        }
        self.check_folder(&view, path)?;
        self.remove(&mut view, path)?;
        view.forget(path);
        self.add_temporary(&mut view);
        Ok(())
    }

    /// Removes a name, which may be an empty folder's, from the view.
    fn remove(&self, view: &mut OverlayView, path: &Path) -> Result<()> {
        self.note(view, path)?;
        if let Some(OverlayEntry::File(OverlayContent::Own(number))) = view.entry(path) {
            // The system keeps it for whoever has it open.
            self.remove_content(*number);
        }
        view.clear_below(path);
        // Only a name that is below has to be hidden.
        if view.hides(path).is_none() && self.lower.stat(path).is_ok() {
            view.set(path, OverlayEntry::Gone);
        } else {
            view.unset(path);
        }
        Ok(())
    }

    /// Moves `from` to `to` with everything below it, which is given as paths below `from`.
    pub(super) fn rename(
        &self,
        from: &Path,
        to: &Path,
        all: &[(PathBuf, EntryKind)],
    ) -> Result<()> {
        let mut view = self.change();
        if is_fixed(&view, from) || is_fixed(&view, to) {
            return Err(Errno::BUSY);
        }
        let found = self.stat_in(&view, from)?.kind;
        self.check_folder(&view, to)?;
        if from == to {
            return Ok(());
        }
        if to.starts_with(from) {
            return Err(Errno::INVAL);
        }
        if from.starts_with(to) {
            return Err(Errno::NOTEMPTY);
        }
        match self.stat_in(&view, to).map(|there| there.kind) {
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
            Ok(EntryKind::Folder) if found != EntryKind::Folder => return Err(Errno::ISDIR),
            Ok(EntryKind::Folder) if !self.list_in(&view, to)?.is_empty() => {
                return Err(Errno::NOTEMPTY);
            }
            Ok(EntryKind::Folder) => {}
            Ok(_) if found == EntryKind::Folder => return Err(Errno::NOTDIR),
            Ok(_) => {}
        }
        self.check_folder(&view, from)?;
        // All that can fail comes first, so that a move is whole or does not happen.
        let mut moved = Vec::with_capacity(all.len());
        for (below, kind) in all {
            let to = at(to, below);
            self.check_length(&to)?;
            moved.push((to, self.entry_of(&mut view, &at(from, below), *kind)?));
        }
        for (below, _) in all {
            self.note(&mut view, &at(from, below))?;
            self.note(&mut view, &at(to, below))?;
        }
        // Unset before `remove`, which would remove the contents that move along.
        for (below, _) in all {
            view.unset(&at(from, below));
        }
        self.remove(&mut view, from)?;
        if self.stat_in(&view, to).is_ok() {
            self.remove(&mut view, to)?;
        }
        for (path, entry) in moved {
            view.set(&path, entry);
        }
        for (below, _) in all {
            view.forget(&at(from, below));
        }
        self.add_temporary(&mut view);
        Ok(())
    }

    /// Returns the entry at the path in a form that can be put at any other path.
    fn entry_of(
        &self,
        view: &mut OverlayView,
        path: &Path,
        kind: EntryKind,
    ) -> Result<OverlayEntry> {
        match (view.entry(path).cloned(), kind) {
            (Some(entry @ (OverlayEntry::File(_) | OverlayEntry::Link(..))), _) => Ok(entry),
            // A folder that moves shows nothing from below: its entries are moved one by one.
            (_, EntryKind::Folder) => Ok(OverlayEntry::Folder(view.next())),
            (_, EntryKind::Link) => {
                Ok(OverlayEntry::Link(self.lower.link_target(path)?, view.next()))
            }
            (_, EntryKind::File) => Ok(OverlayEntry::File(OverlayContent::Lower(path.to_owned()))),
            (_, EntryKind::Other) => Err(Errno::PERM),
        }
    }

    /// Checks that an entry can be put at the path or removed there: it is in a folder that this
    /// user may write to.
    fn check_folder(&self, view: &OverlayView, path: &Path) -> Result<()> {
        self.check_length(path)?;
        let above = path.parent().ok_or(Errno::EXIST)?;
        match self.stat_in(view, above)?.kind {
            EntryKind::Folder if view.covers(above) => Ok(()),
            EntryKind::Folder => self.lower.check_writable(above),
            EntryKind::File | EntryKind::Link | EntryKind::Other => Err(Errno::NOTDIR),
        }
    }

    /// Refuses a path that is too long to exist below.
    fn check_length(&self, path: &Path) -> Result<()> {
        let length = self.lower.path().as_os_str().len() + path.as_os_str().len();
        let name = path.file_name().map_or(0, OsStr::len);
        if length > MAX_PATH || name > MAX_NAME { Err(Errno::NAMETOOLONG) } else { Ok(()) }
    }

    /// Notes what is below at a path that is changed for the first time.
    fn note(&self, view: &mut OverlayView, path: &Path) -> Result<()> {
        // Only the first time counts: a later note would hide a change made in between.
        if view.noted.contains_key(path) {
            return Ok(());
        }
        let named = view.named().saturating_add(path.as_os_str().len() as u64);
        if view.noted.len() >= MAX_NOTED || named > MAX_NAMED {
            return Err(Errno::NOSPC);
        }
        let noted = self.found_below(view, path);
        view.note(path, noted);
        Ok(())
    }

    /// Returns what is below at a path now.
    fn found_below(&self, view: &mut OverlayView, path: &Path) -> Option<LowerSnapshot> {
        let stat = self.lower.stat(path).ok()?;
        let rest = view.digested.checked_add(stat.size).filter(|all| *all <= DIGESTED);
        view.digested = rest.unwrap_or(view.digested);
        let digest = rest.and_then(|_| self.digest_below(path, stat));
        Some(LowerSnapshot { stat, digest, target: self.lower.link_target(path).ok() })
    }

    fn digest_below(&self, path: &Path, found: PathStat) -> Option<Digest> {
        if found.kind != EntryKind::File {
            return None;
        }
        let file = self.lower.file(path, FileAccess::READ).ok()?;
        Digest::of_rest(file).ok()
    }

    fn is_as_noted(&self, path: &Path, noted: Option<&LowerSnapshot>) -> bool {
        match (self.lower.stat(path).ok(), noted) {
            (None, None) => true,
            (Some(now), Some(noted)) if now.kind == noted.stat.kind => {
                // A folder changes with its entries, each of which is noted itself. The digest is
                // only read if the attributes differ, as after a `touch` or a checkout.
                now.kind == EntryKind::Folder
                    || now.is_still(&noted.stat)
                    || (noted.digest.is_some() && self.digest_below(path, now) == noted.digest)
                    || (noted.target.is_some() && self.lower.link_target(path).ok() == noted.target)
            }
            _ => false,
        }
    }
}

/// Returns whether the entry at the path can be neither moved nor removed.
fn is_fixed(view: &OverlayView, path: &Path) -> bool {
    path.as_os_str().is_empty() || (path == Path::new(TMP) && view.passes(path))
}

/// Refuses an entry that is not a file, or one to which its owner cannot write.
const fn plain(found: PathStat) -> Result<()> {
    match found.kind {
        EntryKind::File if found.mode & OWNER_WRITES == 0 => Err(Errno::ACCESS),
        EntryKind::File => Ok(()),
        EntryKind::Folder => Err(Errno::ISDIR),
        EntryKind::Link => Err(Errno::LOOP),
        EntryKind::Other => Err(Errno::PERM),
    }
}

/// Returns whether the folder's file system takes names in upper and lower case for the same, as
/// far as its entries show it. The view could then have one name twice.
fn is_lenient(root: &Root) -> Result<bool> {
    // Nothing is written to find that out: a name that is there is looked up in the other case.
    let list = root.list(Path::new(""))?;
    let swapped = |name: &OsString| {
        let swap = |byte: &u8| match byte {
            b'a'..=b'z' => byte.to_ascii_uppercase(),
            _ => byte.to_ascii_lowercase(),
        };
        name_of(name.as_encoded_bytes().iter().map(swap).collect())
    };
    let other = list.iter().map(|entry| (entry, swapped(&entry.name)));
    let mut other = other.filter(|(entry, other)| entry.name != *other);
    let Some((entry, other)) = other.next() else { return Ok(false) };
    let is_listed = list.iter().any(|entry| entry.name == other);
    let is_same = root.stat(Path::new(&other)).is_ok_and(|found| found.inode == entry.inode);
    Ok(is_same && !is_listed)
}
