//! What the guests of one run share: a run is one guest, or a shell with the programs that it
//! starts. They have one quota, and one record of what they change.

use super::{
    files::{GuestFiles, TOP},
    guest_view::GuestVisibility,
    limits::RunLimits,
    quota::{RunLimiter, RunQuota, SessionQuota},
    state::with,
};
use innerloop_workspace::{ChangeRecorder, ChangeRecords, EntryKind, Workspace};
use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::task::spawn_blocking;

/// The place of a guest in the workspace.
#[derive(Clone, Debug)]
pub(super) struct GuestRoot {
    /// The folder above which it sees nothing.
    root: PathBuf,
    /// The folder that it sees as `/`.
    start: PathBuf,
}

/// The guests of one run, and what they share.
#[derive(Debug)]
pub(super) struct GuestGroup {
    workspace: Workspace,
    limits: RunLimits,
    quota: Arc<RunQuota>,
    recorder: Arc<Mutex<ChangeRecorder>>,
    /// The open files of each guest.
    files: Mutex<Vec<Arc<Mutex<GuestFiles>>>>,
    /// The files that guests have left for one another.
    left: Mutex<Vec<LeftoverFiles>>,
}

/// Files by their paths, and what they are removed by.
type LeftoverFiles = (Arc<Mutex<GuestFiles>>, Vec<String>);

impl GuestGroup {
    /// A run over the workspace, within its limits and what is left of its session's.
    pub(super) fn new(workspace: Workspace, limits: RunLimits, budget: Arc<SessionQuota>) -> Self {
        let quota = RunQuota::new(&limits, budget);
        let recorder = Arc::new(Mutex::new(ChangeRecorder::of_run()));
        Self { workspace, limits, quota, recorder, files: Mutex::default(), left: Mutex::default() }
    }

    /// The files of a guest that sees the folder `root` of the workspace as `/`.
    pub(super) fn files(&self, root: PathBuf, sight: GuestVisibility) -> Arc<Mutex<GuestFiles>> {
        self.enter((root.clone(), root), sight)
    }

    /// The files of a guest that sees a folder as `/`, and the rest of another by `..`.
    pub(super) fn files_in(
        &self,
        seen: &GuestRoot,
        sight: GuestVisibility,
    ) -> Arc<Mutex<GuestFiles>> {
        self.enter((seen.root.clone(), seen.start.clone()), sight)
    }

    /// A folder of `root`; nothing if there is no such folder.
    pub(super) async fn folder_in(&self, root: &Path, folder: &str) -> Option<GuestRoot> {
        let (workspace, root) = (self.workspace.clone(), root.to_owned());
        let folder = folder.trim_start_matches('/').to_owned();
        let found = spawn_blocking(move || {
            let start = match &*folder {
                "" => root.clone(),
                folder => workspace.follow((&root, &root), folder, true).ok()?,
            };
            let is_folder =
                workspace.stat(&start).is_ok_and(|found| found.kind == EntryKind::Folder);
            is_folder.then_some(GuestRoot { root, start })
        });
        found.await.ok().flatten()
    }

    /// Returns what reads the plain file that a path names, from that folder on, if it has no more
    /// bytes than `most`.
    pub(super) fn reads(
        &self,
        seen: &GuestRoot,
        path: &str,
        most: u64,
    ) -> impl FnOnce() -> Option<Vec<u8>> + Send + 'static {
        let (workspace, GuestRoot { root, start }) = (self.workspace.clone(), seen.clone());
        let path = path.to_owned();
        move || {
            let place = workspace.follow((&root, &start), &path, true).ok()?;
            let mut bytes = Vec::new();
            let mut file = workspace.file(&place).ok()?.take(most.saturating_add(1));
            file.read_to_end(&mut bytes).ok()?;
            (bytes.len() as u64 <= most).then_some(bytes)
        }
    }

    fn enter(&self, folders: (PathBuf, PathBuf), sight: GuestVisibility) -> Arc<Mutex<GuestFiles>> {
        let shared = (Arc::clone(&self.quota), Arc::clone(&self.recorder));
        let open_files = self.limits.open_files;
        let files = GuestFiles::new(self.workspace.clone(), folders, sight, open_files, shared);
        let files = Arc::new(Mutex::new(files));
        let mut all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody else holds those of a guest that has ended.
        all.retain(|files| Arc::strong_count(files) > 1);
        all.push(Arc::clone(&files));
        files
    }

    /// Notes files that the guests of a program leave for one another, as these files know them.
    /// They are removed when the program has ended, or at the end of the run.
    pub(super) fn leaves(&self, files: Arc<Mutex<GuestFiles>>, paths: Vec<String>) {
        if !paths.is_empty() {
            self.left.lock().unwrap_or_else(PoisonError::into_inner).push((files, paths));
        }
    }

    /// Removes the files that were left so far.
    pub(super) async fn clear(self: &Arc<Self>) {
        if !self.has_left_nothing() {
            let group = Arc::clone(self);
            let _is_done = spawn_blocking(move || group.remove_left()).await;
        }
    }

    fn has_left_nothing(&self) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn remove_left(&self) {
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        for (files, paths) in left {
            with(&files, |files| paths.iter().for_each(|path| remove(files, path)));
        }
    }

    /// Returns what counts a guest's memory. It may have less of it than the run.
    pub(super) fn limiter(&self, most: usize) -> RunLimiter {
        RunLimiter::new(self.limits.table_elements, most, Arc::clone(&self.quota))
    }

    /// Most files, folders and streams that a guest has open.
    pub(super) const fn open_files(&self) -> usize {
        self.limits.open_files
    }

    /// Ends a run that has touched nothing, so that no file needs to be looked at. If it has, or an
    /// operation is under way, that is left to [`GuestGroup::end`].
    pub(super) fn end_untouched(&self) -> bool {
        if !self.has_left_nothing() {
            return false;
        }
        let all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().all(|files| {
            files.try_lock().is_ok_and(|mut files| {
                files.end();
                true
            })
        }) && self.recorder.try_lock().is_ok_and(|recorder| recorder.is_blank())
    }

    /// Returns whether it may have begun to change a file.
    pub(super) fn has_begun(&self) -> bool {
        !self.recorder.try_lock().is_ok_and(|recorder| recorder.is_blank())
    }

    /// Returns what the run has changed. No guest changes anything any more, also if it does not
    /// know yet that it is stopped; an operation that is under way is waited for.
    pub(super) fn end(&self) -> ChangeRecords {
        self.remove_left();
        let all = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner));
        for files in all {
            with(&files, GuestFiles::end);
        }
        let recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        self.workspace.records(&recorder)
    }

    /// Saves what the run has changed, which has ended.
    pub(super) fn save(&self) {
        self.workspace.end_run();
    }
}

/// Removes a file at the top, and what it was written to before it got its name, by a program that
/// was ended meanwhile: `NAME-….tmp`. What is not there any more needs no removal.
fn remove(files: &mut GuestFiles, path: &str) {
    let top = TOP.cast_signed();
    let name = path.trim_start_matches('/');
    let stem = format!("{}-", name.rsplit_once('.').map_or(name, |(stem, _)| stem));
    let _gone = files.remove_file(top, name);
    for (other, _) in files.entries(top, ".").unwrap_or_default() {
        if let Some(other) =
            other.to_str().filter(|it| it.starts_with(&stem) && it.ends_with(".tmp"))
        {
            let _gone = files.remove_file(top, other);
        }
    }
}
