//! The folder of an overlay that outlives its program: numbered files with contents, beside them
//! the view as it was last saved whole, the records of what was saved since, and a lock that its
//! program holds. Invariant: whenever the
//! program is killed, each file that the saved view names is there and whole. So a file is removed
//! only after a view was saved that does not name it.

use super::super::{
    file_stat::EntryKind,
    root::{FileAccess, Root, set_file_mode, stat_file},
    scratch_folder::NEW,
};
use crate::{
    digest::Digest,
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
/// The name of the saved view, and the name under which it is written.
const VIEW: &str = "view.json";
const NEW_VIEW: &str = "view.json.tmp";
/// The name of the records of later saves: a line with the view's digest, and one for each record,
/// with its own digest before it.
const RECORDS: &str = "view.records";
/// The name of the view once all that it names has been applied.
const APPLIED: &str = "applied.json";

/// The bytes of a view from which on later saves are recorded beside it. A smaller one is saved
/// whole each time.
const RECORDED: usize = 64 << 10;

/// The maximum number of bytes of a saved view: a million names take less.
const MAX_VIEW: u64 = 512 << 20;
/// The largest number of a file. No overlay gets near it by counting.
pub(super) const MAX_NUMBER: u64 = 1 << 53;
/// The maximum number of files that are brought to the disk one by one.
// One call for the whole file system is faster for more files than that, but also waits for what
// other programs have written.
const MOST_ONE_BY_ONE: usize = 32;
/// The number of attempts to open a folder: another program may just have removed it.
const TRIES: usize = 4;

/// The reason why an overlay can't be kept in a folder, or taken up from there.
#[derive(Debug)]
pub(crate) enum KeptError {
    /// Another program works on it.
    Busy,
    /// It was made for another workspace, which was at this path.
    OfAnother(PathBuf),
    /// The content of the folder is not what was left there, with what is wrong.
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

/// The mode of files that only their owner reads and writes.
const OWN_MODE: u32 = 0o600;

/// The folder that keeps an overlay.
#[derive(Debug)]
pub(super) struct PersistentStore {
    folder: PathBuf,
    /// The open folder, which is created once there is something to keep.
    held: OnceLock<LockedFolder>,
    /// The lock that is held while the folder is created.
    making: Mutex<()>,
    files: Mutex<NumberedFiles>,
    /// The records beside the saved view; `None` if the next save must be a whole one.
    records: Mutex<Option<RecordFile>>,
}

/// The records of the saves after the last whole one.
#[derive(Debug)]
struct RecordFile {
    /// The digest of the view that they change.
    view: Digest,
    /// The number of bytes that may still be written before the view is saved whole again.
    left: usize,
    /// The number of the last record.
    last: u64,
    /// The file, once there is a record.
    file: Option<File>,
}

/// The open folder, which this program holds locked.
#[derive(Debug)]
struct LockedFolder {
    root: Root,
    _lock: File,
}

/// The state of the numbered files.
#[derive(Debug, Default)]
struct NumberedFiles {
    /// The largest number that the saved view may name.
    named: u64,
    /// The numbers that are no longer used, but that the saved view may still name.
    unused: BTreeSet<u64>,
    /// The numbers of files whose contents may not be on the disk yet.
    written: BTreeSet<u64>,
}

impl PersistentStore {
    /// Opens the folder at this absolute path. If it exists, this program holds it from now on.
    pub(super) fn open(folder: PathBuf) -> std::result::Result<Self, KeptError> {
        let kept = Self {
            held: OnceLock::new(),
            making: Mutex::default(),
            files: Mutex::default(),
            records: Mutex::default(),
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

    /// Returns the folder's path.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the open folder, which is created if it does not exist.
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
        // The folder was missing when this overlay began. A view that is there now is of another
        // program, and would be overwritten by the next save.
        if [VIEW, APPLIED].iter().any(|name| held.root.stat(Path::new(name)).is_ok()) {
            return Err(KeptError::Busy);
        }
        sweep(&held.root, &BTreeSet::new());
        Ok(held)
    }

    fn files(&self) -> MutexGuard<'_, NumberedFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the saved view, if there is one.
    pub(super) fn view(&self) -> std::result::Result<Option<String>, KeptError> {
        self.text(VIEW)
    }

    /// Returns the view that was applied, if cleaning up after that was not finished.
    pub(super) fn applied(&self) -> std::result::Result<Option<String>, KeptError> {
        self.text(APPLIED)
    }

    fn text(&self, name: &str) -> std::result::Result<Option<String>, KeptError> {
        let text = self.bytes(name)?.map(String::from_utf8).transpose();
        text.map_err(|_| KeptError::Damaged(format!("{name} is no text")))
    }

    fn bytes(&self, name: &str) -> std::result::Result<Option<Vec<u8>>, KeptError> {
        let Some(held) = self.held.get() else { return Ok(None) };
        let file = match held.root.file(Path::new(name), FileAccess::READ) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut bytes = Vec::new();
        // One byte more, by which a view that is too large is told from one that just fits.
        file.take(MAX_VIEW + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_VIEW {
            return Err(KeptError::Damaged(format!("{name} is too large")));
        }
        Ok(Some(bytes))
    }

    /// Takes over the files that a saved view names, and removes the others. Returns the largest
    /// number that is in use.
    ///
    /// # Errors
    /// The number of a file that is missing; then nothing is removed.
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
        // A file that could not be removed keeps its number, which no new file may get.
        Ok(numbers(&held.root).fold(last, u64::max))
    }

    /// Notes that a file may have another content than before.
    pub(super) fn written(&self, number: u64) {
        self.files().written.insert(number);
    }

    /// Removes a file, which stays until the next save if the saved view may name it.
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
            // If it cannot be removed now, it is when the overlay is taken up again.
            let _ = held.root.remove_file(&name(number));
        }
    }

    /// Notes that a view is about to be saved that names files up to that number. Returns the files
    /// that can be removed afterwards. Call it while nobody can change the view.
    pub(super) fn names(&self, last: u64) -> BTreeSet<u64> {
        // Before the save, not after it: a file that the view drops while it is being saved may be
        // named by what is written, and so must not be removed at once.
        let mut files = self.files();
        files.named = last;
        std::mem::take(&mut files.unused)
    }

    /// Saves a view in place of the last one, and then removes the files that it does not need.
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
        *self.records() = None;
        let root = self.root()?;
        // Contents first: the view must not name a file that is not on the disk.
        self.sync()?;
        let new = Path::new(NEW_VIEW);
        // Created anew: a file that a killed program has left there would be in the way.
        match root.remove_file(new) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = root.file(new, NEW)?;
        set_file_mode(&file, OWN_MODE)?;
        file.write_all(view.as_bytes())?;
        file.sync_all()?;
        root.rename(new, Path::new(VIEW))?;
        root.sync()?;
        // Records of another view are not read. They only take room.
        let _ = root.remove_file(Path::new(RECORDS));
        *self.records() = (view.len() >= RECORDED).then(|| RecordFile {
            view: Digest::of(view.as_bytes()),
            left: view.len(),
            last: 0,
            file: None,
        });
        Ok(())
    }

    fn records(&self) -> MutexGuard<'_, Option<RecordFile>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the next record; `None` if the view must be saved whole.
    pub(super) fn next_record(&self) -> Option<u64> {
        self.records().as_ref().filter(|records| records.left > 0).map(|records| records.last + 1)
    }

    /// Saves a record beside the view, and then removes the files that are needed no more.
    pub(super) fn append(&self, record: &str, mut unused: BTreeSet<u64>) -> io::Result<()> {
        // Contents first, as for a view.
        let appended = self.sync().and_then(|()| self.write_record(record));
        if appended.is_err() {
            // Half a record may be there, behind which nothing would be read.
            *self.records() = None;
            self.files().unused.append(&mut unused);
        }
        unused.into_iter().for_each(|number| self.remove_now(number));
        appended
    }

    fn write_record(&self, record: &str) -> io::Result<()> {
        let root = self.root()?;
        let mut records = self.records();
        let Some(RecordFile { view, left, last, file }) = &mut *records else {
            return Err(io::Error::other("there is no view to which a record belongs"));
        };
        let line = format!("{} {record}\n", Digest::of(record.as_bytes()));
        match file {
            Some(file) => {
                file.write_all(line.as_bytes())?;
                file.sync_data()?;
            }
            None => {
                let mut new = root.file(Path::new(RECORDS), NEW)?;
                set_file_mode(&new, OWN_MODE)?;
                new.write_all(format!("{view}\n{line}").as_bytes())?;
                new.sync_all()?;
                root.sync()?;
                *file = Some(new);
            }
        }
        (*left, *last) = (left.saturating_sub(line.len()), *last + 1);
        Ok(())
    }

    /// Returns the records that were saved after this view, in their order.
    ///
    /// # Errors
    /// [`KeptError::Damaged`] if one of them, which another one follows, is not as it was written.
    pub(super) fn records_after(&self, view: &str) -> std::result::Result<Vec<String>, KeptError> {
        let bytes = self.bytes(RECORDS)?.unwrap_or_default();
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
            let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
            Some(line.to_owned())
        });
        // A whole save that was killed before it had removed them leaves those of the view before.
        if lines.next().flatten() != Some(Digest::of(view.as_bytes()).to_string()) {
            return Ok(Vec::new());
        }
        let mut records = Vec::new();
        while let Some(line) = lines.next() {
            let parts = line.as_deref().and_then(|line| line.split_once(' '));
            match parts {
                Some((digest, record)) if Digest::of(record.as_bytes()).to_string() == digest => {
                    records.push(record.to_owned());
                }
                // The program was killed while it wrote the last one.
                _ if lines.next().is_none() => {}
                _ => return Err(KeptError::Damaged(format!("{RECORDS} is damaged"))),
            }
        }
        Ok(records)
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

    /// Notes that everything in the saved view has been applied.
    pub(super) fn set_applied(&self) -> Result<()> {
        let root = self.root()?;
        root.rename(Path::new(VIEW), Path::new(APPLIED))?;
        root.sync()
    }

    /// Notes that cleaning up after an application is finished.
    pub(super) fn forget_applied(&self) {
        if let Some(held) = self.held.get() {
            let _ = held.root.remove_file(Path::new(APPLIED));
        }
    }

    /// Removes the saved view and all files.
    pub(super) fn clear(&self) {
        let Some(held) = self.held.get() else { return };
        *self.records() = None;
        // The view goes first. If it cannot be removed, it still names the files, and they stay.
        let removed = held.root.remove_file(Path::new(VIEW));
        if matches!(removed, Ok(()) | Err(Errno::NOENT)) {
            let mut files = self.files();
            files.unused.clear();
            files.written.clear();
            sweep(&held.root, &BTreeSet::new());
            let _ = held.root.remove_file(Path::new(APPLIED));
            let _ = held.root.remove_file(Path::new(RECORDS));
        }
    }

    /// Removes the folder, if there is nothing in it but the lock.
    pub(super) fn discard(&self) {
        let Some(held) = self.held.get() else { return };
        let left = held.root.list(Path::new("")).unwrap_or_default();
        if left.iter().all(|entry| entry.name == LOCK) && !left.is_empty() {
            // A program that opens this lock meanwhile sees in `hold` that it was removed.
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

/// Opens the folder and locks it for this program alone.
fn hold(folder: &Path) -> std::result::Result<LockedFolder, KeptError> {
    for _ in 0..TRIES {
        let root = Root::open(folder)?;
        let list = root.list(Path::new(""))?;
        // Files without a lock beside them are somebody else's, and could be taken for ours.
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
        // A lock on a file that was removed or replaced meanwhile protects nothing.
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

/// Removes the files that killed programs have left and no view names.
fn sweep(root: &Root, named: &BTreeSet<u64>) {
    let _ = root.remove_file(Path::new(NEW_VIEW));
    for number in numbers(root).filter(|number| !named.contains(number)) {
        let _ = root.remove_file(&name(number));
    }
}

/// Returns the numbers of the files in the folder, in no particular order.
fn numbers(root: &Root) -> impl Iterator<Item = u64> {
    let list = root.list(Path::new("")).unwrap_or_default().into_iter();
    list.filter(|entry| entry.kind == EntryKind::File).filter_map(|entry| {
        let shown = entry.name.to_str()?;
        let number = shown.parse().ok().filter(|number| *number <= MAX_NUMBER)?;
        // `01` and `+1` parse, too, but are not names of ours.
        (name(number).to_str() == Some(shown)).then_some(number)
    })
}

/// Returns the name of the file with that number.
pub(super) fn name(number: u64) -> PathBuf {
    PathBuf::from(number.to_string())
}
