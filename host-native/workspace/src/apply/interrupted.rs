//! The undoing of an application that was interrupted: its program was killed between two steps, or
//! could not go on. Steps are not logged one by one as they are done: which were is seen from the
//! entries themselves. Whatever somebody has changed since stays as it is, and what it replaced
//! stays in our folder.

use super::{StagingFolder, is_same};
use crate::{
    apply_step::{ApplyStep, PlanApplication, StepAction, TakenBack},
    file_stat::{EntryKind, PathStat},
    guard,
    layer::WorkspaceLayer,
    overlay::Overlay,
    platform::{Errno, Result},
    root::Root,
    scratch_folder::ScratchFolder,
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The reason why an application can't be undone.
#[derive(Debug)]
pub(in super::super) struct NotTakenBack {
    /// The path that can't be changed.
    pub(in super::super) path: PathBuf,
    /// The folder that holds the files that were replaced.
    pub(in super::super) kept: PathBuf,
    pub(in super::super) error: io::Error,
}

/// The result of undoing a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepRollback {
    Done,
    /// Not undone, since somebody has changed the entry, or a folder above it, since.
    Left,
}

/// Makes the folder what it was before the application. Returns `None` if the stage is gone: either
/// no step was done, or somebody has cleaned up.
pub(in super::super) fn take_back(
    overlay: &Overlay,
    application: &PlanApplication,
) -> std::result::Result<Option<TakenBack>, NotTakenBack> {
    let root = overlay.lower();
    let kept = || root.path().join(&application.stage);
    let failed = |path: &Path, error: Errno| NotTakenBack {
        path: path.to_owned(),
        kept: kept(),
        error: error.into(),
    };
    let Some(stage) =
        adopt(root, application).map_err(|error| failed(&application.stage, error))?
    else {
        return Ok(None);
    };
    let mut is_left = false;
    // Backwards, since later steps build on earlier ones.
    for step in application.steps.iter().rev() {
        let back = stage.take_back(overlay, step).map_err(|error| failed(&step.path, error))?;
        is_left |= back == StepRollback::Left;
    }
    // Moving the files away and back has changed their attributes; that alone must not keep the
    // overlay from being applied later.
    for step in &application.steps {
        step.lower.iter().for_each(|found| overlay.note_again(&step.path, found));
    }
    if is_left {
        return Ok(Some(TakenBack { kept: Some(kept()) }));
    }
    stage.end();
    Ok(Some(TakenBack { kept: None }))
}

/// Removes the stage of an application that was carried out.
pub(in super::super) fn end(root: &Arc<Root>, application: &PlanApplication) {
    // A stage that cannot be removed only takes room.
    if let Ok(Some(stage)) = adopt(root, application) {
        stage.end();
    }
}

/// Takes over the stage of an application, if it still exists.
fn adopt<'a>(
    root: &'a Arc<Root>,
    application: &PlanApplication,
) -> Result<Option<StagingFolder<'a>>> {
    // The steps come from a file and are not trusted: none of a plan's would touch `.git`.
    let is_protected = |step: &ApplyStep| guard::is_protected(&step.path);
    if !StagingFolder::is_path(&application.stage) || application.steps.iter().any(is_protected) {
        return Err(Errno::INVAL);
    }
    match ScratchFolder::adopt(root, &application.stage) {
        Ok(scratch) => Ok(Some(StagingFolder::of(root, scratch, application.is_first))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

impl StagingFolder<'_> {
    /// Undoes a step, which may or may not have been done.
    fn take_back(&self, overlay: &Overlay, step: &ApplyStep) -> Result<StepRollback> {
        let path = &step.path;
        match (step.work, &step.lower) {
            (StepAction::Remove, Some(found)) if found.kind == EntryKind::Folder => {
                match self.root.create_folder(path) {
                    Ok(()) => self.root.set_mode(path, found.mode).map(|()| StepRollback::Done),
                    Err(Errno::EXIST) => Ok(StepRollback::Done),
                    failed => back(failed),
                }
            }
            (StepAction::Remove, _) => {
                let aside = self.replaced(path);
                if self.has(&aside) {
                    back(self.root.move_to(&aside, path))
                } else {
                    Ok(StepRollback::Done)
                }
            }
            // It stays if somebody has put something into it since.
            (StepAction::CreateFolder, _) => match self.root.remove_folder(path) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {
                    Ok(StepRollback::Done)
                }
                Err(error) => Err(error),
            },
            (StepAction::Place(_), None) => self.take_away(overlay, step),
            (StepAction::Place(_), Some(found)) => self.put_back(overlay, step, found),
        }
    }

    /// Undoes a step that has put an entry where nothing was.
    fn take_away(&self, overlay: &Overlay, step: &ApplyStep) -> Result<StepRollback> {
        let (path, source) = (&step.path, self.source(step));
        // The step was done if its source is gone and its path has an entry. The source of a moved
        // file is also missing as long as the file is still at its old place.
        let is_file =
            |path: &PathBuf| self.stat(path).is_some_and(|found| found.kind == EntryKind::File);
        let is_done =
            !self.has(&source) && self.has(path) && !step.moved_from.as_ref().is_some_and(is_file);
        if !is_done {
            return Ok(StepRollback::Done);
        }
        if !self.is_ours(overlay, step) {
            return Ok(StepRollback::Left);
        }
        back(self.root.move_to(path, &source))
    }

    /// Undoes a step that has replaced a file.
    fn put_back(
        &self,
        overlay: &Overlay,
        step: &ApplyStep,
        found: &PathStat,
    ) -> Result<StepRollback> {
        let (path, source, aside) = (&step.path, self.source(step), self.replaced(&step.path));
        // After an exchange the old file is where the new one came from.
        if self.is_still(&source, Some(found)) {
            if !self.has(path) {
                return back(self.root.move_to(&source, path));
            }
            if !self.is_ours(overlay, step) {
                return Ok(StepRollback::Left);
            }
            return back(self.root.exchange(&source, path));
        }
        if !self.has(&aside) {
            return Ok(StepRollback::Done);
        }
        // A file system that cannot exchange two files had the old one set aside.
        if !self.has(&source) && self.has(path) {
            if !self.is_ours(overlay, step) {
                return Ok(StepRollback::Left);
            }
            self.root.move_to(path, &source)?;
        }
        back(self.root.move_to(&aside, path))
    }

    /// Returns whether the entry at the step's path is the one that the step has put there.
    fn is_ours(&self, overlay: &Overlay, step: &ApplyStep) -> bool {
        let kind = self.stat(&step.path).map(|found| found.kind);
        // A moved file is the user's own: it goes back with whatever was written to it since.
        if step.moved_from.is_some() {
            return kind == Some(EntryKind::File);
        }
        let lower = WorkspaceLayer::InPlace(Arc::clone(overlay.lower()));
        let shown = overlay.stat(&step.path).ok().map(|found| found.kind);
        kind == shown && is_same(overlay, &lower, &step.path, kind)
    }

    fn has(&self, path: &Path) -> bool {
        self.stat(path).is_some()
    }

    fn stat(&self, path: &Path) -> Option<PathStat> {
        self.root.stat(path).ok()
    }
}

/// Returns the result of a move back to the old place: [`StepRollback::Left`] if something else is
/// in its way, which is not touched.
fn back(moved: Result<()>) -> Result<StepRollback> {
    match moved {
        Ok(()) => Ok(StepRollback::Done),
        Err(Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(StepRollback::Left),
        Err(error) => Err(error),
    }
}

/// Carries out at most so many steps, as a program that is killed then; returns how many there are.
#[cfg(test)]
pub(in super::super) fn apply_until(overlay: &Overlay, most: usize) -> usize {
    let lower = WorkspaceLayer::InPlace(Arc::clone(overlay.lower()));
    let plan = super::ApplyPlan::of(overlay, &lower).unwrap();
    let stage = StagingFolder::new(overlay.lower()).unwrap();
    for step in &plan.steps {
        stage.prepare(overlay, step).unwrap();
    }
    let application = stage.application(plan.steps);
    stage.begin(overlay, &application).unwrap();
    for step in application.steps.iter().take(most) {
        stage.carry_out(&lower, step).unwrap();
    }
    application.steps.len()
}
