//! Files in memory, as a page has them. A folder exists as long as there is a file below it, and
//! time is a counter, so that the same calls always give the same files.

use crate::{
    files::{EntryKind, FileError, FileStat, FolderEntry, WorkspaceFiles},
    path::WorkspacePath,
};
use innerloop_json::PlaceMap;
use std::{borrow::Cow, mem};

/// Files in memory, sorted by path. Each write makes its file newer than all others.
#[derive(Clone, Debug, Default)]
pub struct InMemoryFiles {
    /// The index in `files` of the file at each path.
    places: PlaceMap,
    files: Vec<StoredFile>,
    /// The indices of files that were removed, which new ones take.
    vacant: Vec<usize>,
    writes: u64,
    fits_pictures: bool,
}

#[derive(Clone, Debug, Default)]
struct StoredFile {
    bytes: Vec<u8>,
    modified: u64,
}

impl InMemoryFiles {
    /// Creates an empty set of files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty set of files, in a host that makes pictures smaller or does not.
    #[must_use]
    pub fn fitting_pictures(fits_pictures: bool) -> Self {
        Self { fits_pictures, ..Self::default() }
    }

    /// Returns how many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns all files with their content, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.places.iter().filter_map(|(path, place)| {
            let file = self.files.get(place)?;
            Some((path, file.bytes.as_slice()))
        })
    }

    /// Returns the content of a file, if it exists.
    #[must_use]
    pub fn bytes(&self, path: &WorkspacePath) -> Option<&[u8]> {
        self.file(path).map(|file| file.bytes.as_slice())
    }

    fn file(&self, path: &WorkspacePath) -> Option<&StoredFile> {
        self.files.get(self.places.get(path.as_str())?)
    }

    fn is_folder(&self, path: &WorkspacePath) -> bool {
        let prefix = prefix(path);
        let is_below = |(first, _): (&str, usize)| first.starts_with(&prefix);
        path.is_root() || self.places.from(&prefix).next().is_some_and(is_below)
    }

    /// Returns why there is no file at `path`.
    fn absence(&self, path: &WorkspacePath) -> FileError {
        if self.is_folder(path) {
            FileError::IsFolder
        } else if self.stands_below_file(path) {
            FileError::NotFolder
        } else {
            FileError::NotFound
        }
    }

    fn stands_below_file(&self, path: &WorkspacePath) -> bool {
        let text = path.as_str();
        let mut above = text.match_indices('/').filter_map(|(at, _)| text.get(..at));
        above.any(|above| self.places.get(above).is_some())
    }
}

impl WorkspaceFiles for InMemoryFiles {
    fn fits_pictures(&self) -> bool {
        self.fits_pictures
    }

    fn read(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, FileError> {
        self.bytes(path).map(Cow::Borrowed).ok_or_else(|| self.absence(path))
    }

    fn write(&mut self, path: &WorkspacePath, bytes: Vec<u8>) -> Result<(), FileError> {
        let modified = self.writes.saturating_add(1);
        let place = match self.places.get(path.as_str()) {
            Some(place) => place,
            None => {
                // Nothing may be both a file and a folder, or paths below it would be lost.
                match self.absence(path) {
                    FileError::NotFound => {}
                    error => return Err(error),
                }
                let place = self.vacant.pop().unwrap_or(self.files.len());
                self.files.resize_with(self.files.len().max(place + 1), StoredFile::default);
                self.places.or_insert(path.as_str().to_owned(), place)
            }
        };
        if let Some(file) = self.files.get_mut(place) {
            *file = StoredFile { bytes, modified };
        }
        self.writes = modified;
        Ok(())
    }

    fn remove(&mut self, path: &WorkspacePath) -> Result<(), FileError> {
        let Some(place) = self.places.remove(path.as_str()) else { return Err(self.absence(path)) };
        self.files.get_mut(place).map(mem::take);
        self.vacant.push(place);
        Ok(())
    }

    fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileError> {
        if let Some(file) = self.file(path) {
            let size = u64::try_from(file.bytes.len()).unwrap_or(u64::MAX);
            return Ok(FileStat { kind: EntryKind::File, size, modified: file.modified });
        }
        match self.absence(path) {
            FileError::IsFolder => Ok(FileStat { kind: EntryKind::Folder, size: 0, modified: 0 }),
            error => Err(error),
        }
    }

    fn list(&self, path: &WorkspacePath) -> Result<Vec<FolderEntry>, FileError> {
        let prefix = prefix(path);
        let mut entries = Vec::new();
        let mut seek = prefix.clone();
        // Each subfolder is passed over by seeking to the first path behind it, so that a listing
        // costs its entries and not all files below. In ASCII `0` follows `/`.
        'seek: loop {
            for (file, _) in self.places.from(&seek) {
                let Some(rest) = file.strip_prefix(&prefix) else { break 'seek };
                match rest.split_once('/') {
                    None => {
                        entries.push(FolderEntry { name: rest.to_owned(), kind: EntryKind::File });
                    }
                    Some((name, _)) => {
                        entries
                            .push(FolderEntry { name: name.to_owned(), kind: EntryKind::Folder });
                        seek = format!("{prefix}{name}0");
                        continue 'seek;
                    }
                }
            }
            break;
        }
        if entries.is_empty() && !path.is_root() {
            return Err(match self.places.get(path.as_str()) {
                Some(_) => FileError::NotFolder,
                None => self.absence(path),
            });
        }
        Ok(entries)
    }
}

/// Returns the beginning of all paths below a folder.
fn prefix(path: &WorkspacePath) -> String {
    if path.is_root() { String::new() } else { format!("{}/", path.as_str()) }
}
