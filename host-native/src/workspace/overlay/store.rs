//! Where an overlay keeps its contents: numbered files in a folder that belongs to the user alone,
//! and that is removed with the overlay. What a killed program has left behind is removed by the
//! next one.

use super::super::{
    root::{Access, Root, copy},
    stat::Stat,
};
use crate::{
    places::{self, meets},
    private,
};
use rustix::{
    fs::{FlockOperation, Mode, Timestamps, fchmod, flock},
    io::Result,
};
use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// The folder in the cache folder that holds the stores.
const FOLDER: &str = "overlays";
/// What the names of stores begin with.
const PREFIX: &str = "innerloop-overlay-";
/// The file in each of them that its program holds locked.
const LOCK: &str = "lock";
/// How often a store is made anew that another program has just removed.
const TRIES: usize = 4;

/// Numbered files.
#[derive(Debug)]
pub(super) struct Store {
    folder: Root,
    path: PathBuf,
    _lock: File,
}

impl Store {
    /// A new one for the workspace at `root`: in the cache folder, or where that cannot be, in the
    /// system's folder for temporary files.
    pub(super) fn create(root: &Path) -> io::Result<Self> {
        let cache = places::cache().map(|cache| cache.join(FOLDER));
        let cache = cache.filter(|folder| !meets(folder, root) && private::folder(folder).is_ok());
        let parent = cache.unwrap_or_else(env::temp_dir);
        if fs::canonicalize(&parent)?.starts_with(root) {
            let why = format!("{} lies in the workspace; use --in-place", parent.display());
            return Err(io::Error::other(why));
        }
        remove_abandoned(&parent);
        let mut made = Self::make(&parent);
        for _ in 1..TRIES {
            // Another program may have taken it for an abandoned one.
            if made.is_ok() {
                break;
            }
            made = Self::make(&parent);
        }
        made
    }

    fn make(parent: &Path) -> io::Result<Self> {
        let name = format!("{PREFIX}{:016x}", u64::from_ne_bytes(private::random()?));
        let path = parent.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = Root::open(&path)?;
        let lock = folder.file(Path::new(LOCK), NEW)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { folder, path, _lock: lock })
    }

    /// Makes an empty file.
    pub(super) fn add(&self, number: u64) -> Result<File> {
        self.folder.file(&name(number), NEW)
    }

    /// Makes a file with that mode, and with the content of another if that is given.
    pub(super) fn copy(&self, number: u64, from: Option<&File>, mode: u32) -> Result<()> {
        let mut file = self.add(number)?;
        let copied = from.map_or(Ok(()), |from| copy(from, &mut file));
        // Its owner can always write to it; what is applied has the mode of what it replaces.
        let copied = copied.and_then(|()| fchmod(&file, Mode::from_raw_mode(mode | 0o600)));
        copied.inspect_err(|_| self.remove(number))
    }

    pub(super) fn open(&self, number: u64, access: Access) -> Result<File> {
        let access = Access { create: false, exclusive: false, ..access };
        self.folder.file(&name(number), access)
    }

    pub(super) fn stat(&self, number: u64) -> Result<Stat> {
        self.folder.stat(&name(number))
    }

    pub(super) fn set_times(&self, number: u64, times: &Timestamps) -> Result<()> {
        self.folder.set_times(&name(number), times)
    }

    /// Removes a file; what has it open keeps it. One that stays costs room, no more.
    pub(super) fn remove(&self, number: u64) {
        let _ = self.folder.remove_file(&name(number));
    }

    /// Removes the whole store.
    pub(super) fn discard(&self) {
        // What is left is removed by the next program.
        drop(fs::remove_dir_all(&self.path));
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.discard();
    }
}

const NEW: Access = Access { write: true, create: true, exclusive: true, truncate: false };

fn name(number: u64) -> PathBuf {
    PathBuf::from(number.to_string())
}

/// Removes the stores of this user's that no running program holds locked.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let path = entry.path();
        let user = rustix::process::geteuid().as_raw();
        let is_own = |found: fs::Metadata| found.is_dir() && found.uid() == user;
        if !fs::symlink_metadata(&path).is_ok_and(is_own) {
            continue;
        }
        let lock = OpenOptions::new().write(true).open(path.join(LOCK));
        let is_free = |lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        match &lock {
            Ok(lock) if is_free(lock) => drop(fs::remove_dir_all(path)),
            Ok(_) => {}
            // Its program was killed before it had put anything in.
            Err(_) => drop(fs::remove_dir(path)),
        }
    }
}
