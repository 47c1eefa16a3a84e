//! The group of guests that make up one run: one guest, or a shell with the programs that it
//! starts. They share one quota and one record of their changes. Once the group has ended, no guest
//! of it changes anything, even if it has not noticed yet.

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

/// The part of the workspace that a guest sees.
#[derive(Clone, Debug)]
pub(super) struct GuestRoot {
    /// The folder above which it sees nothing.
    root: PathBuf,
    /// The folder that it sees as `/`.
    start: PathBuf,
}

/// The guests of one run with their quota, their recorder and their open files.
#[derive(Debug)]
pub(super) struct GuestGroup {
    workspace: Workspace,
    limits: RunLimits,
    quota: Arc<RunQuota>,
    recorder: Arc<Mutex<ChangeRecorder>>,
    /// The open files of each guest.
    files: Mutex<Vec<Arc<Mutex<GuestFiles>>>>,
    /// The files that the jobs of drivers leave for one another.
    left: Mutex<Vec<LeftoverFiles>>,
}

/// Paths to remove, and the files of the guest that they are paths of.
type LeftoverFiles = (Arc<Mutex<GuestFiles>>, Vec<String>);

impl GuestGroup {
    /// A run over the workspace, within its own limits and what is left of its session's.
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

    /// A folder below `root`; `None` if there is no such folder.
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

    /// Returns a function that reads the plain file at a path below a guest's folder. It blocks,
    /// and returns `None` if there is no such file or it has more than `most` bytes.
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
            // One byte more than is allowed shows that the file is longer, even if it grows now.
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
        // Files that only this list holds are those of guests that have ended. Without this, a
        // command line that starts programs in a loop would keep them all.
        all.retain(|files| Arc::strong_count(files) > 1);
        all.push(Arc::clone(&files));
        files
    }

    /// Notes paths that the jobs of a driver leave for one another, as `files` resolve them. They
    /// are removed when the program has ended, or at the end of the run.
    pub(super) fn leaves(&self, files: Arc<Mutex<GuestFiles>>, paths: Vec<String>) {
        if !paths.is_empty() {
            self.left.lock().unwrap_or_else(PoisonError::into_inner).push((files, paths));
        }
    }

    /// Removes the files that jobs have left so far.
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

    /// The limiter of a guest's memory. `most` bounds the guest below what its run has.
    pub(super) fn limiter(&self, most: usize) -> RunLimiter {
        RunLimiter::new(self.limits.table_elements, most, Arc::clone(&self.quota))
    }

    /// The most files, folders and streams that a guest may have open.
    pub(super) const fn open_files(&self) -> usize {
        self.limits.open_files
    }

    /// Ends a run that has touched nothing, without a thread for files. Returns false if it has, or
    /// an operation is under way; then [`GuestGroup::end`] must end it.
    pub(super) fn end_untouched(&self) -> bool {
        if !self.has_left_nothing() {
            return false;
        }
        // The files end before the recorder is looked at: nothing can touch a file in between. A
        // lock that is held belongs to an operation, and must not be waited for here.
        let all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().all(|files| {
            files.try_lock().is_ok_and(|mut files| {
                files.end();
                true
            })
        }) && self.recorder.try_lock().is_ok_and(|recorder| recorder.is_blank())
    }

    /// Returns whether the run may have begun to change a file.
    pub(super) fn has_begun(&self) -> bool {
        // Whoever holds the recorder is about to change something.
        !self.recorder.try_lock().is_ok_and(|recorder| recorder.is_blank())
    }

    /// Ends the run and returns its changes. It waits for operations that are under way; those that
    /// have not begun find their files closed.
    pub(super) fn end(&self) -> ChangeRecords {
        // Removed first, while the files can still be used, so that the changes do not list them.
        self.remove_left();
        let all = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner));
        for files in all {
            with(&files, GuestFiles::end);
        }
        let recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        self.workspace.records(&recorder)
    }

    /// Saves the changes of a run that has ended, if the workspace is an overlay that is kept.
    pub(super) fn save(&self) {
        self.workspace.end_run();
    }
}

/// Removes a file at the top, and its temporary files, `NAME-….tmp`.
fn remove(files: &mut GuestFiles, path: &str) {
    // LLVM's tools write an output under such a name and rename it; one that the time limit ended
    // has left it. Most paths do not exist any more, which is not an error.
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
