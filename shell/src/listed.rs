//! A cache of lists of folders: a walk asks for the metadata of each entry right after it has
//! listed the folder, and each question is a call of the host. Every change that the shell makes
//! empties it, and its lists expire soon.

use crate::host::FileStat;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The time for which a list is believed: others may change files, too.
const FRESH: Duration = Duration::from_millis(50);

/// The largest number of folders whose lists are kept.
const MOST: usize = 64;

/// The lists of some folders.
#[derive(Default)]
pub(crate) struct ListingCache(Mutex<HashMap<PathBuf, CachedListing>>);

struct CachedListing {
    at: Instant,
    entries: HashMap<String, FileStat>,
}

impl ListingCache {
    /// Keeps the list of a folder.
    pub(crate) fn keep(&self, folder: &Path, entries: &[(String, FileStat)]) {
        let mut lists = self.lists();
        // Emptied as a whole: lists expire within milliseconds, so that it is not worth finding the
        // oldest.
        if lists.len() >= MOST {
            lists.clear();
        }
        let entries = entries.iter().cloned().collect();
        lists.insert(folder.to_owned(), CachedListing { at: Instant::now(), entries });
    }

    /// Returns the metadata of a path, if its folder was listed a moment ago.
    pub(crate) fn about(&self, path: &Path) -> Option<FileStat> {
        let lists = self.lists();
        let list = lists.get(path.parent()?)?;
        let about = list.entries.get(path.file_name()?.to_str()?)?;
        (list.at.elapsed() < FRESH).then_some(*about)
    }

    /// Forgets all lists: something has changed.
    pub(crate) fn forget(&self) {
        self.lists().clear();
    }

    fn lists(&self) -> MutexGuard<'_, HashMap<PathBuf, CachedListing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
