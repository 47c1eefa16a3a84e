//! What files of an overlay held before a program began to write them anew: it is shown again where
//! the quota or a full disk has ended the writing. A shell opens a file for each piece that it
//! writes, so that all is kept until the program ends.

use super::{Workspace, layer::Layer, overlay::Sheltered};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// How many files of one program are kept, the last ones.
const MOST: usize = 16;

/// The former contents of files that one program has truncated.
#[derive(Debug, Default)]
pub(crate) struct Shelters {
    kept: Vec<Shelter>,
    /// For which there was no room.
    spoilt: BTreeSet<PathBuf>,
}

impl Shelters {
    /// Keeps what the file at a real path holds, which is about to be truncated.
    pub(crate) fn keep(&mut self, workspace: &Workspace, path: &Path) {
        if self.kept.iter().any(|kept| kept.path == path) {
            return;
        }
        if let Some(shelter) = workspace.shelter(path) {
            if self.kept.len() == MOST {
                self.kept.remove(0);
            }
            self.kept.push(shelter);
        }
    }

    /// What is written at a real path does not fit.
    pub(crate) fn spoil(&mut self, path: &Path) {
        if self.spoilt.len() < MOST {
            self.spoilt.insert(path.to_owned());
        }
    }

    /// The program has ended: what did not fit is what it was.
    pub(crate) fn end(&mut self) {
        let spoilt = std::mem::take(&mut self.spoilt);
        let kept = std::mem::take(&mut self.kept).into_iter();
        kept.filter(|kept| spoilt.contains(&kept.path)).for_each(Shelter::put_back);
    }
}

impl Drop for Shelters {
    fn drop(&mut self) {
        self.end();
    }
}

/// The former content of a file. Dropped, it is forgotten.
#[derive(Debug)]
struct Shelter {
    workspace: Workspace,
    path: PathBuf,
    kept: Option<Sheltered>,
}

impl Workspace {
    /// Keeps what the file at a real path of an overlay holds, if it is no more than 64 MiB or
    /// stands in the folder as it is.
    fn shelter(&self, path: &Path) -> Option<Shelter> {
        let Layer::Overlay(overlay) = &*self.shared.layer else { return None };
        let kept = Some(overlay.shelter(path)?);
        Some(Shelter { workspace: self.clone(), path: path.to_owned(), kept })
    }
}

impl Shelter {
    /// Shows the former content again.
    fn put_back(mut self) {
        if let (Layer::Overlay(overlay), Some(kept)) =
            (&*self.workspace.shared.layer, self.kept.take())
        {
            overlay.put_back(&self.path, kept);
        }
    }
}

impl Drop for Shelter {
    fn drop(&mut self) {
        if let (Layer::Overlay(overlay), Some(Sheltered::Stored(number))) =
            (&*self.workspace.shared.layer, &self.kept)
        {
            overlay.abandon(*number);
        }
    }
}
