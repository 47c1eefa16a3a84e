//! The store of an overlay's contents: numbered files in a private folder, which is removed with
//! the overlay, or outlives it in a folder of the caller's. A file's name is its number, and the
//! view says which path each number belongs to.

use super::super::{
    file_stat::PathStat,
    root::{FileAccess, Root, copy, set_file_mode},
    scratch_folder::{NEW, ScratchFolder},
};
use super::overlay_folder::{PersistentStore, name};
use crate::{
    app_dirs::{self, meets},
    platform::{Errno, Result, Timespec, Timestamps},
    private_files,
};
use std::{
    env,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// The folder in the cache folder that holds the stores.
const FOLDER: &str = "overlays";
/// The prefix of the names of stores.
const PREFIX: &str = "innerloop-overlay-";

/// The store of numbered files.
#[derive(Debug)]
pub(super) enum OverlayStore {
    /// Files that are removed with the overlay.
    Passing {
        /// The folders that may hold them, in the order in which they are tried.
        places: Vec<PathBuf>,
        /// The folder that holds them, which is made once there is something to keep.
        made: OnceLock<ScratchFolder>,
    },
    /// Files that outlive the overlay.
    Kept(PersistentStore),
}

impl OverlayStore {
    /// Makes one for the workspace at `root`: in the cache folder or, where that is not possible,
    /// in the system's folder for temporary files.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        // In the workspace, guests could read and write the contents behind the view's back.
        let cache = app_dirs::cache().map(|cache| cache.join(FOLDER));
        let cache = cache.filter(|folder| !meets(folder, root));
        let temporary = env::temp_dir();
        let is_outside = temporary.canonicalize().is_ok_and(|folder| !folder.starts_with(root));
        let places: Vec<_> = cache.into_iter().chain(is_outside.then_some(temporary)).collect();
        if places.is_empty() {
            return Err(io::Error::other(
                "no folder for its files lies outside of the workspace; use --in-place",
            ));
        }
        Ok(Self::Passing { places, made: OnceLock::new() })
    }

    /// Returns the folder that outlives the overlay, if that is where the files are.
    pub(super) const fn kept(&self) -> Option<&PersistentStore> {
        match self {
            Self::Passing { .. } => None,
            Self::Kept(kept) => Some(kept),
        }
    }

    fn root(&self) -> Result<&Root> {
        match self {
            Self::Kept(kept) => kept.root(),
            Self::Passing { places, made } => match made.get() {
                Some(made) => Ok(made.root()),
                None => {
                    let new = make(places)?;
                    Ok(made.get_or_init(|| new).root())
                }
            },
        }
    }

    /// Creates an empty file.
    pub(super) fn add(&self, number: u64) -> Result<File> {
        let file = self.root()?.file(&name(number), NEW)?;
        self.written(number);
        Ok(file)
    }

    /// Notes that a file may have another content than before.
    fn written(&self, number: u64) {
        if let Self::Kept(kept) = self {
            kept.written(number);
        }
    }

    /// Creates a file with that mode, and with the content of `from` if that is given.
    pub(super) fn copy(&self, number: u64, from: Option<&File>, mode: u32) -> Result<()> {
        let mut file = self.add(number)?;
        let copied = from.map_or(Ok(()), |from| copy(from, &mut file));
        // The host itself must be able to write to it, whatever the mode of the file below.
        let copied = copied.and_then(|()| set_file_mode(&file, mode | 0o600));
        // Half a copy is of no use, and takes room on a disk that may be full.
        copied.inspect_err(|_| self.remove(number))
    }

    /// Copies a file within the store, without its content if that is to be emptied.
    pub(super) fn copy_within(
        &self,
        (from, to): (u64, u64),
        found: PathStat,
        is_empty: bool,
    ) -> Result<()> {
        let content = self.open(from, FileAccess::READ)?;
        self.copy(to, (!is_empty).then_some(&content), found.mode)?;
        // A guest must not see a file as new that it has only opened.
        self.set_times(to, &times(found))
    }

    /// Copies a file to another store, under the same number.
    pub(super) fn copy_to(&self, number: u64, other: &Self) -> Result<()> {
        let (found, from) = (self.stat(number)?, self.open(number, FileAccess::READ)?);
        other.copy(number, Some(&from), found.mode)?;
        other.set_times(number, &times(found))
    }

    pub(super) fn open(&self, number: u64, access: FileAccess) -> Result<File> {
        // The view has decided whether the file is new; its content always exists by now.
        let access = FileAccess { create: false, exclusive: false, ..access };
        if access.changes() {
            self.written(number);
        }
        self.root()?.file(&name(number), access)
    }

    pub(super) fn stat(&self, number: u64) -> Result<PathStat> {
        self.root()?.stat(&name(number))
    }

    pub(super) fn set_times(&self, number: u64, times: &Timestamps) -> Result<()> {
        self.root()?.set_times(&name(number), times)
    }

    /// Sets the permissions of a file, which its owner can always write to.
    pub(super) fn set_mode(&self, number: u64, mode: u32) -> Result<()> {
        self.written(number);
        set_file_mode(&self.root()?.file(&name(number), FileAccess::READ)?, mode | 0o600)
    }

    /// Removes a file. Whoever has it open can still use it; if it cannot be removed, it only takes
    /// room.
    pub(super) fn remove(&self, number: u64) {
        match self {
            Self::Passing { .. } => {
                let _ = self.root().and_then(|root| root.remove_file(&name(number)));
            }
            Self::Kept(kept) => kept.remove(number),
        }
    }

    /// Removes all files, whose numbers these are, and the saved view.
    pub(super) fn clear(&self, numbers: impl Iterator<Item = u64>) {
        match self {
            Self::Passing { .. } => numbers.for_each(|number| self.remove(number)),
            Self::Kept(kept) => kept.clear(),
        }
    }

    /// Removes the whole store.
    pub(super) fn discard(&self) {
        match self {
            Self::Passing { made, .. } => made.get().into_iter().for_each(ScratchFolder::remove),
            Self::Kept(kept) => kept.discard(),
        }
    }
}

/// Returns the times at which a file was last read and written.
fn times(found: PathStat) -> Timestamps {
    let time = |nanoseconds: u64| Timespec {
        tv_sec: i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (nanoseconds % 1_000_000_000).try_into().unwrap_or_default(),
    };
    Timestamps { last_access: time(found.accessed), last_modification: time(found.modified) }
}

/// Makes a scratch folder in the first of the places where that works.
fn make(places: &[PathBuf]) -> Result<ScratchFolder> {
    let mut made = Err(Errno::NOSPC);
    for place in places {
        // The folder for temporary files belongs to everybody, and cannot be made private.
        if place.ends_with(FOLDER) && private_files::folder(place).is_err() {
            continue;
        }
        made = Root::open(place)
            .and_then(|root| ScratchFolder::create(&Arc::new(root), Path::new(""), PREFIX));
        if made.is_ok() {
            break;
        }
    }
    made
}
