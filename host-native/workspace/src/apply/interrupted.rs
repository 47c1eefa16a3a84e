//! Taking back an application that was interrupted: its program was killed between two steps, or
//! could not go on. Which steps were done is seen from what stands where. What somebody has changed
//! since is not touched.

use super::{Stage, is_same};
use crate::{
    guard,
    layer::Layer,
    overlay::Overlay,
    platform::{Errno, Result},
    root::Root,
    scratch::Scratch,
    stat::{Kind, Stat},
    step::{Application, Step, TakenBack, Work},
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Why an application can't be taken back.
#[derive(Debug)]
pub(in super::super) struct NotTakenBack {
    /// What stands in the way.
    pub(in super::super) path: PathBuf,
    /// Where the files are that were replaced.
    pub(in super::super) kept: PathBuf,
    pub(in super::super) error: io::Error,
}

/// Whether a step is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Back {
    Done,
    /// Somebody has changed what stands there since, or above it.
    Left,
}

/// Makes the folder what it was before the application. Nothing is told if what it had put aside is
/// gone: either no step was done, or somebody has seen to it.
pub(in super::super) fn take_back(
    overlay: &Overlay,
    application: &Application,
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
        is_left |= back == Back::Left;
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
pub(in super::super) fn end(root: &Arc<Root>, application: &Application) {
    // What cannot be removed only takes room.
    if let Ok(Some(stage)) = adopt(root, application) {
        stage.end();
    }
}

/// The stage of an application, if it is still there.
fn adopt<'a>(root: &'a Arc<Root>, application: &Application) -> Result<Option<Stage<'a>>> {
    let is_protected = |step: &Step| guard::is_protected(&step.path);
    if !Stage::is_path(&application.stage) || application.steps.iter().any(is_protected) {
        return Err(Errno::INVAL);
    }
    match Scratch::adopt(root, &application.stage) {
        Ok(scratch) => Ok(Some(Stage::of(root, scratch, application.is_first))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Stage<'_> {
    fn take_back(&self, overlay: &Overlay, step: &Step) -> Result<Back> {
        let path = &step.path;
        match (step.work, &step.lower) {
            (Work::Remove, Some(found)) if found.kind == Kind::Folder => {
                match self.root.create_folder(path) {
                    Ok(()) => self.root.set_mode(path, found.mode).map(|()| Back::Done),
                    Err(Errno::EXIST) => Ok(Back::Done),
                    failed => back(failed),
                }
            }
            (Work::Remove, _) => {
                let aside = self.replaced(path);
                if self.has(&aside) {
                    back(self.root.move_to(&aside, path))
                } else {
                    Ok(Back::Done)
                }
            }
            // What somebody has put into it since stays.
            (Work::CreateFolder, _) => match self.root.remove_folder(path) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {
                    Ok(Back::Done)
                }
                Err(error) => Err(error),
            },
            (Work::Place(_), None) => self.take_away(overlay, step),
            (Work::Place(_), Some(found)) => self.put_back(overlay, step, found),
        }
    }

    /// Takes back what was put where nothing stood.
    fn take_away(&self, overlay: &Overlay, step: &Step) -> Result<Back> {
        let (path, source) = (&step.path, self.source(step));
        let is_file =
            |path: &PathBuf| self.stat(path).is_some_and(|found| found.kind == Kind::File);
        let is_done =
            !self.has(&source) && self.has(path) && !step.moved_from.as_ref().is_some_and(is_file);
        if !is_done {
            return Ok(Back::Done);
        }
        if !self.is_ours(overlay, step) {
            return Ok(Back::Left);
        }
        back(self.root.move_to(path, &source))
    }

    /// Puts back what was replaced.
    fn put_back(&self, overlay: &Overlay, step: &Step, found: &Stat) -> Result<Back> {
        let (path, source, aside) = (&step.path, self.source(step), self.replaced(&step.path));
        if self.is_still(&source, Some(found)) {
            if !self.has(path) {
                return back(self.root.move_to(&source, path));
            }
            if !self.is_ours(overlay, step) {
                return Ok(Back::Left);
            }
            return back(self.root.exchange(&source, path));
        }
        if !self.has(&aside) {
            return Ok(Back::Done);
        }
        // Without an exchange it was set aside.
        if !self.has(&source) && self.has(path) {
            if !self.is_ours(overlay, step) {
                return Ok(Back::Left);
            }
            self.root.move_to(path, &source)?;
        }
        back(self.root.move_to(&aside, path))
    }

    /// Whether what stands where the step has put something is that. What was only moved is moved
    /// back with whatever has been written to it since.
    fn is_ours(&self, overlay: &Overlay, step: &Step) -> bool {
        let kind = self.stat(&step.path).map(|found| found.kind);
        if step.moved_from.is_some() {
            return kind == Some(Kind::File);
        }
        let lower = Layer::InPlace(Arc::clone(overlay.lower()));
        let shown = overlay.stat(&step.path).ok().map(|found| found.kind);
        kind == shown && is_same(overlay, &lower, &step.path, kind)
    }

    fn has(&self, path: &Path) -> bool {
        self.stat(path).is_some()
    }

    fn stat(&self, path: &Path) -> Option<Stat> {
        self.root.stat(path).ok()
    }
}

/// Whether something could be moved to where it stood: not if something else is in its way. That is
/// not touched.
fn back(moved: Result<()>) -> Result<Back> {
    match moved {
        Ok(()) => Ok(Back::Done),
        Err(Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Back::Left),
        Err(error) => Err(error),
    }
}

/// Carries out no more than so many steps, as one that is killed then; gives how many there are.
#[cfg(test)]
pub(in super::super) fn apply_until(overlay: &Overlay, most: usize) -> usize {
    let lower = Layer::InPlace(Arc::clone(overlay.lower()));
    let plan = super::Plan::of(overlay, &lower).unwrap();
    let stage = Stage::new(overlay.lower()).unwrap();
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
