//! Files that are written as a whole: new content goes into a draft that nobody sees, which takes
//! the file's place in one step when it is done. Whatever ends the writer before that, such as a
//! full disk or a kill, leaves the file as it was.

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
/// The name of the draft in such a folder.
pub(super) const DRAFT: &str = "draft";

/// New content of a file, which nobody sees before it takes the file's place. It is removed when it
/// is dropped before that.
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
    /// Makes a draft for the plain file at a real path, which may be missing. Returns it with the
    /// file to write to, which has the permissions of the file that it replaces.
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

    /// Returns the path of the file that it is for.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until what was written to it is on the disk, if it is in the folder itself.
    pub(super) fn sync(&self, file: &File) -> Result<()> {
        match self.place {
            DraftLocation::Beside(_) => {
                file.sync_all().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            // An overlay brings its contents to the disk when it is saved, many at once.
            DraftLocation::Stored(_) => Ok(()),
        }
    }

    /// Puts it in the file's place. Call [`FileDraft::sync`] before.
    pub(super) fn replace(&mut self) -> Result<()> {
        match (&*self.layer, &mut self.place) {
            (WorkspaceLayer::InPlace(root), DraftLocation::Beside(scratch)) => {
                root.rename(&scratch.at(Path::new(DRAFT)), &self.path)?;
                // The name is on the disk only when its folder is.
                root.below(above(&self.path))?.sync()
            }
            (WorkspaceLayer::Overlay(overlay), DraftLocation::Stored(number)) => {
                overlay.settle(&self.path, number.ok_or(Errno::BADF)?)?;
                // From now on the content is the view's, and dropping the draft must not remove it.
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

/// Makes a draft in a scratch folder beside the file.
fn beside(root: &Arc<Root>, path: &Path) -> Result<(ScratchFolder, File)> {
    let replaced = match root.stat(path) {
        Ok(found) if found.kind == EntryKind::Folder => return Err(Errno::ISDIR),
        Ok(_) => {
            // A rename replaces even a file that nobody may write to, which a write would not.
            root.check_writable(path)?;
            Some(root.file(path, FileAccess::READ)?)
        }
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error),
    };
    // Beside the file, since a rename cannot cross to another file system; in a folder with a lock,
    // so that the next draft here removes what a killed program has left.
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
