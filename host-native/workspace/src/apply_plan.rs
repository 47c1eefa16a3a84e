//! What has to be done to a folder so that it becomes what an overlay shows.

use super::{
    apply_step::{ApplyStep, StepAction},
    change::shown,
    file_stat::{EntryKind, PathStat},
    layer::WorkspaceLayer,
    overlay::Overlay,
};
use crate::{digest::Digest, platform::Result};
use std::{
    collections::BTreeSet,
    fs::File,
    path::{Path, PathBuf},
};

/// The steps that are to be done, in this order.
#[derive(Debug, Default)]
pub(super) struct ApplyPlan {
    pub(super) steps: Vec<ApplyStep>,
    /// The folders that are created.
    folders: BTreeSet<PathBuf>,
    /// The paths at which the folder is not what it was.
    changed: BTreeSet<PathBuf>,
}

impl ApplyPlan {
    /// Compares the two. `lower` is the folder of the overlay.
    ///
    /// # Errors
    /// The paths at which the folder is another than when the overlay first changed something
    /// there.
    pub(super) fn of(
        overlay: &Overlay,
        lower: &WorkspaceLayer,
    ) -> std::result::Result<Self, Vec<String>> {
        let mut plan = Self::default();
        for path in overlay.touched() {
            plan.add(overlay, lower, path);
        }
        if !plan.changed.is_empty() {
            return Err(plan.changed.iter().map(|path| shown(path)).collect());
        }
        // What is in a folder goes before the folder, and comes after it.
        plan.steps.sort_by(|one, other| match (one.work, other.work) {
            (StepAction::Remove, StepAction::Remove) => other.path.cmp(&one.path),
            _ => (one.work, &one.path).cmp(&(other.work, &other.path)),
        });
        plan.find_moves(overlay);
        Ok(plan)
    }

    fn add(&mut self, overlay: &Overlay, lower: &WorkspaceLayer, path: PathBuf) {
        let from = overlay.moved_from(&path);
        if let Some(from) = from.filter(|from| !overlay.is_still(from)) {
            self.changed.insert(from);
            return;
        }
        let (old, new) = (lower.stat(&path).ok(), overlay.stat(&path).ok());
        let (old_kind, new_kind) = (old.map(|found| found.kind), new.map(|found| found.kind));
        if old_kind == new_kind && is_same(overlay, lower, &path, new_kind) {
            return;
        }
        if !overlay.is_still(&path) {
            self.changed.insert(path);
            return;
        }
        let is_folder = |kind: Option<EntryKind>| kind == Some(EntryKind::Folder);
        let is_removed =
            old.is_some() && (new.is_none() || is_folder(old_kind) != is_folder(new_kind));
        if is_removed {
            self.check_removal(overlay, lower, &path, old_kind);
            self.step(path.clone(), old, StepAction::Remove);
        }
        let Some(new) = new_kind else { return };
        let folder = path.parent().unwrap_or(Path::new(""));
        let has_folder = lower.stat(folder).is_ok_and(|found| found.kind == EntryKind::Folder);
        if !has_folder && !self.folders.contains(folder) {
            self.changed.insert(folder.to_owned());
            return;
        }
        if new == EntryKind::Folder {
            self.folders.insert(path.clone());
            self.step(path, None, StepAction::CreateFolder);
        } else {
            self.step(path, old.filter(|_| !is_removed), StepAction::Place(new));
        }
    }

    fn step(&mut self, path: PathBuf, lower: Option<PathStat>, work: StepAction) {
        self.steps.push(ApplyStep { path, lower, work, moved_from: None });
    }

    /// A folder can go if the view has seen all that is in it.
    fn check_removal(
        &mut self,
        overlay: &Overlay,
        lower: &WorkspaceLayer,
        path: &Path,
        old: Option<EntryKind>,
    ) {
        if old != Some(EntryKind::Folder) {
            return;
        }
        for entry in lower.list(path).unwrap_or_default() {
            let path = path.join(entry.name);
            if !overlay.has_noted(&path) {
                self.changed.insert(path);
            }
        }
    }

    /// Finds the files that are only moved, which need no copy.
    fn find_moves(&mut self, overlay: &Overlay) {
        let removed = self.steps.iter().filter(|step| step.work == StepAction::Remove);
        let removed: BTreeSet<_> = removed.map(|step| step.path.clone()).collect();
        for step in
            self.steps.iter_mut().filter(|step| step.work == StepAction::Place(EntryKind::File))
        {
            step.moved_from = overlay.moved_from(&step.path).filter(|from| removed.contains(from));
        }
    }
}

/// Returns whether there is nothing to do, since both show the same. Both are of that kind.
pub(super) fn is_same(
    overlay: &Overlay,
    lower: &WorkspaceLayer,
    path: &Path,
    kind: Option<EntryKind>,
) -> bool {
    let same = |one: Result<File>, other: Result<File>| {
        let digest = |file: Result<File>| Digest::of_rest(file.ok()?).ok();
        digest(one).is_some_and(|one| Some(one) == digest(other))
    };
    match kind {
        None | Some(EntryKind::Folder) => true,
        Some(EntryKind::Link) => lower
            .link_target(path)
            .is_ok_and(|target| overlay.link_target(path).is_ok_and(|own| own == target)),
        Some(EntryKind::File) => {
            let sizes = (overlay.stat(path), lower.stat(path));
            let is_alike = matches!(sizes, (Ok(one), Ok(other)) if one.size == other.size
                && one.permissions() == other.permissions());
            is_alike && same(overlay.file(path), lower.file(path))
        }
        Some(EntryKind::Other) => false,
    }
}
