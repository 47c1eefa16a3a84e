//! The folder of an overlay that outlives its program: numbered files, beside them the view as it
//! was last saved, and a lock that its program holds. A view that is saved names no file that is
//! not there, whenever the program ends: a file goes only once a view is saved that does without.

use super::super::{
    file_stat::EntryKind,
    root::{FileAccess, Root, set_file_mode, stat_file},
    scratch_folder::NEW,
};
use crate::{
    platform::{DirBuilderExt as _, Errno, Result, SYNCS_ALL},
    private_files,
};
use std::{
    collections::BTreeSet,
    fs::{DirBuilder, File, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

/// The file that the program holds locked.
const LOCK: &str = "lock";
/// The view as it was last saved, and how it is called until it is whole.
const VIEW: &str = "view.json";
const NEW_VIEW: &str = "view.json.tmp";
/// The name of the view once all that it names has been applied.
const APPLIED: &str = "applied.json";

/// Most bytes of a view that is saved: a million names take less.
const MAX_VIEW: u64 = 512 << 20;
/// The largest number of a file. None comes near by counting.
pub(super) const MAX_NUMBER: u64 = 1 << 53;
/// The maximum number of files that are brought to the disk one by one: if more wait, the whole
/// file system is, if there is a call for that.
const MOST_ONE_BY_ONE: usize = 32;
/// The number of attempts to open a folder: another program may just have removed it.
const TRIES: usize = 4;

/// The reason why an overlay can't be kept in a folder, or taken up from there.
#[derive(Debug)]
pub(crate) enum KeptError {
    /// Another program works on it.
    Busy,
    /// It is one of another folder: of that which stood at this path.
    OfAnother(PathBuf),
    /// The content of the folder is not what was left there.
    Damaged(String),
    /// The system refused something.
    Failed(io::Error),
}

impl From<io::Error> for KeptError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Errno> for KeptError {
    fn from(error: Errno) -> Self {
        Self::Failed(error.into())
    }
}

/// Only its owner reads and writes a file.
const OWN_MODE: u32 = 0o600;

/// A folder that stays.
#[derive(Debug)]
pub(super) struct PersistentStore {
    folder: PathBuf,
    /// Made when there is something to keep.
    held: OnceLock<LockedFolder>,
    /// Held while the folder is made.
    making: Mutex<()>,
    files: Mutex<NumberedFiles>,
}

/// The folder as this program alone has it.
#[derive(Debug)]
struct LockedFolder {
    root: Root,
    _lock: File,
}

/// The state of the numbered files.
#[derive(Debug, Default)]
struct NumberedFiles {
    /// The saved view may name those up to this one.
    named: u64,
    /// Those that are of no more use, once a view is saved that names them no more.
    unused: BTreeSet<u64>,
    /// Those that may not be on the disk yet.
    written: BTreeSet<u64>,
}

impl PersistentStore {
    /// The folder at this absolute path. If it is there, it is this program's from now on.
    pub(super) fn open(folder: PathBuf) -> std::result::Result<Self, KeptError> {
        let kept = Self {
            held: OnceLock::new(),
            making: Mutex::default(),
            files: Mutex::default(),
            folder,
        };
        match kept.folder.symlink_metadata() {
            Ok(_) => {
                private_files::folder(&kept.folder)?;
                let held = hold(&kept.folder)?;
                kept.held.get_or_init(|| held);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        Ok(kept)
    }

    /// Returns where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder, which is made if it is not there.
    pub(super) fn root(&self) -> Result<&Root> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = self.held.get() {
            return Ok(&held.root);
        }
        let made = self.make().map_err(|error| match error {
            KeptError::Failed(error) => Errno::from_io_error(&error).unwrap_or(Errno::IO),
            _ => Errno::BUSY,
        })?;
        Ok(&self.held.get_or_init(|| made).root)
    }

    fn make(&self) -> std::result::Result<LockedFolder, KeptError> {
        if let Some(around) = self.folder.parent() {
            DirBuilder::new().mode(0o700).recursive(true).create(around)?;
        }
        private_files::folder(&self.folder)?;
        let held = hold(&self.folder)?;
        // When this overlay began, nothing was there.
        if [VIEW, APPLIED].iter().any(|name| held.root.stat(Path::new(name)).is_ok()) {
            return Err(KeptError::Busy);
        }
        sweep(&held.root, &BTreeSet::new());
        Ok(held)
    }

    fn files(&self) -> MutexGuard<'_, NumberedFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view that was saved, if one was.
    pub(super) fn view(&self) -> std::result::Result<Option<String>, KeptError> {
        self.text(VIEW)
    }

    /// The view that was applied, if what comes after that was not done.
    pub(super) fn applied(&self) -> std::result::Result<Option<String>, KeptError> {
        self.text(APPLIED)
    }

    fn text(&self, name: &str) -> std::result::Result<Option<String>, KeptError> {
        let Some(held) = self.held.get() else { return Ok(None) };
        let mut file = match held.root.file(Path::new(name), FileAccess::READ) {
            Ok(file) => file.take(MAX_VIEW + 1),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = String::new();
        match file.read_to_string(&mut text) {
            Ok(_) if text.len() as u64 > MAX_VIEW => {
                Err(KeptError::Damaged(format!("{name} is too large")))
            }
            Ok(_) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(KeptError::Damaged(format!("{name} is no text")))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes over the files that a view names which was saved, and removes others; gives the
    /// largest number of those that stay.
    ///
    /// # Errors
    /// The number of one that is missing; then all stay.
    pub(super) fn take_up(
        &self,
        named: &BTreeSet<u64>,
        last: u64,
    ) -> std::result::Result<u64, u64> {
        self.files().named = last;
        let Some(held) = self.held.get() else {
            return named.first().map_or(Ok(last), |n| Err(*n));
        };
        let there: BTreeSet<u64> = numbers(&held.root).collect();
        if let Some(missing) = named.difference(&there).next() {
            return Err(*missing);
        }
        sweep(&held.root, named);
        Ok(numbers(&held.root).fold(last, u64::max))
    }

    /// A file may have another content than before.
    pub(super) fn written(&self, number: u64) {
        self.files().written.insert(number);
    }

    /// Removes a file, at once if no saved view names it.
    pub(super) fn remove(&self, number: u64) {
        let mut files = self.files();
        files.written.remove(&number);
        if number <= files.named {
            files.unused.insert(number);
        } else {
            drop(files);
            self.remove_now(number);
        }
    }

    fn remove_now(&self, number: u64) {
        if let Some(held) = self.held.get() {
            // One that stays is removed when the overlay is taken up again.
            let _ = held.root.remove_file(&name(number));
        }
    }

    /// Says that a view is about to be saved that names files up to that number; gives those that
    /// can go afterwards.
    pub(super) fn names(&self, last: u64) -> BTreeSet<u64> {
        let mut files = self.files();
        files.named = last;
        std::mem::take(&mut files.unused)
    }

    /// Puts a view in the place of the one that was saved, and removes what it can do without.
    pub(super) fn save(&self, view: &str, mut unused: BTreeSet<u64>) -> io::Result<()> {
        let saved = self.write(view);
        if saved.is_err() {
            self.files().unused.append(&mut unused);
        }
        unused.into_iter().for_each(|number| self.remove_now(number));
        saved
    }

    fn write(&self, view: &str) -> io::Result<()> {
        if view.len() as u64 > MAX_VIEW {
            return Err(io::Error::other("so many changed names cannot be kept"));
        }
        let root = self.root()?;
        self.sync()?;
        let new = Path::new(NEW_VIEW);
        match root.remove_file(new) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = root.file(new, NEW)?;
        set_file_mode(&file, OWN_MODE)?;
        file.write_all(view.as_bytes())?;
        file.sync_all()?;
        root.rename(new, Path::new(VIEW))?;
        Ok(root.sync()?)
    }

    /// Waits until the contents are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        let written = std::mem::take(&mut self.files().written);
        let Some(held) = self.held.get() else { return Ok(()) };
        let synced = sync(&held.root, &written);
        if synced.is_err() {
            self.files().written.extend(written);
        }
        Ok(synced?)
    }

    /// Says that all that the saved view names has been applied.
    pub(super) fn set_applied(&self) -> Result<()> {
        let root = self.root()?;
        root.rename(Path::new(VIEW), Path::new(APPLIED))?;
        root.sync()
    }

    /// Says that nothing is left to do of what was applied.
    pub(super) fn forget_applied(&self) {
        if let Some(held) = self.held.get() {
            let _ = held.root.remove_file(Path::new(APPLIED));
        }
    }

    /// Removes the views that were saved, and all files.
    pub(super) fn clear(&self) {
        let Some(held) = self.held.get() else { return };
        let removed = held.root.remove_file(Path::new(VIEW));
        if matches!(removed, Ok(()) | Err(Errno::NOENT)) {
            let mut files = self.files();
            files.unused.clear();
            files.written.clear();
            sweep(&held.root, &BTreeSet::new());
            let _ = held.root.remove_file(Path::new(APPLIED));
        }
    }

    /// Removes the folder, if nothing is left in it but the lock.
    pub(super) fn discard(&self) {
        let Some(held) = self.held.get() else { return };
        let left = held.root.list(Path::new("")).unwrap_or_default();
        if left.iter().all(|entry| entry.name == LOCK) && !left.is_empty() {
            // Whoever waits for the lock sees that it is another one by then.
            let _ = held.root.remove_file(Path::new(LOCK));
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}

impl Drop for PersistentStore {
    fn drop(&mut self) {
        self.discard();
    }
}

/// Opens the folder for this program alone.
fn hold(folder: &Path) -> std::result::Result<LockedFolder, KeptError> {
    for _ in 0..TRIES {
        let root = Root::open(folder)?;
        let list = root.list(Path::new(""))?;
        if !list.is_empty() && list.iter().all(|entry| entry.name != LOCK) {
            return Err(io::Error::other(format!("{} holds other files", folder.display())).into());
        }
        let lock = root
            .file(Path::new(LOCK), FileAccess { write: true, create: true, ..FileAccess::READ });
        let lock = match lock {
            Err(Errno::NOENT) => continue,
            lock => lock?,
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(KeptError::Busy),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let inode = stat_file(&lock)?.inode;
        // It may have been removed before it was locked.
        if root.stat(Path::new(LOCK)).is_ok_and(|found| found.inode == inode) {
            set_file_mode(&lock, OWN_MODE)?;
            return Ok(LockedFolder { root, _lock: lock });
        }
    }
    Err(KeptError::Busy)
}

/// Waits until these files are on the disk.
fn sync(root: &Root, written: &BTreeSet<u64>) -> Result<()> {
    if SYNCS_ALL && written.len() > MOST_ONE_BY_ONE {
        return root.sync_all();
    }
    for number in written {
        match root.file(&name(*number), FileAccess::READ) {
            Ok(file) => {
                let synced = file.sync_data();
                synced.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            }
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes what a program has left that no view names.
fn sweep(root: &Root, named: &BTreeSet<u64>) {
    let _ = root.remove_file(Path::new(NEW_VIEW));
    for number in numbers(root).filter(|number| !named.contains(number)) {
        let _ = root.remove_file(&name(number));
    }
}

/// The numbers of the files in the folder, in no order.
fn numbers(root: &Root) -> impl Iterator<Item = u64> {
    let list = root.list(Path::new("")).unwrap_or_default().into_iter();
    list.filter(|entry| entry.kind == EntryKind::File).filter_map(|entry| {
        let shown = entry.name.to_str()?;
        let number = shown.parse().ok().filter(|number| *number <= MAX_NUMBER)?;
        (name(number).to_str() == Some(shown)).then_some(number)
    })
}

/// The name of the file with that number.
pub(super) fn name(number: u64) -> PathBuf {
    PathBuf::from(number.to_string())
}
