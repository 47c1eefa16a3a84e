//! Taking back an application that was interrupted: its program was killed between two steps, or
//! could not go on. Which steps were done is seen from what stands where. What somebody has changed
//! since is not touched.

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
    /// Somebody has changed what stands there since, or above it.
    Left,
}

/// Makes the folder what it was before the application. Nothing is told if what it had put aside is
/// gone: either no step was done, or somebody has seen to it.
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
    for step in application.steps.iter().rev() {
        let back = stage.take_back(overlay, step).map_err(|error| failed(&step.path, error))?;
        is_left |= back == StepRollback::Left;
    }
    for step in &application.steps {
        step.lower.iter().for_each(|found| overlay.note_again(&step.path, found));
    }
    if is_left {
        return Ok(Some(TakenBack { kept: Some(kept()) }));
    }
    stage.end();
    Ok(Some(TakenBack { kept: None }))
}

/// Removes what is left of an application that was carried out.
pub(in super::super) fn end(root: &Arc<Root>, application: &PlanApplication) {
    // What cannot be removed only takes room.
    if let Ok(Some(stage)) = adopt(root, application) {
        stage.end();
    }
}

/// The stage of an application, if it is still there.
fn adopt<'a>(
    root: &'a Arc<Root>,
    application: &PlanApplication,
) -> Result<Option<StagingFolder<'a>>> {
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
            // What somebody has put into it since stays.
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

    /// Takes back what was put where nothing stood.
    fn take_away(&self, overlay: &Overlay, step: &ApplyStep) -> Result<StepRollback> {
        let (path, source) = (&step.path, self.source(step));
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

    /// Puts back what was replaced.
    fn put_back(
        &self,
        overlay: &Overlay,
        step: &ApplyStep,
        found: &PathStat,
    ) -> Result<StepRollback> {
        let (path, source, aside) = (&step.path, self.source(step), self.replaced(&step.path));
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
        // Without an exchange it was set aside.
        if !self.has(&source) && self.has(path) {
            if !self.is_ours(overlay, step) {
                return Ok(StepRollback::Left);
            }
            self.root.move_to(path, &source)?;
        }
        back(self.root.move_to(&aside, path))
    }

    /// Returns whether what stands where the step has put something is that. What was only moved is
    /// moved back with whatever has been written to it since.
    fn is_ours(&self, overlay: &Overlay, step: &ApplyStep) -> bool {
        let kind = self.stat(&step.path).map(|found| found.kind);
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

/// Returns whether something could be moved to where it stood: not if something else is in its way.
/// That is not touched.
fn back(moved: Result<()>) -> Result<StepRollback> {
    match moved {
        Ok(()) => Ok(StepRollback::Done),
        Err(Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(StepRollback::Left),
        Err(error) => Err(error),
    }
}

/// Carries out no more than so many steps, as one that is killed then; gives how many there are.
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
