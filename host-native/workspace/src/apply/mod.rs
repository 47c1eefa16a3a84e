//! The application of an overlay's changes to its folder, wholly or not at all. First the folder is
//! compared with what the overlay was made from; if somebody else has changed a file in question,
//! nothing is done. Then new contents are staged in a folder of ours in the workspace, and moved
//! into place one by one. What they replace is kept until the last one is in place, so that a
//! failure on the way can be undone.

pub(super) mod interrupted;

use super::{
    apply_plan::{ApplyPlan, is_same},
    apply_step::{ApplyStep, PlanApplication, StepAction},
    change::{FileChange, is_untold, shown},
    file_stat::{EntryKind, PathStat},
    layer::WorkspaceLayer,
    overlay::Overlay,
    root::{FileAccess, Root, copy, dress, set_file_mode},
    scratch_folder::{NEW, ScratchFolder},
    state::{FileState, IsStopped, ReadAllowance, smallest_first},
};
use crate::platform::{DirBuilderExt as _, Errno, Result, SYNCS_ALL, symlink};
use std::{
    cell::Cell,
    collections::BTreeMap,
    ffi::OsStr,
    fs::{DirBuilder, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Our folder in the workspace, which no guest can change.
const OWN: &str = ".innerloop";
/// The prefix of the names of the stages in it.
const PREFIX: &str = "apply-";
/// The folders of a stage, by path: what is to be put in place, and what was there before.
const STAGED: &str = "new";
const REPLACED: &str = "old";

/// The file that keeps our folder out of git while it is there, and its content.
const IGNORE: &str = ".gitignore";
const IGNORED: &[u8] = b"*\n";

/// The maximum number of new contents that are brought to the disk one by one; more are by one call
/// for the whole file system.
const MOST_ONE_BY_ONE: usize = 32;

/// The reason why the changes of an overlay are not in its folder.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Something else has changed these files since the overlay first did. Nothing was done.
    #[error("nothing was applied, since something else has changed {} meanwhile", .0.join(", "))]
    Changed(Vec<String>),
    /// The caller has stopped it. What had been done was undone.
    #[error("nothing was applied, since it was stopped; what had been done is undone")]
    Stopped,
    /// The system refused something. What had been done was undone.
    #[error("nothing was applied, since {path} could not be changed: {error}")]
    Failed {
        /// The path that could not be changed.
        path: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The system refused something, and then refused to undo what had been done.
    #[error(
        "not all could be applied, since {path} could not be changed: {error}; what was replaced \
         stands in {}", kept.display()
    )]
    Torn {
        /// The path that could not be changed.
        path: String,
        /// The error of the system.
        error: io::Error,
        /// The folder that holds the files that were replaced or removed.
        kept: PathBuf,
    },
}

/// The progress of applying changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyProgress {
    /// The number of steps that are done.
    pub done: usize,
    /// The number of all steps.
    pub of: usize,
}

/// Makes the folder what the overlay shows; once it `is_stopped`, makes it again what it was.
pub(super) fn apply(
    overlay: &Overlay,
    is_stopped: &dyn Fn(ApplyProgress) -> bool,
) -> std::result::Result<(), ApplyError> {
    let lower = WorkspaceLayer::InPlace(Arc::clone(overlay.lower()));
    let plan = ApplyPlan::of(overlay, &lower).map_err(ApplyError::Changed)?;
    if plan.steps.is_empty() {
        return Ok(());
    }
    // The first four mean that the folder is no longer what the plan was made for.
    let failed = |path: &Path, error: Errno| match error {
        Errno::BUSY | Errno::EXIST | Errno::NOENT | Errno::NOTEMPTY => {
            ApplyError::Changed(vec![shown(path)])
        }
        error => ApplyError::Failed { path: shown(path), error: error.into() },
    };
    let mut stage =
        StagingFolder::new(overlay.lower()).map_err(|error| failed(Path::new(OWN), error))?;
    stage.syncs_all = SYNCS_ALL && plan.steps.len() > MOST_ONE_BY_ONE;
    // Each step is prepared first and carried out later. What takes room on the disk happens in the
    // first half, where nothing has to be undone.
    let of = 2 * plan.steps.len();
    for (done, step) in plan.steps.iter().enumerate() {
        if is_stopped(ApplyProgress { done, of }) {
            return Err(ApplyError::Stopped);
        }
        stage.prepare(overlay, step).map_err(|error| failed(&step.path, error))?;
    }
    if stage.syncs_all {
        stage.root.sync_all().map_err(|error| failed(Path::new(OWN), error))?;
    }
    let application = stage.application(plan.steps);
    stage.begin(overlay, &application).map_err(|(path, error)| {
        overlay.end_applying();
        // An absolute path is the folder that keeps the overlay, outside of the workspace.
        let is_ours = path.is_absolute();
        let path = if is_ours { path.display().to_string() } else { shown(&path) };
        ApplyError::Failed { path, error }
    })?;
    for (done, step) in application.steps.iter().enumerate() {
        let is_stopped = is_stopped(ApplyProgress { done: of / 2 + done, of });
        let carried_out = if is_stopped { Err(Errno::INTR) } else { stage.carry_out(&lower, step) };
        let Err(error) = carried_out else { continue };
        // Backwards, since later steps build on earlier ones. A step that can't be undone does not
        // keep the others from being undone.
        application.steps.iter().take(done).rev().for_each(|step| stage.undo(step));
        if !stage.is_torn.get() {
            stage.end();
            overlay.end_applying();
            let why = if is_stopped { ApplyError::Stopped } else { failed(&step.path, error) };
            return Err(why);
        }
        overlay.end_applying();
        let kept = overlay.lower().path().join(stage.scratch.path());
        return Err(ApplyError::Torn { path: shown(&step.path), error: error.into(), kept });
    }
    // In this order: a program that is killed in between must not undo what is done, for which it
    // would lack the replaced files.
    overlay.set_applied();
    stage.end();
    Ok(())
}

/// Returns the files that differ between the overlay and the folder below, ordered by path. Once it
/// `is_stopped`, no more content is read.
pub(super) fn changes(
    overlay: &Overlay,
    above: &WorkspaceLayer,
    is_stopped: IsStopped<'_>,
) -> Vec<FileChange> {
    let below = WorkspaceLayer::InPlace(Arc::clone(overlay.lower()));
    let mut left = ReadAllowance::ALL;
    let mut changes = BTreeMap::new();
    for path in smallest_first(overlay.touched(), &[&below, above]) {
        let before = FileState::of(&below, &path, &mut left, is_stopped);
        let after = FileState::of(above, &path, &mut left, is_stopped);
        let stats = (below.stat(&path).ok(), above.stat(&path).ok());
        if !is_untold(&before, &after, stats) {
            let change = FileChange::new(&path, before, after).with_modes(stats);
            changes.insert(path, change);
        }
    }
    changes.into_values().collect()
}

/// Copies the files and links that the overlay has changed, as it shows them, into a new folder.
///
/// # Errors
/// The first one; the files that can be copied are copied all the same.
pub(super) fn keep(overlay: &Overlay, folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700).recursive(true).create(folder.parent().unwrap_or(Path::new("")))?;
    builder.recursive(false).create(folder)?;
    builder.recursive(true);
    let copy_one = |path: &Path| {
        let place = folder.join(path);
        builder.create(place.parent().unwrap_or(folder))?;
        match overlay.stat(path).map(|found| found.kind) {
            Ok(EntryKind::File) => {
                let (content, mut kept) = (overlay.file(path)?, File::create_new(place)?);
                dress(&kept, &content, false)?;
                Ok(copy(&content, &mut kept)?)
            }
            Ok(EntryKind::Link) => symlink(overlay.link_target(path)?, place),
            _ => Ok(()),
        }
    };
    let copied = overlay.touched().into_iter().map(|path| copy_one(&path));
    // Unlike `try_for_each`, a fold goes on after an error. This copy may be the last one there is.
    copied.fold(Ok(()), io::Result::and)
}

/// Returns whether the error says that nothing more can be written to a file system.
fn has_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem)
}

/// Removes the stages of programs that were killed before they had applied anything.
pub(super) fn sweep(root: &Root) {
    let own = Path::new(OWN);
    if has_only_stages(root) {
        ScratchFolder::sweep(root, own, PREFIX);
        // This fails, as it should, if another program is applying something right now.
        let _ = remove_own(root);
    }
}

/// Returns whether a program was killed while it applied something to the folder.
pub(super) fn is_interrupted(root: &Root) -> bool {
    ScratchFolder::is_left(root, Path::new(OWN), PREFIX)
}

/// Returns whether our folder exists and holds nothing but stages.
fn has_only_stages(root: &Root) -> bool {
    let is_stage =
        |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX) || name == IGNORE);
    root.list(Path::new(OWN)).is_ok_and(|list| list.iter().all(|entry| is_stage(&entry.name)))
}

/// Keeps our folder, which was just created, out of git.
fn ignore(root: &Root) -> io::Result<()> {
    root.file(&Path::new(OWN).join(IGNORE), NEW)?.write_all(IGNORED)
}

/// Removes our folder, if there is nothing in it but the file that keeps it out of git.
fn remove_own(root: &Root) -> Result<()> {
    let own = Path::new(OWN);
    let path = own.join(IGNORE);
    let is_alone = root.list(own)?.iter().all(|entry| entry.name == IGNORE);
    let is_ours = || {
        let mut text = Vec::new();
        let file = root.file(&path, FileAccess::READ).ok();
        let read = file.map(|file| file.take(16).read_to_end(&mut text));
        // A program may have been killed before it had written all of it. A file with other rules
        // is the user's.
        matches!(read, Some(Ok(_))) && IGNORED.starts_with(&text)
    };
    if is_alone && is_ours() {
        root.remove_file(&path)?;
    }
    root.remove_folder(own)
}

/// The stage: new contents and what they replace, in a folder of ours in the workspace, so that
/// both can be moved without a copy.
struct StagingFolder<'a> {
    root: &'a Root,
    scratch: ScratchFolder,
    /// True if our folder was created for it.
    is_first: bool,
    /// True if something could not be put back to where it was.
    is_torn: Cell<bool>,
    /// True if the staged contents are brought to the disk all at once.
    syncs_all: bool,
}

impl<'a> StagingFolder<'a> {
    fn new(root: &'a Arc<Root>) -> Result<Self> {
        let own = Path::new(OWN);
        let is_first = match root.create_folder(own) {
            Ok(()) => {
                // Otherwise git would show our folder to anybody who looks meanwhile.
                let _ = ignore(root);
                true
            }
            // A killed program's folder counts as ours, to be removed at the end.
            Err(Errno::EXIST) => has_only_stages(root),
            Err(error) => return Err(error),
        };
        let scratch = ScratchFolder::create(root, own, PREFIX);
        let scratch = scratch.inspect_err(|_| {
            let _ = is_first && remove_own(root).is_ok();
        })?;
        let stage = Self::of(root, scratch, is_first);
        stage.scratch.root().create_private_folder(Path::new(STAGED))?;
        stage.scratch.root().create_private_folder(Path::new(REPLACED))?;
        Ok(stage)
    }

    const fn of(root: &'a Root, scratch: ScratchFolder, is_first: bool) -> Self {
        Self { root, scratch, is_first, is_torn: Cell::new(false), syncs_all: false }
    }

    /// Returns whether the path may be that of a stage.
    fn is_path(path: &Path) -> bool {
        let name = path.file_name().and_then(OsStr::to_str);
        path.parent() == Some(Path::new(OWN)) && name.is_some_and(|name| name.starts_with(PREFIX))
    }

    /// Returns the note that is saved while these steps are carried out here.
    fn application(&self, steps: Vec<ApplyStep>) -> PlanApplication {
        PlanApplication { stage: self.scratch.path().to_owned(), is_first: self.is_first, steps }
    }

    /// Returns where the new content of a path is staged, as a path of the workspace.
    fn staged(&self, path: &Path) -> PathBuf {
        self.scratch.at(&Path::new(STAGED).join(path))
    }

    /// Returns where the replaced entry of a path is kept.
    fn replaced(&self, path: &Path) -> PathBuf {
        self.scratch.at(&Path::new(REPLACED).join(path))
    }

    /// Returns where the entry that a step puts in place comes from.
    fn source(&self, step: &ApplyStep) -> PathBuf {
        step.moved_from.as_ref().map_or_else(|| self.staged(&step.path), |from| self.replaced(from))
    }

    /// Prepares a step without changing anything outside of our folder.
    fn prepare(&self, overlay: &Overlay, step: &ApplyStep) -> Result<()> {
        match step.work {
            StepAction::Remove => self.make_folders(REPLACED, &step.path),
            StepAction::Place(_) if step.moved_from.is_some() => Ok(()),
            StepAction::Place(kind) => {
                self.make_folders(STAGED, &step.path)?;
                self.stage(overlay, step, kind)
            }
            StepAction::CreateFolder => Ok(()),
        }
    }

    fn stage(&self, overlay: &Overlay, step: &ApplyStep, kind: EntryKind) -> Result<()> {
        let place = self.staged(&step.path);
        if kind == EntryKind::Link {
            return self.root.link(&overlay.link_target(&step.path)?, &place);
        }
        let content = overlay.file(&step.path)?;
        let mut file = self.root.file(&place, NEW)?;
        let replaced = step.lower.filter(|found| found.kind == EntryKind::File);
        let dressed = match replaced {
            Some(_) => dress(&file, &overlay.lower().file(&step.path, FileAccess::READ)?, true),
            None => dress(&file, &content, false),
        };
        dressed.map_err(|error| errno(&error))?;
        // The owner and the access list are those of the replaced file, but the mode is the one
        // that the agent may have changed.
        if replaced.is_some() {
            set_file_mode(&file, overlay.stat(&step.path)?.permissions())?;
        }
        copy(&content, &mut file)?;
        if self.syncs_all {
            return Ok(());
        }
        file.sync_data().map_err(|error| errno(&error))
    }

    /// Makes the folders above a path in one of ours.
    fn make_folders(&self, which: &str, path: &Path) -> Result<()> {
        let mut folder = PathBuf::from(which);
        for name in path.parent().into_iter().flatten() {
            folder.push(name);
            match self.scratch.root().create_private_folder(&folder) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Notes that from now on our folder may hold files of the user's, so that no other program
    /// removes it, and the next one undoes the steps if this one is killed.
    ///
    /// # Errors
    /// The path at which something was refused, and why.
    fn begin(
        &self,
        overlay: &Overlay,
        application: &PlanApplication,
    ) -> std::result::Result<(), (PathBuf, io::Error)> {
        match overlay.begin_applying(application) {
            // On a full disk the changes are applied without a saved note. If the program is killed
            // meanwhile, nobody undoes them; but if they were not applied they would be lost in any
            // case, since there is no room to keep them either.
            Err(error) if has_no_room(&error) => {}
            begun => begun.map_err(|error| {
                let place = overlay.kept_in().unwrap_or(Path::new(OWN));
                (place.to_owned(), error)
            })?,
        }
        self.scratch.need().map_err(|error| (OWN.into(), error.into()))
    }

    /// Removes the replaced files, which are of no more use.
    fn end(&self) {
        self.scratch.remove();
    }

    /// Carries out a step.
    fn carry_out(&self, lower: &WorkspaceLayer, step: &ApplyStep) -> Result<()> {
        let path = &step.path;
        // Guests were checked in the overlay, but the folder may hold other parts of a repository
        // by now.
        lower.check_entry(path)?;
        match (step.work, &step.lower) {
            (StepAction::Remove, Some(found)) if found.kind == EntryKind::Folder => {
                self.root.remove_folder(path)
            }
            (StepAction::Remove, found) => self.set_aside(path, found.as_ref()),
            (StepAction::CreateFolder, _) => {
                self.root.create_folder(path)?;
                lower.check_again(path, |_| self.back(self.root.remove_folder(path)))
            }
            (StepAction::Place(_), None) => {
                let source = self.source(step);
                self.root.move_to(&source, path)?;
                lower.check_again(path, |_| self.back(self.root.move_to(path, &source)))
            }
            (StepAction::Place(_), Some(found)) => self.replace(step, found),
        }
    }

    /// Moves the entry at a path to our folder; `BUSY` if it is not the expected one.
    fn set_aside(&self, path: &Path, expected: Option<&PathStat>) -> Result<()> {
        let place = self.replaced(path);
        // Moved first and compared then: between a look and a move somebody could change it.
        self.root.move_to(path, &place)?;
        if self.is_still(&place, expected) {
            return Ok(());
        }
        self.back(self.root.move_to(&place, path))?;
        Err(Errno::BUSY)
    }

    /// Puts the new entry in the place of a file, in one step where the file system can do that, so
    /// that there is no moment without the file.
    fn replace(&self, step: &ApplyStep, found: &PathStat) -> Result<()> {
        let (path, source) = (&step.path, self.source(step));
        match self.root.exchange(&source, path) {
            Ok(()) if self.is_still(&source, Some(found)) => Ok(()),
            Ok(()) => {
                self.back(self.root.exchange(&source, path))?;
                Err(Errno::BUSY)
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                self.make_folders(REPLACED, path)?;
                self.set_aside(path, Some(found))?;
                self.root.move_to(&source, path).inspect_err(|_| {
                    let _ = self.back(self.root.move_to(&self.replaced(path), path));
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns whether the entry that was moved here is the expected one.
    fn is_still(&self, place: &Path, expected: Option<&PathStat>) -> bool {
        // Without the time of the last change, which the move itself has set.
        let key = |found: &PathStat| (found.inode, found.size, found.modified);
        let now = self.root.stat(place).ok();
        now.as_ref().map(key) == expected.map(key)
    }

    /// Notes if something could not be put back: then our folder must not be removed with it.
    fn back(&self, done: Result<()>) -> Result<()> {
        done.inspect_err(|_| self.is_torn.set(true))
    }

    fn undo(&self, step: &ApplyStep) {
        let _ = self.back(self.try_undo(step));
    }

    fn try_undo(&self, step: &ApplyStep) -> Result<()> {
        let path = &step.path;
        match (step.work, &step.lower) {
            (StepAction::Remove, Some(found)) if found.kind == EntryKind::Folder => {
                self.root.create_folder(path)?;
                self.root.set_mode(path, found.mode)
            }
            (StepAction::Remove, _) => self.root.move_to(&self.replaced(path), path),
            (StepAction::CreateFolder, _) => self.root.remove_folder(path),
            (StepAction::Place(_), None) => self.root.move_to(path, &self.source(step)),
            (StepAction::Place(_), Some(_)) => {
                let (source, aside) = (self.source(step), self.replaced(path));
                // A file system that cannot exchange two files had the old one set aside.
                if self.root.stat(&aside).is_ok() {
                    self.root.move_to(path, &source)?;
                    return self.root.move_to(&aside, path);
                }
                self.root.exchange(&source, path)
            }
        }
    }
}

impl Drop for StagingFolder<'_> {
    fn drop(&mut self) {
        // It still holds files of the user's.
        if self.scratch.is_needed() {
            return;
        }
        self.scratch.remove();
        if self.is_first {
            // This fails, as it should, if somebody has put something there.
            let _ = remove_own(self.root);
        }
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::{super::overlay::WriterContext, *};
    use std::{env, fs, process};

    #[test]
    fn what_is_stopped_has_changed_nothing_and_git_does_not_see_our_folder() {
        let path = env::temp_dir().join(format!("innerloop-stopped-{}", process::id()));
        fs::create_dir(&path).unwrap();
        for n in 0..50 {
            fs::write(path.join(format!("{n:02}")), "before").unwrap();
        }
        let overlay = Overlay::new(Arc::new(Root::open(&path).unwrap())).unwrap();
        let write = FileAccess { write: true, create: true, ..FileAccess::READ };
        for n in 0..50 {
            let mut file = overlay
                .open(
                    Path::new(&format!("{n:02}")),
                    write,
                    WriterContext { run: 0, charge: &mut |_| true },
                )
                .unwrap();
            file.write_all(b"after!").unwrap();
        }
        overlay.remove_file(Path::new("49")).unwrap();
        // As often as may be asked: before each file is staged, and before each is put in place.
        let mut asked = 0;
        for most in 0..200 {
            let left = Cell::new(most);
            let is_stopped = || left.replace(left.get() - 1) == 0;
            let ignored = || fs::read_to_string(path.join(OWN).join(IGNORE)).ok();
            let told = Cell::new(0);
            let is_stopped = |progress: ApplyProgress| {
                assert_eq!(ignored().as_deref(), Some("*\n"));
                assert_eq!(progress, ApplyProgress { done: told.replace(told.get() + 1), of: 100 });
                is_stopped()
            };
            match apply(&overlay, &is_stopped) {
                Err(ApplyError::Stopped) => asked += 1,
                done => {
                    done.unwrap();
                    break;
                }
            }
            for n in 0..50 {
                let text = fs::read_to_string(path.join(format!("{n:02}"))).unwrap();
                assert_eq!(text, "before", "stopped at {most}");
            }
            assert!(!path.join(OWN).exists());
        }
        assert_eq!(asked, 100);
        assert_eq!(fs::read_to_string(path.join("00")).unwrap(), "after!");
        assert!(!path.join(OWN).exists() && !path.join("49").exists());
        fs::remove_dir_all(path).unwrap();
    }

    /// Somebody writes a file anew after it was set aside, and the rest fails.
    #[test]
    fn what_cannot_be_put_back_is_not_removed() {
        let path = env::temp_dir().join(format!("innerloop-apply-{}", process::id()));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "before").unwrap();
        let root = Arc::new(Root::open(&path).unwrap());
        let lower = WorkspaceLayer::InPlace(Arc::clone(&root));
        let file = PathBuf::from("file");
        let found = lower.stat(&file).ok();
        let step =
            ApplyStep { path: file, lower: found, work: StepAction::Remove, moved_from: None };
        let stage = StagingFolder::new(&root).unwrap();
        stage.scratch.need().unwrap();
        stage.carry_out(&lower, &step).unwrap();
        stage.undo(&step);
        assert!(!stage.is_torn.get());
        assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "before");

        stage.carry_out(&lower, &step).unwrap();
        fs::write(path.join("file"), "meanwhile").unwrap();
        stage.undo(&step);
        assert!(stage.is_torn.get());
        let kept = path.join(stage.replaced(&step.path));
        drop(stage);
        assert_eq!(fs::read_to_string(kept).unwrap(), "before");
        assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "meanwhile");
        fs::remove_dir_all(path).unwrap();
    }
}
