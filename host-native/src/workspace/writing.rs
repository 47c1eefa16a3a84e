//! Writing files anew: as a whole, or with what they held kept until it is known to fit.

use super::{
    Workspace,
    draft::Draft,
    shelter::{Shelter, Shelters},
};
use crate::platform::{Errno, Result};
use std::{fs::File, path::Path};

impl Workspace {
    /// Begins to write the plain file at a real path anew, be it there or not: gives the file that
    /// is to be written, which nobody sees before [`Workspace::settle`].
    pub(crate) fn draft(&self, path: &Path) -> Result<(Draft, File)> {
        self.change(path, |files| {
            files.check_change(path)?;
            files.make_way(path, self.meant)?;
            if files.stat(path) == Err(Errno::NOENT) {
                files.check_entry(path)?;
            }
            Draft::new(&self.shared.layer, path)
        })
    }

    /// Puts what was written to the file of a draft in its place. In the folder itself it is on
    /// the disk then.
    pub(crate) fn settle(&self, mut draft: Draft, file: &File) -> Result<()> {
        draft.sync(file)?;
        let path = draft.path().to_owned();
        self.change(&path, |files| {
            files.check_change(&path)?;
            let is_new = files.stat(&path) == Err(Errno::NOENT);
            if is_new {
                files.check_entry(&path)?;
            }
            draft.replace()?;
            if is_new || self.meant.is_project() {
                files.made(&path, self.meant)?;
            }
            if is_new { files.check_again(&path, |files| files.remove_file(&path)) } else { Ok(()) }
        })
    }

    /// Keeps what the file at a real path of an overlay holds, which is about to be truncated, if
    /// it is no more than 64 MiB or stands in the folder as it is.
    pub(crate) fn shelter(&self, path: &Path, shelters: &mut Shelters) {
        if !shelters.has(path)
            && let Some(shelter) = Shelter::new(&self.shared.layer, path)
        {
            shelters.keep(shelter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::draft::{DRAFT, PREFIX},
        *,
    };
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
                workspace.settle(draft, &file).unwrap();
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
        all[0].settle(draft, &file).unwrap();
        assert_eq!(names(&all[0]), ["a"]);
        fs::remove_dir_all(all[0].root()).unwrap();
    }
}
