//! A folder of the workspace that is held open to read many of its files, as searches do. Names
//! that an overlay has changed are looked up by their paths; all others are read by the folder's
//! handle, without looking up a path for each.

use super::{
    file_stat::PathStat,
    layer::WorkspaceLayer,
    root::{ListedEntry, OpenFolder},
};
use crate::platform::{Errno, Result};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

/// An open folder. Threads can share it. Which names an overlay has changed is looked up once, when
/// the folder is opened.
#[derive(Debug)]
pub struct LayeredFolder {
    /// The folder below the overlay, if anything of it is shown.
    below: Option<OpenFolder>,
    changed: Option<ChangedNames>,
}

/// The names of a folder that an overlay has changed.
#[derive(Debug)]
struct ChangedNames {
    layer: Arc<WorkspaceLayer>,
    folder: PathBuf,
    names: BTreeSet<OsString>,
}

impl LayeredFolder {
    /// Opens the folder at a real path.
    pub(super) fn new(layer: &Arc<WorkspaceLayer>, path: &Path) -> Result<Self> {
        let (is_shown, names) = match &**layer {
            WorkspaceLayer::InPlace(_) => (true, BTreeSet::new()),
            WorkspaceLayer::Overlay(overlay) => overlay.changed_names(path)?,
        };
        let below = is_shown.then(|| layer.lower().enter(path)).transpose()?;
        let changed = (!names.is_empty()).then(|| ChangedNames {
            layer: Arc::clone(layer),
            folder: path.to_owned(),
            names,
        });
        Ok(Self { below, changed })
    }

    /// Returns its entries, in no particular order. A second call may return none: the handle keeps
    /// its position.
    pub fn list(&self) -> Result<Vec<ListedEntry>> {
        let mut list = self.below.as_ref().map_or(Ok(Vec::new()), OpenFolder::list)?;
        if let Some(ChangedNames { layer, folder, names }) = &self.changed {
            list.retain(|entry| !names.contains(&entry.name));
            for name in names {
                // Changed names include those that the overlay has removed: they have no stat.
                if let Ok(PathStat { kind, inode, .. }) = layer.stat(&folder.join(name)) {
                    list.push(ListedEntry { name: name.clone(), kind, inode });
                }
            }
        }
        Ok(list)
    }

    /// Opens the plain file of that name, and returns its attributes, too.
    pub(crate) fn file(&self, name: &OsStr) -> Result<(File, PathStat)> {
        if let Some((layer, path)) = self.changed(name) {
            let file = layer.file(&path)?;
            // Not by the path: by now it may lead to another file than the one that is open.
            let found = layer.stat_file(&file)?;
            return Ok((file, found));
        }
        self.below()?.file(name)
    }

    /// Returns the attributes of the entry of that name; a link is not followed.
    pub fn stat(&self, name: &OsStr) -> Result<PathStat> {
        match self.changed(name) {
            Some((layer, path)) => layer.stat(&path),
            None => self.below()?.stat(name),
        }
    }

    fn below(&self) -> Result<&OpenFolder> {
        self.below.as_ref().ok_or(Errno::NOENT)
    }

    fn changed(&self, name: &OsStr) -> Option<(&WorkspaceLayer, PathBuf)> {
        let ChangedNames { layer, folder, names } = self.changed.as_ref()?;
        names.contains(name).then(|| (&**layer, folder.join(name)))
    }
}
