//! The plan of an application: the steps that turn a folder into what its overlay shows, in their
//! order. A plan is made only if the folder still is what the overlay was made from, at each path
//! that the overlay has changed. Making it changes nothing.

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

/// The steps of an application, in their order.
#[derive(Debug, Default)]
pub(super) struct ApplyPlan {
    pub(super) steps: Vec<ApplyStep>,
    /// The folders that the steps create.
    folders: BTreeSet<PathBuf>,
    /// The paths at which something else has changed the folder.
    changed: BTreeSet<PathBuf>,
}

impl ApplyPlan {
    /// Compares the overlay with its folder `lower`.
    ///
    /// # Errors
    /// The paths at which something else has changed the folder since the overlay first changed
    /// them.
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
        // Entries of a folder are removed before the folder, and created after it: removals go
        // through the paths backwards, everything else forwards.
        plan.steps.sort_by(|one, other| match (one.work, other.work) {
            (StepAction::Remove, StepAction::Remove) => other.path.cmp(&one.path),
            _ => (one.work, &one.path).cmp(&(other.work, &other.path)),
        });
        plan.find_moves(overlay);
        Ok(plan)
    }

    fn add(&mut self, overlay: &Overlay, lower: &WorkspaceLayer, path: PathBuf) {
        // The content of a moved file is still read from its old place in the folder, so that place
        // must be unchanged, too.
        let from = overlay.moved_from(&path);
        if let Some(from) = from.filter(|from| !overlay.is_still(from)) {
            self.changed.insert(from);
            return;
        }
        let (old, new) = (lower.stat(&path).ok(), overlay.stat(&path).ok());
        let (old_kind, new_kind) = (old.map(|found| found.kind), new.map(|found| found.kind));
        // Before the look for foreign changes: if somebody has made the very same change, there is
        // nothing to do and no conflict.
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

    /// Notes the entries of a folder that is to be removed and that the overlay never saw: whoever
    /// has put them there since must not lose them.
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
        // If something else is at the old place by now, no step sets the old file aside there, from
        // where it could be put here. Then its content is copied.
        let removed = self.steps.iter().filter(|step| step.work == StepAction::Remove);
        let removed: BTreeSet<_> = removed.map(|step| step.path.clone()).collect();
        for step in
            self.steps.iter_mut().filter(|step| step.work == StepAction::Place(EntryKind::File))
        {
            step.moved_from = overlay.moved_from(&step.path).filter(|from| removed.contains(from));
        }
    }
}

/// Returns whether the overlay and the folder show the same at a path, where both have an entry of
/// that kind or none.
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
        // The entries of a folder are compared under their own paths.
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
