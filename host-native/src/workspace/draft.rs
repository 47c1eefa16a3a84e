//! Files that are written as a whole: what is written goes into a draft that nobody sees, and takes
//! its place at once when it is done. Whatever ends the writer before that, be it a full disk or a
//! kill, leaves what was there.

use super::{
    Workspace,
    layer::Layer,
    root::{Access, Root, dress},
    scratch::{NEW, Scratch},
    stat::Kind,
};
use crate::platform::{Errno, Result};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What the names of the folders begin with in which drafts stand beside their places.
const PREFIX: &str = ".innerloop-draft-";
/// The draft in such a folder.
const DRAFT: &str = "draft";

/// New content of a file, which nobody sees before it is settled. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Draft {
    workspace: Workspace,
    path: PathBuf,
    place: Place,
}

/// Where a draft is kept.
#[derive(Debug)]
enum Place {
    /// In a folder beside the file.
    Beside(Scratch),
    /// In an overlay's store, until it is settled.
    Stored(Option<u64>),
}

impl Workspace {
    /// Begins to write the plain file at a real path anew, be it there or not: gives the file that
    /// is to be written, with the permissions of what it replaces.
    pub(crate) fn draft(&self, path: &Path) -> Result<(Draft, File)> {
        let (place, file) = self.change(path, |files| {
            files.check_change(path)?;
            files.make_way(path, self.meant)?;
            if files.stat(path) == Err(Errno::NOENT) {
                files.check_entry(path)?;
            }
            match files {
                Layer::InPlace(root) => {
                    beside(root, path).map(|(scratch, file)| (Place::Beside(scratch), file))
                }
                Layer::Overlay(overlay) => {
                    let (number, file) = overlay.draft(path)?;
                    Ok((Place::Stored(Some(number)), file))
                }
            }
        })?;
        Ok((Draft { workspace: self.clone(), path: path.to_owned(), place }, file))
    }
}

impl Draft {
    /// Puts what was written to the file in its place. In the folder itself it is on the disk then.
    pub(crate) fn settle(mut self, file: &File) -> Result<()> {
        if let Place::Beside(_) = self.place {
            file.sync_all().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        }
        let (workspace, path) = (self.workspace.clone(), self.path.clone());
        workspace.change(&path, |files| {
            files.check_change(&path)?;
            let is_new = files.stat(&path) == Err(Errno::NOENT);
            if is_new {
                files.check_entry(&path)?;
            }
            self.replace(files)?;
            if is_new || workspace.meant.is_project() {
                files.made(&path, workspace.meant)?;
            }
            if is_new { files.check_again(&path, |files| files.remove_file(&path)) } else { Ok(()) }
        })
    }

    fn replace(&mut self, files: &Layer) -> Result<()> {
        match (files, &mut self.place) {
            (Layer::InPlace(root), Place::Beside(scratch)) => {
                root.rename(&scratch.at(Path::new(DRAFT)), &self.path)?;
                root.below(above(&self.path))?.sync()
            }
            (Layer::Overlay(overlay), Place::Stored(number)) => {
                overlay.settle(&self.path, number.ok_or(Errno::BADF)?)?;
                *number = None;
                Ok(())
            }
            _ => Err(Errno::BADF),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let (Layer::Overlay(overlay), Place::Stored(Some(number))) =
            (&*self.workspace.shared.layer, &self.place)
        {
            overlay.abandon(*number);
        }
    }
}

/// A draft in a folder of its own beside the file, so that it can take its place at once, and so
/// that what a killed program leaves is removed by the next one.
fn beside(root: &Arc<Root>, path: &Path) -> Result<(Scratch, File)> {
    let replaced = match root.stat(path) {
        Ok(found) if found.kind == Kind::Folder => return Err(Errno::ISDIR),
        Ok(_) => {
            root.check_writable(path)?;
            Some(root.file(path, Access::READ)?)
        }
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error),
    };
    let scratch = Scratch::create(root, above(path), PREFIX)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::Write as _};

    /// A workspace in a folder of its own with one file, and an overlay of it.
    fn workspaces(name: &str) -> [Workspace; 2] {
        let folder = format!("innerloop-draft-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a"), "old").unwrap();
        let workspace = Workspace::open(folder).unwrap();
        let overlay = workspace.overlay().unwrap();
        [workspace, overlay]
    }

    fn names(workspace: &Workspace) -> Vec<String> {
        let list = workspace.list(Path::new("")).unwrap().into_iter();
        let mut names: Vec<String> =
            list.map(|entry| entry.name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_is_seen_once_it_is_settled() {
        let all = workspaces("settled");
        for workspace in all.iter().rev() {
            for (name, before) in [("a", Some(&b"old"[..])), ("b", None)] {
                let (draft, mut file) = workspace.draft(Path::new(name)).unwrap();
                file.write_all(b"new").unwrap();
                assert_eq!(workspace.read(name, 10).as_deref(), before, "{workspace:?}");
                draft.settle(&file).unwrap();
                assert_eq!(workspace.read(name, 10).as_deref(), Some(&b"new"[..]));
            }
            assert_eq!(names(workspace), ["a", "b"]);
        }
        fs::remove_dir_all(all[0].root()).unwrap();
    }

    #[test]
    fn a_draft_that_is_dropped_was_never_there() {
        let all = workspaces("dropped");
        for workspace in &all {
            for name in ["a", "b"] {
                let (draft, mut file) = workspace.draft(Path::new(name)).unwrap();
                file.write_all(b"new").unwrap();
                drop(draft);
            }
            assert_eq!(workspace.read("a", 10).as_deref(), Some(&b"old"[..]));
            assert_eq!(names(workspace), ["a"]);
            assert!(workspace.changes().0.is_empty());
        }
        fs::remove_dir_all(all[0].root()).unwrap();
    }

    /// Both what is written in place and what is applied at the end.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_replaced_keeps_its_extended_attributes() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let all = workspaces("attributes");
        let path = all[0].root().join("a");
        if setxattr(&path, "user.origin", b"elsewhere", XattrFlags::CREATE).is_ok() {
            for workspace in &all {
                let (draft, mut file) = workspace.draft(Path::new("a")).unwrap();
                file.write_all(b"new").unwrap();
                draft.settle(&file).unwrap();
                workspace.apply().unwrap();
                let mut value = [0; 32];
                let length = getxattr(&path, "user.origin", &mut value[..]).unwrap();
                assert_eq!(&value[..length], b"elsewhere", "{workspace:?}");
            }
        } else {
            println!("SKIPPED: the file system of {} has no attributes", path.display());
        }
        fs::remove_dir_all(all[0].root()).unwrap();
    }

    #[test]
    fn what_a_killed_program_has_left_goes_with_the_next_draft() {
        let all = workspaces("killed");
        let left = all[0].root().join(format!("{PREFIX}0"));
        fs::create_dir(&left).unwrap();
        for file in ["lock", DRAFT] {
            fs::write(left.join(file), "half").unwrap();
        }
        let (draft, file) = all[0].draft(Path::new("a")).unwrap();
        assert!(!left.exists());
        draft.settle(&file).unwrap();
        assert_eq!(names(&all[0]), ["a"]);
        fs::remove_dir_all(all[0].root()).unwrap();
    }
}
