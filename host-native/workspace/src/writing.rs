//! What runs do: writing files anew, as a whole or with what they held kept until it is known to
//! fit, and having noted what they change.

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
    /// The same workspace for a new run, which has ended when this clone and its clones are gone,
    /// or by [`Workspace::end_run`].
    pub fn for_run(&self) -> Self {
        Self { run: Some(Arc::new(self.shared.runs.begin())), ..self.clone() }
    }

    /// The run that has this clone changes nothing any more. What it has changed is on the disk
    /// then, if this is an overlay that outlives its program; otherwise that is noted for
    /// [`Workspace::unsaved`].
    pub fn end_run(&self) {
        self.run.iter().for_each(|run| run.end());
        // What was not saved is told by whoever asks.
        let _ = self.save();
    }

    /// Returns what a change of this clone's is charged to.
    pub(super) fn writer<'a>(&self, charge: QuotaCharge<'a>) -> WriterContext<'a> {
        WriterContext { run: self.run.as_ref().map_or(0, |run| run.number()), charge }
    }

    /// Begins to write the plain file at a real path anew, be it there or not: gives the file that
    /// is to be written, which nobody sees before [`Workspace::settle`].
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

    /// Puts what was written to the file of a draft in its place. In the folder itself it is on
    /// the disk then.
    pub fn settle(&self, mut draft: FileDraft, file: &File) -> Result<()> {
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
    pub fn shelter(&self, path: &Path, shelters: &mut ShelterSet) {
        if !shelters.has(path)
            && let Some(shelter) = ContentShelter::new(&self.shared.layer, path)
        {
            shelters.keep(shelter);
        }
    }

    /// Has the run's recorder keep the state of a file that is about to change.
    pub fn touch(&self, recorder: &mut ChangeRecorder, path: &Path) {
        let layer = &*self.shared.layer;
        recorder.touch(layer, path);
        self.note(path);
    }

    /// Tells the run's recorder that a file that was touched has been opened for writing.
    pub fn opened(&self, recorder: &mut ChangeRecorder, path: &Path) {
        recorder.opened(path);
        self.touched().opened(path);
    }

    /// Touches all that a move changes: these paths below both places.
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

    /// Returns what the run has changed.
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
