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
    io::Result,
};
use std::{
    env,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The folder in the cache folder that holds the stores.
const FOLDER: &str = "overlays";
/// What the names of stores begin with.
const PREFIX: &str = "innerloop-overlay-";

/// Numbered files.
#[derive(Debug)]
pub(super) struct Store(Scratch);

impl Store {
    /// A new one for the workspace at `root`: in the cache folder, or where that cannot be, in the
    /// system's folder for temporary files.
    pub(super) fn create(root: &Path) -> io::Result<Self> {
        let cache = places::cache().map(|cache| cache.join(FOLDER));
        let cache = cache.filter(|folder| !meets(folder, root) && private::folder(folder).is_ok());
        if let Some(store) = cache.and_then(|folder| Self::create_in(&folder).ok()) {
            return Ok(store);
        }
        let temporary = env::temp_dir().canonicalize()?;
        if temporary.starts_with(root) {
            let why = format!("{} lies in the workspace; use --in-place", temporary.display());
            return Err(io::Error::other(why));
        }
        Self::create_in(&temporary)
    }

    fn create_in(folder: &Path) -> io::Result<Self> {
        let folder = Arc::new(Root::open(folder)?);
        Ok(Self(Scratch::create(&folder, Path::new(""), PREFIX)?))
    }

    /// Makes an empty file.
    pub(super) fn add(&self, number: u64) -> Result<File> {
        self.0.root().file(&name(number), NEW)
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
        self.0.root().file(&name(number), access)
    }

    pub(super) fn stat(&self, number: u64) -> Result<Stat> {
        self.0.root().stat(&name(number))
    }

    pub(super) fn set_times(&self, number: u64, times: &Timestamps) -> Result<()> {
        self.0.root().set_times(&name(number), times)
    }

    /// Removes a file; what has it open keeps it. One that stays costs room, no more.
    pub(super) fn remove(&self, number: u64) {
        let _ = self.0.root().remove_file(&name(number));
    }

    /// Removes the whole store.
    pub(super) fn discard(&self) {
        self.0.remove();
    }
}

fn name(number: u64) -> PathBuf {
    PathBuf::from(number.to_string())
}
