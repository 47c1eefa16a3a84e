//! The view of an overlay: the names that differ from what is below, folder by folder, and what was
//! below when they were first changed. It is data only and reads no file. Maps are ordered, so that
//! the same view is always saved as the same bytes.

use super::super::file_stat::PathStat;
use crate::{digest::Digest, platform::Errno};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The changed names, and what was below them.
#[derive(Debug, Default)]
pub(super) struct OverlayView {
    /// The changed names of each folder.
    changed: BTreeMap<PathBuf, BTreeMap<OsString, OverlayEntry>>,
    /// The entries that were below at each path when it was first changed; `None` for no entry.
    pub(super) noted: BTreeMap<PathBuf, Option<LowerSnapshot>>,
    /// The paths that are never applied: the overlay's own `/tmp`, and temporary files in it.
    passing: BTreeSet<PathBuf>,
    /// The number of bytes of the paths in `noted`.
    named: u64,
    /// The number of bytes of the files whose digests were noted.
    pub(super) digested: u64,
    /// The last number that was given to a folder, a link or a content.
    last: u64,
    /// A number that is another one after each change of the above.
    version: u64,
    /// The paths of which something was changed since the last save.
    unsaved: BTreeSet<PathBuf>,
}

/// The entry that the view shows at a changed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OverlayEntry {
    /// Nothing: the entry below is removed.
    Gone,
    /// A folder of the view's own, which shows nothing from below.
    Folder(u64),
    File(OverlayContent),
    Link(PathBuf, u64),
}

/// The place of a changed file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OverlayContent {
    /// In the file below at this path, from where the file was moved.
    Lower(PathBuf),
    /// In the store, under this number.
    Own(u64),
}

/// The place of a file's former content.
#[derive(Debug)]
pub(crate) enum ShelterLocation {
    /// Below, at the file's own path, or at the one from which it was moved.
    Below(Option<PathBuf>),
    /// A copy in the store, under this number.
    Stored(u64),
}

/// The state of an entry that was below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LowerSnapshot {
    pub(super) stat: PathStat,
    /// The digest of a file, if it was read.
    pub(super) digest: Option<Digest>,
    /// The target of a link.
    pub(super) target: Option<PathBuf>,
}

impl OverlayEntry {
    /// Returns the number of its content in the store, if that is where it is.
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

    /// Returns the changed names of a folder.
    pub(super) fn names(&self, folder: &Path) -> Option<&BTreeMap<OsString, OverlayEntry>> {
        self.changed.get(folder)
    }

    /// Returns the error for a path that something above it hides: the view has another entry in
    /// place of a folder on the way. `None` if nothing hides it.
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

    /// Returns whether the view shows something else at the path than what is below.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.entry(path).is_some() || self.hides(path).is_some()
    }

    /// Returns the numbers of the contents in the store.
    pub(super) fn stored(&self) -> impl Iterator<Item = u64> {
        let entries = self.changed.values().flat_map(BTreeMap::values);
        entries.filter_map(OverlayEntry::number)
    }

    /// Returns a view in which nothing is changed, and in which numbers and versions go on.
    pub(super) fn fresh(&self) -> Self {
        Self { last: self.last, version: self.version + 1, ..Self::default() }
    }

    /// Makes a view with that number as the last one.
    pub(super) fn after(last: u64) -> Self {
        Self { last, ..Self::default() }
    }

    /// Skips all numbers up to that one.
    pub(super) fn skip_to(&mut self, last: u64) {
        self.last = self.last.max(last);
    }

    /// Returns the last number that was given.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    /// Returns a number that is another one after each change.
    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    /// Returns all changed entries with their paths, ordered by folder and name.
    pub(super) fn entries(&self) -> impl Iterator<Item = (PathBuf, &OverlayEntry)> {
        self.changed.iter().flat_map(|(folder, names)| {
            names.iter().map(|(name, entry)| (folder.join(name), entry))
        })
    }

    /// Returns the folders in which names are changed.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.changed.keys().map(PathBuf::as_path)
    }

    /// Notes what is below at a path.
    pub(super) fn note(&mut self, path: &Path, noted: Option<LowerSnapshot>) {
        self.touch(path);
        if self.noted.insert(path.to_owned(), noted).is_none() {
            self.named += path.as_os_str().len() as u64;
        }
    }

    fn touch(&mut self, path: &Path) {
        self.version += 1;
        self.unsaved.insert(path.to_owned());
    }

    /// Takes the paths of which something was changed since this was called last.
    pub(super) fn take_unsaved(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.unsaved)
    }

    /// Returns the number of bytes of the noted paths.
    pub(super) const fn named(&self) -> u64 {
        self.named
    }

    /// Returns the paths that are never applied, parents first.
    pub(super) fn passing(&self) -> impl Iterator<Item = &PathBuf> {
        self.passing.iter()
    }

    /// Returns whether the entry at a path is never applied.
    pub(super) fn passes(&self, path: &Path) -> bool {
        self.passing.contains(path)
    }

    /// Marks the entry at a path as temporary: it is never applied.
    pub(super) fn pass(&mut self, path: &Path) {
        if self.passing.insert(path.to_owned()) {
            self.touch(path);
        }
    }

    /// Marks the entry at a path as the project's: it is applied as any other.
    pub(super) fn keep(&mut self, path: &Path) {
        if self.passing.remove(path) {
            self.touch(path);
        }
    }

    /// Forgets the note of a path at which there was nothing and is nothing.
    pub(super) fn forget(&mut self, path: &Path) {
        // Otherwise moving a folder again and again would note ever more paths.
        if !self.covers(path) && matches!(self.noted.get(path), Some(None)) {
            self.touch(path);
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
            self.touch(path);
            self.changed.entry(folder.to_owned()).or_default().insert(name.to_owned(), entry);
        }
    }

    pub(super) fn unset(&mut self, path: &Path) {
        self.touch(path);
        // Whatever is put there later is not temporary for having this path.
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
        // Paths are ordered name by name, so that everything below a folder follows it directly.
        let from = self.changed.range(folder.to_owned()..);
        let below = from.map(|(path, _)| path).take_while(|path| path.starts_with(folder));
        let below: Vec<PathBuf> = below.cloned().collect();
        for path in below {
            let names = self.changed.remove(&path).unwrap_or_default();
            self.unsaved.extend(names.into_keys().map(|name| path.join(name)));
        }
        let (kept, below) = std::mem::take(&mut self.passing)
            .into_iter()
            .partition::<BTreeSet<_>, _>(|path| path == folder || !path.starts_with(folder));
        self.passing = kept;
        self.unsaved.extend(below);
    }
}
