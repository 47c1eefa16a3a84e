//! Files that are written as a whole: what is written goes into a draft that nobody sees, and takes
//! its place at once when it is done. Whatever ends the writer before that, be it a full disk or a
//! kill, leaves what was there.

use super::{
    file_stat::EntryKind,
    layer::WorkspaceLayer,
    root::{FileAccess, Root, dress},
    scratch_folder::{NEW, ScratchFolder},
};
use crate::platform::{Errno, Result};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The prefix of the names of the folders in which drafts stand beside their places.
pub(super) const PREFIX: &str = ".innerloop-draft-";
/// The draft in such a folder.
pub(super) const DRAFT: &str = "draft";

/// New content of a file, which nobody sees before it takes its place. Dropped, it is gone.
#[derive(Debug)]
pub struct FileDraft {
    layer: Arc<WorkspaceLayer>,
    path: PathBuf,
    place: DraftLocation,
}

/// The place where a draft is kept.
#[derive(Debug)]
enum DraftLocation {
    /// In a folder beside the file.
    Beside(ScratchFolder),
    /// In an overlay's store, until it takes its place.
    Stored(Option<u64>),
}

impl FileDraft {
    /// A draft for the plain file at a real path, be it there or not, and the file that is to be
    /// written, with the permissions of what it replaces.
    pub(super) fn new(layer: &Arc<WorkspaceLayer>, path: &Path) -> Result<(Self, File)> {
        let (place, file) = match &**layer {
            WorkspaceLayer::InPlace(root) => {
                beside(root, path).map(|(scratch, file)| (DraftLocation::Beside(scratch), file))?
            }
            WorkspaceLayer::Overlay(overlay) => {
                let (number, file) = overlay.draft(path)?;
                (DraftLocation::Stored(Some(number)), file)
            }
        };
        Ok((Self { layer: Arc::clone(layer), path: path.to_owned(), place }, file))
    }

    /// Returns where it belongs.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until what was written is on the disk, where it outlives its program.
    pub(super) fn sync(&self, file: &File) -> Result<()> {
        match self.place {
            DraftLocation::Beside(_) => {
                file.sync_all().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            DraftLocation::Stored(_) => Ok(()),
        }
    }

    /// Puts it in its place.
    pub(super) fn replace(&mut self) -> Result<()> {
        match (&*self.layer, &mut self.place) {
            (WorkspaceLayer::InPlace(root), DraftLocation::Beside(scratch)) => {
                root.rename(&scratch.at(Path::new(DRAFT)), &self.path)?;
                root.below(above(&self.path))?.sync()
            }
            (WorkspaceLayer::Overlay(overlay), DraftLocation::Stored(number)) => {
                overlay.settle(&self.path, number.ok_or(Errno::BADF)?)?;
                *number = None;
                Ok(())
            }
            _ => Err(Errno::BADF),
        }
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        if let (WorkspaceLayer::Overlay(overlay), DraftLocation::Stored(Some(number))) =
            (&*self.layer, &self.place)
        {
            overlay.abandon(*number);
        }
    }
}

/// A draft in a folder of its own beside the file, so that it can take its place at once, and so
/// that what a killed program leaves is removed by the next one.
fn beside(root: &Arc<Root>, path: &Path) -> Result<(ScratchFolder, File)> {
    let replaced = match root.stat(path) {
        Ok(found) if found.kind == EntryKind::Folder => return Err(Errno::ISDIR),
        Ok(_) => {
            root.check_writable(path)?;
            Some(root.file(path, FileAccess::READ)?)
        }
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error),
    };
    let scratch = ScratchFolder::create(root, above(path), PREFIX)?;
    let file = scratch.root().file(Path::new(DRAFT), NEW)?;
    if let Some(replaced) = replaced {
        dress(&file, &replaced, true)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    }
    Ok((scratch, file))
}

fn above(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
