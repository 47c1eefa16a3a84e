//! What was listed a moment ago: a walk asks of each entry of a folder what it is, which its list
//! has said already. Whatever is changed here forgets it, and so does time.

use crate::host::FileStat;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The time for which a list is believed: others may change files, too.
const FRESH: Duration = Duration::from_millis(50);

/// Most folders whose lists are kept.
const MOST: usize = 64;

/// The lists of some folders.
#[derive(Default)]
pub(crate) struct ListingCache(Mutex<HashMap<PathBuf, CachedListing>>);

struct CachedListing {
    at: Instant,
    entries: HashMap<String, FileStat>,
}

impl ListingCache {
    /// Keeps a folder's list.
    pub(crate) fn keep(&self, folder: &Path, entries: &[(String, FileStat)]) {
        let mut lists = self.lists();
        if lists.len() >= MOST {
            lists.clear();
        }
        let entries = entries.iter().cloned().collect();
        lists.insert(folder.to_owned(), CachedListing { at: Instant::now(), entries });
    }

    /// Returns what stands at a path, if its folder was listed a moment ago.
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
