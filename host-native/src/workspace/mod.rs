//! The folder that the agent works on, as guests, tools and the host itself see it: by one handle,
//! and by paths that lead through no link. Whoever changes something asks here, and what must not
//! change is refused here.

mod guard;
mod open;
mod record;
mod resolve;
mod root;
mod stat;
mod state;

pub(crate) use record::{Recorder, Records};
pub(crate) use resolve::at;
pub(crate) use root::{Access, Named};
pub(crate) use stat::{Kind, Stat};

pub use open::WorkspaceError;

use resolve::{resolve, stays_inside};
use root::Root;
use rustix::{
    fs::Timestamps,
    io::{Errno, Result},
};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// A folder that exists and can be listed. Clones are of the same one.
#[derive(Clone, Debug)]
pub struct Workspace {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    root: Root,
    /// Held while a name is changed: what is checked before stays true meanwhile.
    changing: Mutex<()>,
}

impl Workspace {
    /// The folder at `path` itself.
    ///
    /// # Errors
    /// [`WorkspaceError`] if it is missing, a file, unreadable, or more than a project.
    pub fn open(path: impl AsRef<Path>) -> std::result::Result<Self, WorkspaceError> {
        let path = open::find(path.as_ref())?;
        open::check(&path)?;
        Self::insist(path)
    }

    /// As [`Workspace::open`], whatever folder it is: a home folder, a system's.
    ///
    /// # Errors
    /// [`WorkspaceError`] if it is missing, a file, or unreadable.
    pub fn insist(path: impl AsRef<Path>) -> std::result::Result<Self, WorkspaceError> {
        let path = open::find(path.as_ref())?;
        let root = Root::open(&path).map_err(|error| open::failed(&path, error))?;
        Ok(Self { shared: Arc::new(Shared { root, changing: Mutex::default() }) })
    }

    /// The folder's true, absolute path when it was opened.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.shared.root.path()
    }

    /// The real path of a folder; nothing if there is none, or a link leads out of the workspace.
    pub(crate) fn folder(&self, folder: &str) -> Option<PathBuf> {
        let top = Path::new("");
        if folder.is_empty() {
            return Some(top.to_owned());
        }
        let real = self.follow((top, top), folder, true).ok()?;
        (self.stat(&real).ok()?.kind == Kind::Folder).then_some(real)
    }

    /// The real path of what a path names that begins in the folder `base` and never leaves the
    /// folder `top`.
    pub(crate) fn follow(
        &self,
        (top, base): (&Path, &Path),
        path: &str,
        last: bool,
    ) -> Result<PathBuf> {
        resolve((top, base), path, last, |real| self.shared.root.link_target(real).ok())
    }

    /// The handle by which everything is reached, to look at files.
    pub(crate) fn handle(&self) -> &Root {
        &self.shared.root
    }

    /// What stands at a real path.
    pub(crate) fn stat(&self, path: &Path) -> Result<Stat> {
        self.shared.root.stat(path)
    }

    /// The entries of the folder at a real path, in no order.
    pub(crate) fn list(&self, path: &Path) -> Result<Vec<Named>> {
        self.shared.root.list(path)
    }

    /// Where the link at a real path leads.
    pub(crate) fn link_target(&self, path: &Path) -> Result<PathBuf> {
        self.shared.root.link_target(path)
    }

    /// Opens the plain file at a real path.
    pub(crate) fn file(&self, path: &Path, access: Access) -> Result<File> {
        if !access.changes() {
            return self.shared.root.file(path, access);
        }
        self.changing(|root| {
            root.check_change(path)?;
            let is_new = access.create && root.stat(path) == Err(Errno::NOENT);
            if !is_new {
                return root.file(path, Access { create: false, ..access });
            }
            root.check_entry(path)?;
            let file = root.file(path, access)?;
            root.check_again(path, |root| root.remove_file(path))?;
            Ok(file)
        })
    }

    /// Creates a folder at a real path.
    pub(crate) fn create_folder(&self, path: &Path) -> Result<()> {
        self.changing(|root| {
            root.check_entry(path)?;
            root.create_folder(path)?;
            root.check_again(path, |root| root.remove_folder(path))
        })
    }

    /// Removes the empty folder at a real path.
    pub(crate) fn remove_folder(&self, path: &Path) -> Result<()> {
        self.changing(|root| {
            root.check_change(path)?;
            root.remove_folder(path)
        })
    }

    /// Removes the file or link at a real path.
    pub(crate) fn remove_file(&self, path: &Path) -> Result<()> {
        self.changing(|root| {
            root.check_change(path)?;
            root.remove_file(path)
        })
    }

    /// Moves what stands at a real path to another. Before that, `seen` is told what goes along, as
    /// paths below both.
    pub(crate) fn rename(
        &self,
        from: &Path,
        to: &Path,
        seen: impl FnOnce(&[(PathBuf, Kind)]),
    ) -> Result<()> {
        self.changing(|root| {
            let all = root.check_move(from, to)?;
            seen(&all);
            root.rename(from, to)?;
            root.check_again(to, |root| root.rename(to, from))
        })
    }

    /// Creates a link at a real path. It may lead only to what is inside the workspace.
    pub(crate) fn link(&self, target: &Path, path: &Path) -> Result<()> {
        self.changing(|root| {
            root.check_entry(path)?;
            if !stays_inside(path.parent().unwrap_or(Path::new("")), target) {
                return Err(Errno::PERM);
            }
            root.link(target, path)?;
            root.check_again(path, |root| root.remove_file(path))
        })
    }

    /// Sets the times of what stands at a real path.
    pub(crate) fn set_times(&self, path: &Path, times: &Timestamps) -> Result<()> {
        self.changing(|root| {
            root.check_change(path)?;
            root.set_times(path, times)
        })
    }

    fn changing<T>(&self, change: impl FnOnce(&Root) -> Result<T>) -> Result<T> {
        let _held = self.shared.changing.lock().unwrap_or_else(PoisonError::into_inner);
        change(&self.shared.root)
    }
}
