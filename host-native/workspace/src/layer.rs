//! The layer through which a workspace reaches its files: the folder itself, or an overlay of it.
//! Everything above works alike on both. Nothing is checked here: callers have asked `guard` first,
//! and give real paths, which contain no links.

use super::{
    file_stat::{EntryKind, PathStat, permitted},
    overlay::{Overlay, WriterContext},
    root::{FileAccess, ListedEntry, Root, set_file_mode, stat_file},
};
use crate::platform::{Result, Timestamps};
use innerloop_tools::TmpMeaning;
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The place of a workspace's files.
#[derive(Debug)]
pub(crate) enum WorkspaceLayer {
    /// In the folder.
    InPlace(Arc<Root>),
    /// In a view of its own.
    Overlay(Box<Overlay>),
}

impl WorkspaceLayer {
    /// Returns the folder itself, which an overlay leaves as it is.
    pub(super) const fn lower(&self) -> &Arc<Root> {
        match self {
            Self::InPlace(root) => root,
            Self::Overlay(overlay) => overlay.lower(),
        }
    }

    pub(super) fn stat(&self, path: &Path) -> Result<PathStat> {
        match self {
            Self::InPlace(root) => root.stat(path),
            Self::Overlay(overlay) => overlay.stat(path),
        }
    }

    pub(super) fn stat_file(&self, file: &File) -> Result<PathStat> {
        let found = stat_file(file)?;
        Ok(match self {
            Self::InPlace(_) => found,
            Self::Overlay(overlay) => overlay.shown(found),
        })
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<ListedEntry>> {
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
            Self::InPlace(root) => root.file(path, FileAccess::READ),
            Self::Overlay(overlay) => overlay.file(path),
        }
    }

    /// Opens a file with any access. An overlay asks the writer's quota before it copies bytes.
    pub(super) fn open(
        &self,
        path: &Path,
        access: FileAccess,
        writer: WriterContext<'_>,
    ) -> Result<File> {
        match self {
            // An overlay copies up whatever goes through its `open`, even for reading.
            _ if !access.changes() => self.file(path),
            Self::InPlace(root) => root.file(path, access),
            Self::Overlay(overlay) => overlay.open(path, access, writer),
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

    /// Moves `from` to `to`; `all` is everything that moves along, as paths below both.
    pub(super) fn rename(
        &self,
        from: &Path,
        to: &Path,
        all: &[(PathBuf, EntryKind)],
    ) -> Result<()> {
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

    /// Sets a file's permissions, as mode bits. An overlay asks the writer's quota before it copies
    /// bytes for that.
    pub(super) fn set_mode(&self, path: &Path, mode: u32, writer: WriterContext<'_>) -> Result<()> {
        let (found, mode) = (self.stat(path)?, permitted(mode));
        match self {
            // In an overlay even the same mode would copy the file up.
            _ if found.kind != EntryKind::File || found.permissions() == mode => Ok(()),
            // By an open handle, since `chmod` by a path would follow a link that somebody has put
            // there meanwhile.
            Self::InPlace(root) => set_file_mode(&root.file(path, FileAccess::READ)?, mode),
            Self::Overlay(overlay) => overlay.set_mode(path, mode, writer),
        }
    }

    /// Returns whether a path is that of an overlay's own `/tmp` while `meant` is the project's
    /// folder `tmp`, which does not exist.
    pub(super) fn is_unseen(&self, path: &Path, meant: TmpMeaning) -> bool {
        self.overlay().is_some_and(|overlay| overlay.is_unseen(path, meant))
    }

    /// Makes an overlay's own `/tmp` the project's folder; returns whether it did.
    pub(super) fn claim(&self, path: &Path, meant: TmpMeaning) -> Result<bool> {
        self.overlay().map_or(Ok(false), |overlay| overlay.claim(path, meant))
    }

    /// Removes an overlay's own `/tmp`, so that something else can be put there.
    pub(super) fn make_way(&self, path: &Path, meant: TmpMeaning) -> Result<()> {
        self.overlay().map_or(Ok(()), |overlay| overlay.make_way(path, meant))
    }

    /// Notes whether what was made at a path belongs to the project, or is temporary.
    pub(super) fn made(&self, path: &Path, meant: TmpMeaning) -> Result<()> {
        self.overlay().map_or(Ok(()), |overlay| overlay.note_made(path, meant))
    }

    /// Notes the same for what was moved to a path, which is given as paths below it.
    pub(super) fn moved(
        &self,
        to: &Path,
        all: &[(PathBuf, EntryKind)],
        meant: TmpMeaning,
    ) -> Result<()> {
        self.overlay().map_or(Ok(()), |overlay| overlay.moved(to, all, meant))
    }

    /// Restores an overlay's own `/tmp`, unless something has taken its place.
    pub(super) fn keep_temporary(&self) {
        if let Some(overlay) = self.overlay() {
            overlay.keep_temporary();
        }
    }

    fn overlay(&self) -> Option<&Overlay> {
        match self {
            Self::InPlace(_) => None,
            Self::Overlay(overlay) => Some(overlay),
        }
    }

    /// Sets an entry's times. An overlay asks the writer's quota before it copies bytes for that.
    pub(super) fn set_times(
        &self,
        path: &Path,
        times: &Timestamps,
        writer: WriterContext<'_>,
    ) -> Result<()> {
        match self {
            Self::InPlace(root) => root.set_times(path, times),
            Self::Overlay(overlay) => overlay.set_times(path, times, writer),
        }
    }
}
