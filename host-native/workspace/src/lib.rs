//! The workspace: the folder that the agent works on, either in place or through an overlay, a
//! private view whose changes are applied to the folder at the end, or never. Guests, tools and the
//! host itself reach its files through [`Workspace`] alone, by one open handle and by real paths,
//! which contain no links. Every change of a name is checked and made under one lock, so that two
//! callers cannot change between them what neither may change alone.

mod active_runs;
pub mod app_dirs;
mod apply;
mod apply_plan;
mod apply_step;
mod applying;
mod change;
mod changed_files;
pub mod diff;
pub mod digest;
mod dir_handle;
mod durable;
mod file_stat;
mod former_contents;
mod guard;
mod layer;
mod overlay;
mod person_edit;
pub mod plain_file;
pub mod platform;
pub mod private_files;
pub mod reading;
mod refused_changes;
mod resolve;
mod root;
mod scratch_folder;
mod sensitive;
mod state;
mod whole_file;
mod workspace_folder;
mod writing;

pub use changed_files::{ChangeRecorder, ChangeRecords};
pub use dir_handle::LayeredFolder;
pub use file_stat::{EntryKind, PathStat};
pub use former_contents::ShelterSet;
pub use overlay::QuotaCharge;
pub use resolve::at;
pub use root::{FileAccess, ListedEntry, set_file_times};
pub use whole_file::FileDraft;

pub use apply::{ApplyError, ApplyProgress};
pub use apply_step::TakenBack;
pub use change::FileChange;
pub use refused_changes::RefusedChanges;
pub use state::FileState;
pub use workspace_folder::WorkspaceError;

use active_runs::{RunRegistry, WorkspaceRun};
use innerloop_tools::TmpMeaning;
use layer::WorkspaceLayer;
use overlay::Overlay;
use platform::{Errno, Result, Timestamps};
use refused_changes::RefusalLog;
use resolve::{resolve, stays_inside};
use root::Root;
use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

/// The folder that an agent works on, in place or as an overlay. Clones share it.
#[derive(Clone, Debug)]
pub struct Workspace {
    shared: Arc<WorkspaceState>,
    /// The meaning of `tmp` in the paths that this clone is given.
    meant: TmpMeaning,
    /// The run that this clone was made for.
    run: Option<Arc<WorkspaceRun>>,
}

#[derive(Debug)]
struct WorkspaceState {
    layer: Arc<WorkspaceLayer>,
    /// The lock that is held while a name is checked and changed.
    changing: Mutex<FreezeFlag>,
    /// The lock that is shared by those who write to open files.
    writing: RwLock<FreezeFlag>,
    /// The changes in place since the workspace was opened; those of an overlay are its view.
    touched: Mutex<ChangeRecorder>,
    /// The host's own files that happen to be in the workspace.
    reserved: Mutex<Vec<ReservedPath>>,
    /// The changes that the system refused.
    refusals: RefusalLog,
    runs: Arc<RunRegistry>,
}

/// A flag that is true while all changes are refused.
#[derive(Clone, Copy, Debug, Default)]
struct FreezeFlag(bool);

/// A file of the host's own that guests cannot change, by whatever name; or a folder with
/// everything below it. Either may not exist yet.
#[derive(Debug)]
struct ReservedPath {
    path: PathBuf,
    /// The inode number of a file that exists.
    inode: Option<u64>,
    is_folder: bool,
}

impl Workspace {
    /// Opens the folder at `path`, which is changed in place.
    ///
    /// # Errors
    /// [`WorkspaceError`] if it is missing, a file, unreadable, or more than a project's folder.
    pub fn open(path: impl AsRef<Path>) -> std::result::Result<Self, WorkspaceError> {
        let path = workspace_folder::find(path.as_ref())?;
        workspace_folder::check(&path)?;
        Self::insist(path)
    }

    /// Opens any folder, even a home folder or one of the system, otherwise as [`Workspace::open`].
    ///
    /// # Errors
    /// [`WorkspaceError`] if it is missing, a file, or unreadable.
    pub fn insist(path: impl AsRef<Path>) -> std::result::Result<Self, WorkspaceError> {
        let path = workspace_folder::find(path.as_ref())?;
        let root = Root::open(&path).map_err(|error| workspace_folder::failed(&path, error))?;
        Ok(Self::of(WorkspaceLayer::InPlace(Arc::new(root))))
    }

    /// Makes an overlay of this workspace's folder, which stays as it is until
    /// [`Workspace::apply`]. Changed contents are kept in the cache folder and removed with the
    /// overlay's last clone.
    ///
    /// # Errors
    /// [`WorkspaceError::NoOverlay`] if there is no place to keep them.
    pub fn overlay(&self) -> std::result::Result<Self, WorkspaceError> {
        let overlay = Overlay::new(Arc::clone(self.shared.layer.lower()));
        let overlay = overlay.map_err(|error| {
            let path = self.root().to_path_buf();
            WorkspaceError::NoOverlay { path, error }
        })?;
        Ok(Self::of(WorkspaceLayer::Overlay(Box::new(overlay))))
    }

    fn of(layer: WorkspaceLayer) -> Self {
        let touched = Mutex::new(ChangeRecorder::of_session());
        let (changing, writing, reserved) = (Mutex::default(), RwLock::default(), Mutex::default());
        let layer = Arc::new(layer);
        let refusals = RefusalLog::default();
        let runs = Arc::default();
        let shared = WorkspaceState { layer, changing, writing, touched, reserved, refusals, runs };
        Self { shared: Arc::new(shared), meant: TmpMeaning::Unsaid, run: None }
    }

    /// Returns the same workspace for a call that means this by `tmp`.
    pub fn meaning(&self, meant: TmpMeaning) -> Self {
        Self { meant, ..self.clone() }
    }

    /// Returns the folder's canonical path at the time when it was opened.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.shared.layer.lower().path()
    }

    /// Returns whether this is an overlay, so that the folder itself stays as it is.
    #[must_use]
    pub fn is_overlay(&self) -> bool {
        matches!(*self.shared.layer, WorkspaceLayer::Overlay(_))
    }

    /// Returns the changed files, ordered by path, and whether they are all. An overlay's are those
    /// since it was last applied; in place they are those since the workspace was opened, where no
    /// more than 10,000 files are watched.
    #[must_use]
    pub fn changes(&self) -> (Vec<FileChange>, bool) {
        self.changes_until(&|| false)
    }

    /// Returns the same, but once it `is_stopped` no more content is read: the files that are left
    /// are reported by their sizes.
    #[must_use]
    pub fn changes_until(&self, is_stopped: &dyn Fn() -> bool) -> (Vec<FileChange>, bool) {
        let layer = &*self.shared.layer;
        match layer {
            WorkspaceLayer::InPlace(_) => self.touched().changes(layer, is_stopped),
            WorkspaceLayer::Overlay(overlay) => (apply::changes(overlay, layer, is_stopped), true),
        }
    }

    /// Returns the temporary files in the `/tmp` that an overlay has of its own if its folder has
    /// no `tmp`. They are not among the changes and are never applied.
    #[must_use]
    pub fn temporary_files(&self) -> Vec<String> {
        match &*self.shared.layer {
            WorkspaceLayer::InPlace(_) => Vec::new(),
            WorkspaceLayer::Overlay(overlay) => {
                overlay.passing_files().iter().map(|path| change::shown(path)).collect()
            }
        }
    }

    /// Waits for changes that are under way, and refuses all others until [`Workspace::thaw`], so
    /// that what is shown to the user is what is applied.
    pub fn freeze(&self) {
        self.set_frozen(FreezeFlag(true));
    }

    /// Allows changes again.
    pub fn thaw(&self) {
        self.set_frozen(FreezeFlag(false));
    }

    fn set_frozen(&self, frozen: FreezeFlag) {
        // Names change under the first lock, contents of open files under the second. Taking each
        // of them alone waits until what is under way has ended.
        *self.changing() = frozen;
        *self.shared.writing.write().unwrap_or_else(PoisonError::into_inner) = frozen;
    }

    /// Refuses all changes of a file of the host's own, such as the session's log, if it is in
    /// this workspace. It may be missing as long as its folder exists.
    pub fn reserve(&self, file: &Path) {
        let place = || {
            let folder = std::fs::canonicalize(file.parent()?).ok()?;
            Some(folder.join(file.file_name()?))
        };
        let Some(file) = std::fs::canonicalize(file).ok().or_else(place) else { return };
        let Ok(path) = file.strip_prefix(self.root()) else { return };
        // A hard link, or another spelling of the name, has another path but the same inode.
        let inode = self.stat(path).ok().map(|found| found.inode);
        self.reserved().push(ReservedPath { path: path.to_owned(), inode, is_folder: false });
    }

    /// Refuses all changes of a folder of the host's own, such as that of its settings, and of
    /// everything in it, if it is in this workspace. It may be missing.
    pub fn reserve_folder(&self, folder: &Path) {
        let Some(folder) = app_dirs::real(folder) else { return };
        let Ok(path) = folder.strip_prefix(self.root()) else { return };
        // The workspace itself cannot be reserved: nothing in it could be changed any more.
        if !path.as_os_str().is_empty() {
            let path = path.to_owned();
            self.reserved().push(ReservedPath { path, inode: None, is_folder: true });
        }
    }

    /// Returns the real path of a folder; `None` if there is no such folder, or if its path leads
    /// out of the workspace.
    pub fn folder(&self, folder: &str) -> Option<PathBuf> {
        let top = Path::new("");
        if folder.is_empty() {
            return Some(top.to_owned());
        }
        let real = self.follow((top, top), folder, true).ok()?;
        (self.stat(&real).ok()?.kind == EntryKind::Folder).then_some(real)
    }

    /// Resolves a path that begins in the folder `base` to a real path; if it ends with a link,
    /// that is followed only if `last` is set. Fails if the path leaves the folder `top`.
    pub fn follow(&self, (top, base): (&Path, &Path), path: &str, last: bool) -> Result<PathBuf> {
        resolve((top, base), path, last, |real| self.shared.layer.link_target(real).ok())
    }

    /// Returns the real path of a path from the root of the workspace, at which nothing needs to
    /// exist; `None` if it leaves the workspace or is not UTF-8.
    pub fn real_path(&self, path: &str) -> Option<String> {
        let top = Path::new("");
        self.follow((top, top), path, true).ok()?.into_os_string().into_string().ok()
    }

    /// Returns the content of the plain file that a path names, if it has at most `most` bytes.
    pub fn read(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        let top = Path::new("");
        let file = self.file(&self.follow((top, top), path, true).ok()?).ok()?;
        let mut bytes = Vec::new();
        // The size that the system reports may be another by the time the file is read, so one
        // byte beyond the limit is asked for instead.
        file.take(most.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= most).then_some(bytes)
    }

    /// Returns whether a path stays in the workspace and nothing exists where it leads.
    pub fn is_free(&self, path: &str) -> bool {
        let top = Path::new("");
        self.follow((top, top), path, true).is_ok_and(|real| self.stat(&real).is_err())
    }

    /// Returns the attributes of the entry at a real path.
    pub fn stat(&self, path: &Path) -> Result<PathStat> {
        self.seen(path)?.stat(path)
    }

    /// Returns the entries of the folder at a real path, in no particular order.
    pub fn list(&self, path: &Path) -> Result<Vec<ListedEntry>> {
        self.seen(path)?.list(path)
    }

    /// Returns the files, or `NOENT` if the path is an overlay's own `/tmp` and this clone means
    /// the project's.
    fn seen(&self, path: &Path) -> Result<&WorkspaceLayer> {
        let layer = &*self.shared.layer;
        if layer.is_unseen(path, self.meant) { Err(Errno::NOENT) } else { Ok(layer) }
    }

    /// Opens the folder at a real path, to read many of its files.
    pub fn enter(&self, path: &Path) -> Result<LayeredFolder> {
        LayeredFolder::new(&self.shared.layer, path)
    }

    /// Returns the target of the link at a real path.
    pub fn link_target(&self, path: &Path) -> Result<PathBuf> {
        self.shared.layer.link_target(path)
    }

    /// Returns the attributes of an open file of the workspace.
    pub fn stat_file(&self, file: &File) -> Result<PathStat> {
        self.shared.layer.stat_file(file)
    }

    /// Opens the plain file at a real path for reading.
    pub fn file(&self, path: &Path) -> Result<File> {
        self.shared.layer.file(path)
    }

    /// Opens the plain file at a real path with any access. An overlay asks `charge` before it
    /// copies bytes for that.
    pub fn open_file(
        &self,
        path: &Path,
        access: FileAccess,
        charge: QuotaCharge<'_>,
    ) -> Result<File> {
        if !access.changes() {
            return self.file(path);
        }
        self.change(path, |files| {
            files.check_change(path)?;
            // Before the entry is looked at: an overlay's own `/tmp` is not in the way of a file.
            files.make_way(path, self.meant)?;
            let is_new = access.create && files.stat(path) == Err(Errno::NOENT);
            if !is_new {
                if access.exclusive {
                    return Err(Errno::EXIST);
                }
                // Without `create`: should the file vanish now, a new one in its place would not
                // have been checked as an entry.
                let file = files.open(
                    path,
                    FileAccess { create: false, ..access },
                    self.writer(charge),
                )?;
                // A file in an overlay's own `/tmp` that a call changes by the project's name
                // `tmp/` is to be applied from now on.
                if self.meant.is_project() {
                    files.made(path, self.meant)?;
                }
                return Ok(file);
            }
            files.check_entry(path)?;
            let file = files.open(path, access, self.writer(charge))?;
            files.made(path, self.meant)?;
            files.check_again(path, |files| files.remove_file(path))?;
            Ok(file)
        })
    }

    /// Returns a guard to hold while an open file is written to, which delays freezing; `ROFS` if
    /// the workspace is frozen.
    pub fn writing(&self) -> Result<impl Drop + '_> {
        let held = self.shared.writing.read().unwrap_or_else(PoisonError::into_inner);
        if held.0 { Err(Errno::ROFS) } else { Ok(held) }
    }

    /// Creates a folder at a real path.
    pub fn create_folder(&self, path: &Path) -> Result<()> {
        // Runs touch the files that they change, but not the folders.
        self.note(path);
        self.change(path, |files| {
            files.check_entry(path)?;
            // The caller does not see an overlay's own `/tmp`. To make a `tmp` there makes that
            // folder the project's, instead of failing since it exists.
            if files.claim(path, self.meant)? {
                return Ok(());
            }
            files.create_folder(path)?;
            files.made(path, self.meant)?;
            files.check_again(path, |files| files.remove_folder(path))
        })
    }

    /// Removes the empty folder at a real path.
    pub fn remove_folder(&self, path: &Path) -> Result<()> {
        self.note(path);
        self.change(path, |files| {
            files.check_change(path)?;
            files.remove_folder(path)
        })
    }

    /// Removes the file or link at a real path.
    pub fn remove_file(&self, path: &Path) -> Result<()> {
        self.change(path, |files| {
            files.check_change(path)?;
            files.remove_file(path)
        })
    }

    /// Moves the entry at a real path to another path, unless `seen` fails. `seen` is given all
    /// that moves along, as paths below both places, before anything has moved.
    pub fn rename(
        &self,
        from: &Path,
        to: &Path,
        seen: impl FnOnce(&[(PathBuf, EntryKind)]) -> Result<()>,
    ) -> Result<()> {
        self.change(from, |files| {
            // `change` has checked the path that is moved, not the one that may be replaced.
            self.check(to)?;
            let all = files.check_move(from, to)?;
            files.make_way(to, self.meant)?;
            seen(&all)?;
            files.rename(from, to, &all)?;
            files.moved(to, &all, self.meant)?;
            files.check_again(to, |files| files.rename(to, from, &all))
        })?;
        self.shared.refusals.note_moved(from);
        Ok(())
    }

    /// Creates a symbolic link at a real path. `PERM` if its target is outside of the workspace.
    pub fn link(&self, target: &Path, path: &Path) -> Result<()> {
        self.change(path, |files| {
            files.check_entry(path)?;
            if !stays_inside(path.parent().unwrap_or(Path::new("")), target) {
                return Err(Errno::PERM);
            }
            files.make_way(path, self.meant)?;
            files.link(target, path)?;
            files.made(path, self.meant)?;
            files.check_again(path, |files| files.remove_file(path))
        })
    }

    /// Sets the times of the entry at a real path. An overlay asks `charge` before it copies bytes
    /// for that.
    pub fn set_times(
        &self,
        path: &Path,
        times: &Timestamps,
        charge: QuotaCharge<'_>,
    ) -> Result<()> {
        self.change(path, |files| {
            files.check_change(path)?;
            files.set_times(path, times, self.writer(charge))
        })
    }

    /// Sets the permissions of the file at a real path, as mode bits; its owner can always read and
    /// write it. An overlay asks `charge` before it copies bytes for that.
    pub fn set_mode(&self, path: &Path, mode: u32, charge: QuotaCharge<'_>) -> Result<()> {
        self.change(path, |files| {
            files.check_change(path)?;
            files.set_mode(path, mode, self.writer(charge))
        })
    }

    /// Records the state of a file in place before its first change, for the final review.
    fn note(&self, path: &Path) {
        let layer = &*self.shared.layer;
        if !matches!(layer, WorkspaceLayer::InPlace(_)) || self.touched().has(path) {
            return;
        }
        // Reading a file may take a while, so it is done without the lock, which others wait for.
        // Of two that read the same file at once, `take_over` keeps the first.
        let mut found = ChangeRecorder::of_session();
        found.touch(layer, path);
        self.touched().take_over(found);
    }

    fn touched(&self) -> MutexGuard<'_, ChangeRecorder> {
        self.shared.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserved(&self) -> MutexGuard<'_, Vec<ReservedPath>> {
        self.shared.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a change of a reserved path.
    fn check(&self, path: &Path) -> Result<()> {
        let reserved = self.reserved();
        if reserved.is_empty() {
            return Ok(());
        }
        let inode = self.stat(path).ok().map(|found| found.inode);
        let is_it = |it: &ReservedPath| {
            let is_inside = it.is_folder && path.starts_with(&it.path);
            // A folder above is refused, too: moving it away would move the file with it.
            is_inside || it.path.starts_with(path) || it.inode.is_some() && it.inode == inode
        };
        if reserved.iter().any(is_it) { Err(Errno::PERM) } else { Ok(()) }
    }

    fn changing(&self) -> MutexGuard<'_, FreezeFlag> {
        self.shared.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change of the entry at a real path, unless the workspace is frozen or the path is
    /// reserved.
    fn change<T>(
        &self,
        path: &Path,
        change: impl FnOnce(&WorkspaceLayer) -> Result<T>,
    ) -> Result<T> {
        // One lock is held over the checks and the change: otherwise two guests could each add one
        // part of a git repository after neither was seen to complete it.
        let held = self.changing();
        if held.0 {
            return Err(Errno::ROFS);
        }
        self.check(path)?;
        // The run counts as changing before it has changed anything, so that no save in between
        // takes what it leaves for whole.
        self.run.iter().for_each(|run| run.changes());
        let layer = &*self.shared.layer;
        // A change that fails may have removed an overlay's own `/tmp` to make way.
        let done = change(layer).inspect_err(|_| layer.keep_temporary());
        self.note_change(path, &done);
        done
    }

    /// Notes the result of a change at a real path for [`Workspace::refused`].
    pub fn note_change<T>(&self, path: &Path, done: &Result<T>) {
        let lower = self.shared.layer.lower();
        let above = path.parent().unwrap_or(Path::new(""));
        // A missing folder does not count as closed: our own rules may have refused to create it.
        let is_closed = || lower.check_writable(above).is_err_and(|error| error != Errno::NOENT);
        self.shared.refusals.note(path, done, is_closed);
    }

    /// Returns the changes that the system refused since the workspace was opened and that have not
    /// succeeded since: the disk is full, or a folder cannot be written to.
    #[must_use]
    pub fn refused(&self) -> Option<RefusedChanges> {
        self.shared.refusals.told()
    }

    /// Checks that files can be created in the folder itself.
    ///
    /// # Errors
    /// The system's error if they cannot.
    pub fn check_writable(&self) -> io::Result<()> {
        Ok(self.shared.layer.lower().check_writable(Path::new(""))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace in a folder of its own, and an overlay of it.
    fn workspaces(name: &str) -> [Workspace; 2] {
        let folder = format!("innerloop-workspace-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir(&folder).unwrap();
        let workspace = Workspace::open(folder).unwrap();
        let overlay = workspace.overlay().unwrap();
        [workspace, overlay]
    }

    fn open(workspace: &Workspace, path: &str, access: FileAccess) -> Result<File> {
        workspace.open_file(Path::new(path), access, &mut |_| true)
    }

    const CREATE: FileAccess =
        FileAccess { write: true, create: true, exclusive: false, truncate: false };

    #[test]
    fn what_must_be_new_is_new() {
        let all = workspaces("new");
        for workspace in &all {
            let exclusive = FileAccess { exclusive: true, ..CREATE };
            assert!(open(workspace, "file", exclusive).is_ok());
            for write in [true, false] {
                let again = open(workspace, "file", FileAccess { write, ..exclusive });
                assert_eq!(again.err(), Some(Errno::EXIST), "{workspace:?}");
            }
            workspace.remove_file(Path::new("file")).unwrap();
        }
        std::fs::remove_dir_all(all[0].root()).unwrap();
    }

    #[test]
    fn moving_a_folder_again_and_again_takes_no_more_memory() {
        let [workspace, overlay] = workspaces("moves");
        let path = |name: &str, file: u32| PathBuf::from(format!("{name}/{file}"));
        workspace.create_folder(Path::new("a0")).unwrap();
        for file in 0..10 {
            open(&workspace, path("a0", file).to_str().unwrap(), CREATE).unwrap();
        }
        let WorkspaceLayer::Overlay(view) = &*overlay.shared.layer else { panic!("it is none") };
        let noted = || view.noted();
        for step in 0..50 {
            let (from, to) = (format!("a{step}"), format!("a{}", step + 1));
            overlay.rename(Path::new(&from), Path::new(&to), |_| Ok(())).unwrap();
            assert!(noted() <= 22, "{} paths after {step} moves", noted());
        }
        overlay.apply().unwrap();
        assert_eq!(overlay.list(Path::new("a50")).unwrap().len(), 10);
        std::fs::remove_dir_all(workspace.root()).unwrap();
    }

    #[test]
    fn an_overlay_keeps_no_more_than_so_many_bytes_of_paths() {
        let [workspace, overlay] = workspaces("names");
        let mut folder = PathBuf::new();
        while folder.as_os_str().len() < 3_500 {
            folder.push("f".repeat(250));
            overlay.create_folder(&folder).unwrap();
        }
        let mut bytes = 0;
        let refused = (0..).find_map(|n| {
            let path = folder.join(format!("{n:0>200}"));
            bytes += path.as_os_str().len();
            overlay.link(Path::new("target"), &path).err()
        });
        assert_eq!(refused, Some(Errno::NOSPC));
        assert!((60 << 20..=65 << 20).contains(&bytes), "{bytes}");
        let target = PathBuf::from("t".repeat(5_000));
        assert_eq!(overlay.link(&target, Path::new("link")), Err(Errno::NAMETOOLONG));
        std::fs::remove_dir_all(workspace.root()).unwrap();
    }

    #[test]
    fn a_folder_that_gets_its_first_file_or_loses_its_last_is_no_change() {
        let all = workspaces("folders");
        for folder in ["empty", "full"] {
            std::fs::create_dir(all[0].root().join(folder)).unwrap();
        }
        // The overlay first: it leaves the folder as it is.
        for workspace in all.iter().rev() {
            std::fs::write(workspace.root().join("full/b"), "").unwrap();
            for folder in ["empty", "full"] {
                let there = workspace.create_folder(Path::new(folder));
                assert_eq!(there, Err(Errno::EXIST));
            }
            let mut recorder = ChangeRecorder::of_run();
            let [a, b] = ["empty/a", "full/b"].map(Path::new);
            workspace.touch(&mut recorder, a);
            workspace.touch(&mut recorder, b);
            open(workspace, "empty/a", CREATE).unwrap();
            workspace.remove_file(b).unwrap();
            let changes = workspace.changes().0;
            let paths: Vec<_> = changes.iter().map(|change| change.path.as_str()).collect();
            assert_eq!(paths, ["empty/a", "full/b"], "{workspace:?}");
        }
        std::fs::remove_dir_all(all[0].root()).unwrap();
    }
}
