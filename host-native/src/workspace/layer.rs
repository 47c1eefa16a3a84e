//! What a workspace's files are: those of its folder, or an overlay of them.

use super::{
    overlay::{Charge, Overlay},
    root::{Access, Named, Root, stat_file},
    stat::{Kind, Stat},
};
use crate::platform::{Result, Timestamps};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where a workspace's files are. Paths are real ones: no link leads on.
#[derive(Debug)]
pub(crate) enum Layer {
    /// In the folder.
    InPlace(Arc<Root>),
    /// In a view of its own.
    Overlay(Box<Overlay>),
}

impl Layer {
    /// The folder itself.
    pub(super) const fn lower(&self) -> &Arc<Root> {
        match self {
            Self::InPlace(root) => root,
            Self::Overlay(overlay) => overlay.lower(),
        }
    }

    pub(super) fn stat(&self, path: &Path) -> Result<Stat> {
        match self {
            Self::InPlace(root) => root.stat(path),
            Self::Overlay(overlay) => overlay.stat(path),
        }
    }

    pub(super) fn stat_file(&self, file: &File) -> Result<Stat> {
        let found = stat_file(file)?;
        Ok(match self {
            Self::InPlace(_) => found,
            Self::Overlay(overlay) => overlay.shown(found),
        })
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<Named>> {
        match self {
            Self::InPlace(root) => root.list(path),
            Self::Overlay(overlay) => overlay.list(path),
        }
    }

    pub(super) fn link_target(&self, path: &Path) -> Result<PathBuf> {
        match self {
            Self::InPlace(root) => root.link_target(path),
            Self::Overlay(overlay) => overlay.link_target(path),
        }
    }

    /// Opens a file for reading.
    pub(super) fn file(&self, path: &Path) -> Result<File> {
        match self {
            Self::InPlace(root) => root.file(path, Access::READ),
            Self::Overlay(overlay) => overlay.file(path),
        }
    }

    /// Opens a file in any way. What is copied for that is asked of `charge` before.
    pub(super) fn open(&self, path: &Path, access: Access, charge: Charge<'_>) -> Result<File> {
        match self {
            _ if !access.changes() => self.file(path),
            Self::InPlace(root) => root.file(path, access),
            Self::Overlay(overlay) => overlay.open(path, access, charge),
        }
    }

    pub(super) fn create_folder(&self, path: &Path) -> Result<()> {
        match self {
            Self::InPlace(root) => root.create_folder(path),
            Self::Overlay(overlay) => overlay.create_folder(path),
        }
    }

    pub(super) fn remove_folder(&self, path: &Path) -> Result<()> {
        match self {
            Self::InPlace(root) => root.remove_folder(path),
            Self::Overlay(overlay) => overlay.remove_folder(path),
        }
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<()> {
        match self {
            Self::InPlace(root) => root.remove_file(path),
            Self::Overlay(overlay) => overlay.remove_file(path),
        }
    }

    /// Moves `from` to `to`; `all` is what goes along, as paths below both.
    pub(super) fn rename(&self, from: &Path, to: &Path, all: &[(PathBuf, Kind)]) -> Result<()> {
        match self {
            Self::InPlace(root) => root.rename(from, to),
            Self::Overlay(overlay) => overlay.rename(from, to, all),
        }
    }

    pub(super) fn link(&self, target: &Path, path: &Path) -> Result<()> {
        match self {
            Self::InPlace(root) => root.link(target, path),
            Self::Overlay(overlay) => overlay.link(target, path),
        }
    }

    /// Sets times. What is copied for that is asked of `charge` before.
    pub(super) fn set_times(
        &self,
        path: &Path,
        times: &Timestamps,
        charge: Charge<'_>,
    ) -> Result<()> {
        match self {
            Self::InPlace(root) => root.set_times(path, times),
            Self::Overlay(overlay) => overlay.set_times(path, times, charge),
        }
    }
}
