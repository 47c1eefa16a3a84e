//! Plain files below a folder that is held open. A link on the way, and anything that is neither
//! file nor folder, counts as absent: a link may lead outside, and opening a pipe may block. Where
//! a link inside of the folder is wanted, it is followed name by name. Checks look at what was
//! opened, not at its name.

use innerloop_workspace::{EntryKind, ListedEntry, PathStat, Workspace};
use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

/// A folder, reached by the handle of one that holds it.
#[derive(Clone)]
pub(super) struct FolderHandle {
    top: Workspace,
    below: PathBuf,
}

impl FolderHandle {
    /// Returns the folder that is held open.
    pub(super) fn of(top: &Workspace) -> Self {
        Self { top: top.clone(), below: PathBuf::new() }
    }

    /// Returns the folder at a path of the system.
    pub(super) fn open(path: &Path) -> Option<Self> {
        Workspace::insist(path).ok().map(|top| Self::of(&top))
    }

    /// Returns its true path when it was opened; to compare, never to open.
    pub(super) fn path(&self) -> PathBuf {
        self.top.root().join(&self.below)
    }

    /// Returns the metadata of what stands at `below`, which may itself be a link; no folder on the
    /// way to it is one.
    pub(super) fn stat(&self, below: impl AsRef<Path>) -> Option<PathStat> {
        self.top.stat(&self.at(below)).ok()
    }

    /// Returns the folder at `below`; `None` if it is anything else.
    pub(super) fn folder(&self, below: impl AsRef<Path>) -> Option<Self> {
        let below = below.as_ref();
        (self.stat(below)?.kind == EntryKind::Folder)
            .then(|| Self { top: self.top.clone(), below: self.at(below) })
    }

    /// Returns the entries of the folder at `below`.
    pub(super) fn list(&self, below: impl AsRef<Path>) -> Option<Vec<ListedEntry>> {
        self.top.list(&self.at(below)).ok()
    }

    /// Returns where the link at `below` leads.
    pub(super) fn link_target(&self, below: impl AsRef<Path>) -> Option<PathBuf> {
        self.top.link_target(&self.at(below)).ok()
    }

    /// Opens the file at `below`.
    pub(super) fn file(&self, below: impl AsRef<Path>) -> Option<File> {
        self.top.file(&self.at(below)).ok()
    }

    /// Returns where `below` really is, if its links stay inside of this folder.
    pub(super) fn followed(&self, below: &str) -> Option<PathBuf> {
        // Both the top and the base are this folder: a link that leads above it is refused even if
        // it stays in the folder that is held open.
        let real = self.top.follow((&self.below, &self.below), below, true).ok()?;
        Some(real.strip_prefix(&self.below).ok()?.to_owned())
    }

    /// Returns the first `most` bytes of the file at `below`.
    pub(super) fn start(&self, below: impl AsRef<Path>, most: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file(below)?.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Returns the bytes of the file at `below`, if it has at most `most`.
    pub(super) fn whole(&self, below: impl AsRef<Path>, most: u64) -> Option<Vec<u8>> {
        // One byte more tells a file that is too long from one that just fits. Its size is no help:
        // the file may grow between the look and the read.
        let bytes = self.start(below, most + 1)?;
        (bytes.len() as u64 <= most).then_some(bytes)
    }

    /// Returns a text file of at most 64 KiB.
    pub(super) fn text(&self, below: impl AsRef<Path>) -> Option<String> {
        String::from_utf8(self.whole(below, 64 * 1024)?).ok()
    }

    fn at(&self, below: impl AsRef<Path>) -> PathBuf {
        innerloop_workspace::at(&self.below, below.as_ref())
    }
}
