//! The former contents of an overlay's files that a program has truncated. If the quota or a full
//! disk ends the writing, a file shows its former content again, so that nothing is left cut off.
//! Contents are kept until the program ends: a shell opens a file anew for each piece that it
//! writes, so that closing a file does not mean that it is whole.

use super::{layer::WorkspaceLayer, overlay::ShelterLocation};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The maximum number of files of one program that are kept, which are the last ones.
const MOST: usize = 16;

/// The former contents of files that one program has truncated.
#[derive(Debug, Default)]
pub struct ShelterSet {
    kept: Vec<ContentShelter>,
    /// The paths of the files for whose new contents there was no room.
    spoilt: BTreeSet<PathBuf>,
}

impl ShelterSet {
    /// Returns whether the former content of the file at a real path is kept.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.kept.iter().any(|kept| kept.path == path)
    }

    /// Keeps the former content of a file, in place of the oldest if there are too many.
    pub(super) fn keep(&mut self, shelter: ContentShelter) {
        // A program may truncate any number of files, and each copy takes room in the store.
        if self.kept.len() == MOST {
            self.kept.remove(0);
        }
        self.kept.push(shelter);
    }

    /// Notes that there was no room for the new content of the file at a real path.
    pub fn spoil(&mut self, path: &Path) {
        if self.spoilt.len() < MOST {
            self.spoilt.insert(path.to_owned());
        }
    }

    /// Ends the program: files whose new contents did not fit show their former contents again.
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

/// The former content of a file, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct ContentShelter {
    layer: Arc<WorkspaceLayer>,
    path: PathBuf,
    kept: Option<ShelterLocation>,
}

impl ContentShelter {
    /// Keeps the content of the file at a real path, if it is one of an overlay and not too long.
    pub(super) fn new(layer: &Arc<WorkspaceLayer>, path: &Path) -> Option<Self> {
        let WorkspaceLayer::Overlay(overlay) = &**layer else { return None };
        let kept = Some(overlay.shelter(path)?);
        Some(Self { layer: Arc::clone(layer), path: path.to_owned(), kept })
    }

    /// Shows the former content again.
    fn put_back(mut self) {
        // The content is taken out, so that dropping `self` does not remove what is shown now.
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
