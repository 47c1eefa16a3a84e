//! How an overlay's view differs from what is below: the changed names, folder by folder.

use super::super::file_stat::PathStat;
use crate::{digest::Digest, platform::Errno};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The changed names, and what they hide.
#[derive(Debug, Default)]
pub(super) struct OverlayView {
    /// The changed names of each folder.
    changed: BTreeMap<PathBuf, BTreeMap<OsString, OverlayEntry>>,
    /// The entries that stood below where something was changed, as they were then; `None` where
    /// nothing stood.
    pub(super) noted: BTreeMap<PathBuf, Option<LowerSnapshot>>,
    /// The paths that are never applied: they are in the folder for temporary files, or are that
    /// folder.
    passing: BTreeSet<PathBuf>,
    /// Bytes of the paths of which it is noted what stood below.
    named: u64,
    /// Bytes of files whose digests were noted.
    pub(super) digested: u64,
    /// The number of the last thing that was made.
    last: u64,
    /// Another one after each change of the above.
    version: u64,
}

/// A name whose meaning the view changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OverlayEntry {
    /// It is not there any more.
    Gone,
    /// A folder of the view's own: nothing below is shown in it.
    Folder(u64),
    File(OverlayContent),
    Link(PathBuf, u64),
}

/// The place of a changed file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OverlayContent {
    /// In the file below at this path: it was moved.
    Lower(PathBuf),
    /// In the store, under this number.
    Own(u64),
}

/// The former content of a file.
#[derive(Debug)]
pub(crate) enum ShelterLocation {
    /// It stands below: there, or where it was moved from.
    Below(Option<PathBuf>),
    /// A copy in the store, under this number.
    Stored(u64),
}

/// The state of an entry that stood below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LowerSnapshot {
    pub(super) stat: PathStat,
    /// Of a file, if there was room to read it.
    pub(super) digest: Option<Digest>,
    /// Of a link.
    pub(super) target: Option<PathBuf>,
}

impl OverlayEntry {
    /// The number of the file that it names in the store.
    pub(super) const fn number(&self) -> Option<u64> {
        match self {
            Self::File(OverlayContent::Own(number)) => Some(*number),
            _ => None,
        }
    }
}

impl OverlayView {
    pub(super) fn entry(&self, path: &Path) -> Option<&OverlayEntry> {
        self.names(path.parent()?)?.get(path.file_name()?)
    }

    /// The changed names of a folder.
    pub(super) fn names(&self, folder: &Path) -> Option<&BTreeMap<OsString, OverlayEntry>> {
        self.changed.get(folder)
    }

    /// Returns what the system would say of a path if something above it hides what stands below
    /// there.
    pub(super) fn hides(&self, path: &Path) -> Option<Errno> {
        if self.changed.is_empty() {
            return None;
        }
        let entry = path.ancestors().skip(1).find_map(|above| self.entry(above))?;
        Some(match entry {
            OverlayEntry::File(_) | OverlayEntry::Link(..) => Errno::NOTDIR,
            OverlayEntry::Folder(_) | OverlayEntry::Gone => Errno::NOENT,
        })
    }

    /// Returns whether the view shows something else at the path than what stands below there.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.entry(path).is_some() || self.hides(path).is_some()
    }

    /// The numbers of what stands in the store.
    pub(super) fn stored(&self) -> impl Iterator<Item = u64> {
        let entries = self.changed.values().flat_map(BTreeMap::values);
        entries.filter_map(OverlayEntry::number)
    }

    /// One in which nothing is changed, with the numbers that follow.
    pub(super) fn fresh(&self) -> Self {
        Self { last: self.last, version: self.version + 1, ..Self::default() }
    }

    /// One with that number as the last.
    pub(super) fn after(last: u64) -> Self {
        Self { last, ..Self::default() }
    }

    /// Uses no number up to that one.
    pub(super) fn skip_to(&mut self, last: u64) {
        self.last = self.last.max(last);
    }

    /// The number of the last thing that was made.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    /// Another number after each change.
    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    /// All changed names, by folder and name.
    pub(super) fn entries(&self) -> impl Iterator<Item = (PathBuf, &OverlayEntry)> {
        self.changed.iter().flat_map(|(folder, names)| {
            names.iter().map(|(name, entry)| (folder.join(name), entry))
        })
    }

    /// The folders in which names are changed.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.changed.keys().map(PathBuf::as_path)
    }

    /// Notes what stands below at a path.
    pub(super) fn note(&mut self, path: &Path, noted: Option<LowerSnapshot>) {
        self.version += 1;
        if self.noted.insert(path.to_owned(), noted).is_none() {
            self.named += path.as_os_str().len() as u64;
        }
    }

    /// Bytes of the paths of which it is noted what stood below.
    pub(super) const fn named(&self) -> u64 {
        self.named
    }

    /// Returns what is never applied, parents first.
    pub(super) fn passing(&self) -> impl Iterator<Item = &PathBuf> {
        self.passing.iter()
    }

    /// Returns whether what stands at a path is never applied.
    pub(super) fn passes(&self, path: &Path) -> bool {
        self.passing.contains(path)
    }

    /// Never applies what stands at a path.
    pub(super) fn pass(&mut self, path: &Path) {
        self.version += u64::from(self.passing.insert(path.to_owned()));
    }

    /// Applies what stands at a path as any other.
    pub(super) fn keep(&mut self, path: &Path) {
        self.version += u64::from(self.passing.remove(path));
    }

    /// Forgets what was noted of a path at which there was nothing and is nothing.
    pub(super) fn forget(&mut self, path: &Path) {
        if !self.covers(path) && matches!(self.noted.get(path), Some(None)) {
            self.version += 1;
            self.noted.remove(path);
            self.named = self.named.saturating_sub(path.as_os_str().len() as u64);
        }
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn set(&mut self, path: &Path, entry: OverlayEntry) {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
        if self.entry(path) != Some(&entry) {
            self.version += 1;
            self.changed.entry(folder.to_owned()).or_default().insert(name.to_owned(), entry);
        }
    }

    pub(super) fn unset(&mut self, path: &Path) {
        self.version += 1;
        self.passing.remove(path);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Some(names) = self.changed.get_mut(folder) {
            names.remove(name);
            if names.is_empty() {
                self.changed.remove(folder);
            }
        }
    }

    /// Forgets the changed names in and below a folder that is removed.
    pub(super) fn clear_below(&mut self, folder: &Path) {
        self.version += 1;
        let from = self.changed.range(folder.to_owned()..);
        let below = from.map(|(path, _)| path).take_while(|path| path.starts_with(folder));
        let below: Vec<PathBuf> = below.cloned().collect();
        for path in below {
            self.changed.remove(&path);
        }
        self.passing.retain(|path| path == folder || !path.starts_with(folder));
    }
}
