//! What files of an overlay held before a program began to write them anew: it is shown again where
//! the quota or a full disk has ended the writing. A shell opens a file for each piece that it
//! writes, so that all is kept until the program ends.

use super::{layer::WorkspaceLayer, overlay::ShelterLocation};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The number of files of one program that are kept, which are the last ones.
const MOST: usize = 16;

/// The former contents of files that one program has truncated.
#[derive(Debug, Default)]
pub struct ShelterSet {
    kept: Vec<ContentShelter>,
    /// For which there was no room.
    spoilt: BTreeSet<PathBuf>,
}

impl ShelterSet {
    /// Returns whether what the file at a real path held is kept.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.kept.iter().any(|kept| kept.path == path)
    }

    /// Keeps what a file holds.
    pub(super) fn keep(&mut self, shelter: ContentShelter) {
        if self.kept.len() == MOST {
            self.kept.remove(0);
        }
        self.kept.push(shelter);
    }

    /// Notes that what is written at a real path does not fit.
    pub fn spoil(&mut self, path: &Path) {
        if self.spoilt.len() < MOST {
            self.spoilt.insert(path.to_owned());
        }
    }

    /// The program has ended: what did not fit is what it was.
    pub fn end(&mut self) {
        let spoilt = std::mem::take(&mut self.spoilt);
        let kept = std::mem::take(&mut self.kept).into_iter();
        kept.filter(|kept| spoilt.contains(&kept.path)).for_each(ContentShelter::put_back);
    }
}

impl Drop for ShelterSet {
    fn drop(&mut self) {
        self.end();
    }
}

/// The former content of a file. Dropped, it is forgotten.
#[derive(Debug)]
pub(super) struct ContentShelter {
    layer: Arc<WorkspaceLayer>,
    path: PathBuf,
    kept: Option<ShelterLocation>,
}

impl ContentShelter {
    /// Returns what the file at a real path holds, if it is one of an overlay and not too long.
    pub(super) fn new(layer: &Arc<WorkspaceLayer>, path: &Path) -> Option<Self> {
        let WorkspaceLayer::Overlay(overlay) = &**layer else { return None };
        let kept = Some(overlay.shelter(path)?);
        Some(Self { layer: Arc::clone(layer), path: path.to_owned(), kept })
    }

    /// Shows the former content again.
    fn put_back(mut self) {
        if let (WorkspaceLayer::Overlay(overlay), Some(kept)) = (&*self.layer, self.kept.take()) {
            overlay.put_back(&self.path, kept);
        }
    }
}

impl Drop for ContentShelter {
    fn drop(&mut self) {
        if let (WorkspaceLayer::Overlay(overlay), Some(ShelterLocation::Stored(number))) =
            (&*self.layer, &self.kept)
        {
            overlay.abandon(*number);
        }
    }
}
