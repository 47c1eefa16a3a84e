//! Where an overlay keeps its contents: numbered files in a private folder, which is removed with
//! the overlay, or stays where it was asked for.

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

/// Numbered files.
#[derive(Debug)]
pub(super) enum OverlayStore {
    /// That go with the overlay.
    Passing {
        /// The folders that may hold them, the better place first.
        places: Vec<PathBuf>,
        /// Made when there is something to keep.
        made: OnceLock<ScratchFolder>,
    },
    /// That outlive it.
    Kept(PersistentStore),
}

impl OverlayStore {
    /// One for the workspace at `root`: in the cache folder, or where that cannot be, in the
    /// system's folder for temporary files.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
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

    /// The folder that outlives the overlay, if that is where they are.
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

    /// Makes an empty file.
    pub(super) fn add(&self, number: u64) -> Result<File> {
        let file = self.root()?.file(&name(number), NEW)?;
        self.written(number);
        Ok(file)
    }

    /// A file may have another content than before.
    fn written(&self, number: u64) {
        if let Self::Kept(kept) = self {
            kept.written(number);
        }
    }

    /// Makes a file with that mode, and with the content of another if that is given.
    pub(super) fn copy(&self, number: u64, from: Option<&File>, mode: u32) -> Result<()> {
        let mut file = self.add(number)?;
        let copied = from.map_or(Ok(()), |from| copy(from, &mut file));
        // Its owner can always write to it; what is applied has the mode of what it replaces.
        let copied = copied.and_then(|()| set_file_mode(&file, mode | 0o600));
        copied.inspect_err(|_| self.remove(number))
    }

    /// Makes a file like another, with its content unless it is to be empty.
    pub(super) fn copy_within(
        &self,
        (from, to): (u64, u64),
        found: PathStat,
        is_empty: bool,
    ) -> Result<()> {
        let content = self.open(from, FileAccess::READ)?;
        self.copy(to, (!is_empty).then_some(&content), found.mode)?;
        self.set_times(to, &times(found))
    }

    /// Makes the file in another store that it is in this one.
    pub(super) fn copy_to(&self, number: u64, other: &Self) -> Result<()> {
        let (found, from) = (self.stat(number)?, self.open(number, FileAccess::READ)?);
        other.copy(number, Some(&from), found.mode)?;
        other.set_times(number, &times(found))
    }

    pub(super) fn open(&self, number: u64, access: FileAccess) -> Result<File> {
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

    /// Removes a file; what has it open keeps it. One that stays costs room, no more.
    pub(super) fn remove(&self, number: u64) {
        match self {
            Self::Passing { .. } => {
                let _ = self.root().and_then(|root| root.remove_file(&name(number)));
            }
            Self::Kept(kept) => kept.remove(number),
        }
    }

    /// Removes these files, which are all, and what says what they are.
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

/// Returns when a file was read and written last.
fn times(found: PathStat) -> Timestamps {
    let time = |nanoseconds: u64| Timespec {
        tv_sec: i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (nanoseconds % 1_000_000_000).try_into().unwrap_or_default(),
    };
    Timestamps { last_access: time(found.accessed), last_modification: time(found.modified) }
}

fn make(places: &[PathBuf]) -> Result<ScratchFolder> {
    let mut made = Err(Errno::NOSPC);
    for place in places {
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
