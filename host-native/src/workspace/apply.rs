//! Bringing what an overlay has changed into its folder. First all is compared with what the
//! overlay was made from, and if anything of that is another by now, nothing is done. Then the new
//! contents are put beside the folder's files, and moved into place one by one.

use super::{
    change::{FileChange, shown},
    layer::Layer,
    overlay::Overlay,
    root::{Access, Root, copy},
    stat::{Kind, Stat},
    state::{Allowance, FileState},
};
use crate::digest::Digest;
use rustix::{
    io::{Errno, Result},
    process::getpid,
};
use std::{
    collections::BTreeSet,
    fs::{DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, fchown},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Our folder in the workspace, which no guest can change.
const OWN: &str = ".innerloop";

/// Why the changes of an overlay are not in its folder, or not all of them.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Something else has changed these files since the overlay first did. Nothing was done.
    #[error("nothing was applied, since something else has changed {} meanwhile", .0.join(", "))]
    Changed(Vec<String>),
    /// The system refused something.
    #[error(
        "can't apply {path}: {error}; {}",
        if *done == 0 { "nothing was applied".to_owned() }
        else { format!("{done} of {all} changes were applied before") }
    )]
    Failed {
        /// Where.
        path: String,
        /// Why.
        error: io::Error,
        /// How many changes of names were made until then.
        done: usize,
        /// How many there are.
        all: usize,
    },
}

/// Makes the folder what the view shows.
pub(super) fn apply(overlay: &Overlay) -> std::result::Result<(), ApplyError> {
    let below = Layer::InPlace(Arc::clone(overlay.lower()));
    let plan = Plan::of(overlay, &below)?;
    if plan.steps.is_empty() {
        return Ok(());
    }
    let mut stage = Stage::new(overlay.lower());
    let all = plan.steps.len();
    let failed = |path: &Path, error: Errno, done| ApplyError::Failed {
        path: shown(path),
        error: error.into(),
        done,
        all,
    };
    for (number, step) in plan.steps.iter().enumerate() {
        stage.prepare(overlay, number, step).map_err(|error| failed(&step.path, error, 0))?;
    }
    for (number, step) in plan.steps.iter().enumerate() {
        let done = stage.carry_out(&below, number, step);
        done.map_err(|error| failed(&step.path, error, number))?;
    }
    Ok(())
}

/// What the view shows otherwise than the folder below.
pub(super) fn changes(overlay: &Overlay, above: &Layer) -> Vec<FileChange> {
    let below = Layer::InPlace(Arc::clone(overlay.lower()));
    let mut left = Allowance::ALL;
    let changes = overlay.touched().into_iter().filter_map(|path| {
        let before = FileState::of(&below, &path, &mut left);
        let after = FileState::of(above, &path, &mut left);
        let is_folder = |state: &FileState| *state == FileState::Folder;
        let is_nothing = before == FileState::Absent && after == FileState::Absent;
        let is_untold = is_nothing || (is_folder(&before) && is_folder(&after));
        (!is_untold).then(|| FileChange::new(&path, before, after))
    });
    changes.collect()
}

/// Copies the files that the view shows otherwise than the folder below, as they are in the view.
pub(super) fn keep(overlay: &Overlay, folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700).recursive(true).create(folder.parent().unwrap_or(Path::new("")))?;
    builder.recursive(false).create(folder)?;
    builder.recursive(true);
    for path in overlay.touched() {
        if overlay.stat(&path).is_ok_and(|found| found.kind == Kind::File) {
            let (content, place) = (overlay.file(&path, Access::READ)?, folder.join(path));
            builder.create(place.parent().unwrap_or(folder))?;
            copy(&content, &mut File::create_new(place)?)?;
        }
    }
    Ok(())
}

/// What is to be done, in this order.
#[derive(Debug, Default)]
struct Plan {
    steps: Vec<Step>,
    /// What is another below than it was.
    changed: BTreeSet<PathBuf>,
}

/// One name that is changed.
#[derive(Debug)]
struct Step {
    path: PathBuf,
    /// What stood there when the plan was made.
    below: Option<Stat>,
    work: Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Remove,
    CreateFolder,
    Place(Kind),
}

impl Plan {
    fn of(overlay: &Overlay, below: &Layer) -> std::result::Result<Self, ApplyError> {
        let mut plan = Self::default();
        for path in overlay.touched() {
            plan.add(overlay, below, path);
        }
        if !plan.changed.is_empty() {
            return Err(ApplyError::Changed(plan.changed.iter().map(|path| shown(path)).collect()));
        }
        // What is in a folder goes before the folder, and comes after it.
        plan.steps.sort_by(|one, other| match (one.work, other.work) {
            (Work::Remove, Work::Remove) => other.path.cmp(&one.path),
            _ => (one.work, &one.path).cmp(&(other.work, &other.path)),
        });
        Ok(plan)
    }

    fn add(&mut self, overlay: &Overlay, lower: &Layer, path: PathBuf) {
        let (below, above) = (lower.stat(&path).ok(), overlay.stat(&path).ok());
        let (old, new) = (below.map(|found| found.kind), above.map(|found| found.kind));
        if old == new && is_same(overlay, lower, &path, new) {
            return;
        }
        if !overlay.is_still(&path) {
            self.changed.insert(path);
            return;
        }
        let is_folder = |kind: Option<Kind>| kind == Some(Kind::Folder);
        if old.is_some() && (new.is_none() || is_folder(old) != is_folder(new)) {
            self.check_removal(overlay, lower, &path, old);
            let path = path.clone();
            self.steps.push(Step { path, below, work: Work::Remove });
        }
        let Some(new) = new else { return };
        let folder = path.parent().unwrap_or(Path::new(""));
        let has_folder = lower.stat(folder).is_ok_and(|found| found.kind == Kind::Folder);
        if !has_folder && !overlay.has_noted(folder) {
            self.changed.insert(folder.to_owned());
            return;
        }
        let is_replaced = old.is_some() && !is_folder(old) && new != Kind::Folder;
        let below = below.filter(|_| is_replaced);
        let work = if new == Kind::Folder { Work::CreateFolder } else { Work::Place(new) };
        self.steps.push(Step { path, below, work });
    }

    /// A folder can go if the view has seen all that is in it.
    fn check_removal(&mut self, overlay: &Overlay, lower: &Layer, path: &Path, old: Option<Kind>) {
        if old != Some(Kind::Folder) {
            return;
        }
        for entry in lower.list(path).unwrap_or_default() {
            let path = path.join(entry.name);
            if !overlay.has_noted(&path) {
                self.changed.insert(path);
            }
        }
    }
}

/// Whether there is nothing to do, since both show the same. Both are of that kind.
fn is_same(overlay: &Overlay, lower: &Layer, path: &Path, kind: Option<Kind>) -> bool {
    let same = |one: Result<File>, other: Result<File>| {
        let digest = |file: Result<File>| Digest::of_rest(file.ok()?).ok();
        digest(one).is_some_and(|one| Some(one) == digest(other))
    };
    match kind {
        None | Some(Kind::Folder) => true,
        Some(Kind::Link) => lower
            .link_target(path)
            .is_ok_and(|target| overlay.link_target(path).is_ok_and(|own| own == target)),
        Some(Kind::File) => {
            let sizes = (overlay.stat(path), lower.stat(path));
            let has_same_size = matches!(sizes, (Ok(one), Ok(other)) if one.size == other.size);
            let read = Access::READ;
            has_same_size && same(overlay.file(path, read), lower.file(path, read))
        }
        Some(Kind::Other) => false,
    }
}

/// New contents, each by the number of its step, in a folder of the workspace that is ours.
struct Stage<'a> {
    root: &'a Root,
    folder: PathBuf,
    /// How many folders were made for it.
    made: usize,
    staged: BTreeSet<usize>,
}

impl<'a> Stage<'a> {
    fn new(root: &'a Root) -> Self {
        let name = format!("apply-{}", getpid().as_raw_nonzero());
        let (folder, staged) = (Path::new(OWN).join(name), BTreeSet::new());
        Self { root, folder, made: 0, staged }
    }

    fn place(&self, number: usize) -> PathBuf {
        self.folder.join(number.to_string())
    }

    fn prepare(&mut self, overlay: &Overlay, number: usize, step: &Step) -> Result<()> {
        let Work::Place(kind) = step.work else { return Ok(()) };
        self.create()?;
        self.staged.insert(number);
        let place = self.place(number);
        if kind == Kind::Link {
            return self.root.link(&overlay.link_target(&step.path)?, &place);
        }
        let content = overlay.file(&step.path, Access::READ)?;
        let new = Access { write: true, create: true, exclusive: true, truncate: false };
        let mut file = self.root.file(&place, new)?;
        copy(&content, &mut file)?;
        let replaced = step.below.filter(|found| found.kind == Kind::File);
        let like = match replaced {
            Some(_) => self.root.file(&step.path, Access::READ)?,
            None => content,
        };
        dress(&file, &like, replaced.is_some()).map_err(|error| errno(&error))
    }

    /// Makes the folder, if that is not done yet.
    fn create(&mut self) -> Result<()> {
        if !self.staged.is_empty() {
            return Ok(());
        }
        match self.root.create_folder(Path::new(OWN)) {
            Ok(()) => self.made += 1,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        self.clear()?;
        self.root.create_folder(&self.folder)?;
        self.made += 1;
        Ok(())
    }

    /// Removes what a killed program of the same number has left.
    fn clear(&self) -> Result<()> {
        let Ok(left) = self.root.list(&self.folder) else { return Ok(()) };
        for entry in left {
            self.root.remove_file(&self.folder.join(entry.name))?;
        }
        self.root.remove_folder(&self.folder)
    }

    fn carry_out(&self, below: &Layer, number: usize, step: &Step) -> Result<()> {
        let path = &step.path;
        let now = below.stat(path).ok();
        let is_still = match (&now, &step.below) {
            (None, None) => true,
            // A folder changes with its entries.
            (Some(now), Some(then)) => now.kind == Kind::Folder || now.is_still(then),
            _ => false,
        };
        if !is_still {
            return Err(Errno::BUSY);
        }
        below.check_entry(path)?;
        match (step.work, now.map(|found| found.kind)) {
            (Work::Remove, Some(Kind::Folder)) => self.root.remove_folder(path),
            (Work::Remove, _) => self.root.remove_file(path),
            (Work::CreateFolder, _) => self.root.create_folder(path),
            (Work::Place(_), _) => self.root.rename(&self.place(number), path),
        }
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        for number in &self.staged {
            // What was moved into place is not there any more.
            let _ = self.root.remove_file(&self.place(*number));
        }
        for folder in [self.folder.as_path(), Path::new(OWN)].into_iter().take(self.made) {
            // Somebody else may have put something there.
            let _ = self.root.remove_folder(folder);
        }
    }
}

/// Gives a file the permissions of another one, and its owner if it takes that one's place.
fn dress(file: &File, like: &File, is_replacing: bool) -> io::Result<()> {
    let like = like.metadata()?;
    let mut permissions = like.permissions();
    permissions.set_mode(permissions.mode() & 0o777);
    if is_replacing {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            // Only root can give files away. The content counts more than the owner.
            drop(fchown(file, Some(like.uid()), Some(like.gid())));
        }
    }
    file.set_permissions(permissions)
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
