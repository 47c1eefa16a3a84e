//! The part of the workspace that runs use: they write files anew, either as a whole or with the
//! former content kept until the new one is known to fit, and have their changes recorded. A file
//! is touched before it changes, so that its former state is known.

use super::{
    Workspace,
    changed_files::{ChangeRecorder, ChangeRecords},
    file_stat::EntryKind,
    former_contents::{ContentShelter, ShelterSet},
    overlay::{QuotaCharge, WriterContext},
    resolve::at,
    whole_file::FileDraft,
};
use crate::platform::{Errno, Result};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

impl Workspace {
    /// Begins a run and returns the same workspace for it. The run ends with
    /// [`Workspace::end_run`], or when this clone and its clones are dropped.
    pub fn for_run(&self) -> Self {
        Self { run: Some(Arc::new(self.shared.runs.begin())), ..self.clone() }
    }

    /// Ends the run that this clone was made for, and saves an overlay that outlives its program.
    /// If that fails, [`Workspace::unsaved`] says so.
    pub fn end_run(&self) {
        // The run ends first: only then can the save say that what it has left is whole.
        self.run.iter().for_each(|run| run.end());
        // Here nobody could act on a failure. It is kept for `unsaved`, which the host asks.
        let _ = self.save();
    }

    /// Returns the run and the quota to which a change by this clone is charged.
    pub(super) fn writer<'a>(&self, charge: QuotaCharge<'a>) -> WriterContext<'a> {
        WriterContext { run: self.run.as_ref().map_or(0, |run| run.number()), charge }
    }

    /// Begins to write the plain file at a real path anew, which may be missing. Returns the file
    /// to write to, which nobody sees before [`Workspace::settle`].
    pub fn draft(&self, path: &Path) -> Result<(FileDraft, File)> {
        self.change(path, |files| {
            files.check_change(path)?;
            files.make_way(path, self.meant)?;
            if files.stat(path) == Err(Errno::NOENT) {
                files.check_entry(path)?;
            }
            FileDraft::new(&self.shared.layer, path)
        })
    }

    /// Puts the content of a draft in its place. In the folder itself it is on the disk then.
    pub fn settle(&self, mut draft: FileDraft, file: &File) -> Result<()> {
        // Content first, name second: a power cut in between must not leave an empty file. The
        // disk is waited for before the lock is taken, which holds up all other changes.
        draft.sync(file)?;
        let path = draft.path().to_owned();
        self.change(&path, |files| {
            // Checked in `draft` already, but the folder may be another since.
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

    /// Keeps the content of an overlay's file at a real path that is about to be truncated, if it
    /// has at most 64 MiB or is still that of the folder.
    pub fn shelter(&self, path: &Path, shelters: &mut ShelterSet) {
        // Of a file that a program truncates again and again, only the first content was whole.
        if !shelters.has(path)
            && let Some(shelter) = ContentShelter::new(&self.shared.layer, path)
        {
            shelters.keep(shelter);
        }
    }

    /// Records the state of a file that is about to change, for the run and for the session.
    pub fn touch(&self, recorder: &mut ChangeRecorder, path: &Path) {
        let layer = &*self.shared.layer;
        recorder.touch(layer, path);
        self.note(path);
    }

    /// Records that a file that was touched has been opened for writing.
    pub fn opened(&self, recorder: &mut ChangeRecorder, path: &Path) {
        recorder.opened(path);
        self.touched().opened(path);
    }

    /// Touches all files that a move changes: these paths below both places.
    pub fn touch_move(
        &self,
        recorder: &mut ChangeRecorder,
        (from, to): (&Path, &Path),
        all: &[(PathBuf, EntryKind)],
    ) {
        for (below, _) in all.iter().filter(|(_, kind)| *kind != EntryKind::Folder) {
            self.touch(recorder, &at(from, below));
            self.touch(recorder, &at(to, below));
        }
    }

    /// Returns the changes of a run.
    pub fn records(&self, recorder: &ChangeRecorder) -> ChangeRecords {
        recorder.records(&self.shared.layer)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::whole_file::{DRAFT, PREFIX},
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
