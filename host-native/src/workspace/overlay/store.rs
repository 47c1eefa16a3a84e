//! Where an overlay keeps its contents: numbered files in a private folder, which is removed with
//! the overlay.

use super::super::{
    root::{Access, Root, copy},
    scratch::{NEW, Scratch},
    stat::Stat,
};
use crate::{
    places::{self, meets},
    private,
};
use rustix::{
    fs::{Mode, Timestamps, fchmod},
    io::{Errno, Result},
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
/// What the names of stores begin with.
const PREFIX: &str = "innerloop-overlay-";

/// Numbered files.
#[derive(Debug)]
pub(super) struct Store {
    /// Where it may be, the better place first.
    places: Vec<PathBuf>,
    /// Made when there is something to keep.
    made: OnceLock<Scratch>,
}

impl Store {
    /// One for the workspace at `root`: in the cache folder, or where that cannot be, in the
    /// system's folder for temporary files.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let cache = places::cache().map(|cache| cache.join(FOLDER));
        let cache = cache.filter(|folder| !meets(folder, root));
        let temporary = env::temp_dir();
        let is_outside = temporary.canonicalize().is_ok_and(|folder| !folder.starts_with(root));
        let places: Vec<_> = cache.into_iter().chain(is_outside.then_some(temporary)).collect();
        if places.is_empty() {
            return Err(io::Error::other(
                "no folder for its files lies outside of the workspace; use --in-place",
            ));
        }
        Ok(Self { places, made: OnceLock::new() })
    }

    fn root(&self) -> Result<&Root> {
        if let Some(made) = self.made.get() {
            return Ok(made.root());
        }
        let made = self.make()?;
        Ok(self.made.get_or_init(|| made).root())
    }

    fn make(&self) -> Result<Scratch> {
        let mut made = Err(Errno::NOSPC);
        for place in &self.places {
            if place.ends_with(FOLDER) && private::folder(place).is_err() {
                continue;
            }
            made = Root::open(place)
                .and_then(|root| Scratch::create(&Arc::new(root), Path::new(""), PREFIX));
            if made.is_ok() {
                break;
            }
        }
        made
    }

    /// Makes an empty file.
    pub(super) fn add(&self, number: u64) -> Result<File> {
        self.root()?.file(&name(number), NEW)
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
        self.root()?.file(&name(number), access)
    }

    pub(super) fn stat(&self, number: u64) -> Result<Stat> {
        self.root()?.stat(&name(number))
    }

    pub(super) fn set_times(&self, number: u64, times: &Timestamps) -> Result<()> {
        self.root()?.set_times(&name(number), times)
    }

    /// Removes a file; what has it open keeps it. One that stays costs room, no more.
    pub(super) fn remove(&self, number: u64) {
        let _ = self.root().and_then(|root| root.remove_file(&name(number)));
    }

    /// Removes the whole store.
    pub(super) fn discard(&self) {
        if let Some(made) = self.made.get() {
            made.remove();
        }
    }
}

fn name(number: u64) -> PathBuf {
    PathBuf::from(number.to_string())
}
