//! The walk over the files below a folder, by several threads, with or without the files that git
//! ignores. Links are not followed. Folders are visited roughly in the order of their paths. Each
//! is visited by one thread, which hands half of the files that are left to a thread that waits.

use super::{
    files::{fault, fill, folder_fault},
    ignored::IgnoreRules,
    stop::StopFlag,
};
use crate::{EntryKind, LayeredFolder, ListedEntry, Workspace};
use innerloop_tools::{FileError, WorkspacePath, is_version_system, parts::LeftOut};
use innerloop_types::action::HiddenFiles;
use std::{
    ffi::OsStr,
    num::NonZeroUsize,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    thread,
};

/// The maximum number of threads: more find hardly more in the same time.
const MAX_THREADS: usize = 12;

/// The folder of a walk, and the walk's settings.
pub(super) struct FolderWalk<'a> {
    pub(super) workspace: &'a Workspace,
    /// The path by which the folder is named in answers.
    pub(super) folder: &'a WorkspacePath,
    /// The real path of the folder.
    pub(super) real: &'a Path,
    pub(super) hidden: HiddenFiles,
    /// The rules of the folders above it.
    pub(super) above: Option<Arc<IgnoreRules>>,
    pub(super) stop: &'a StopFlag,
}

/// A thread's part in a walk.
pub(super) trait FileVisitor: Send {
    /// True if it helps to visit the entries of a folder in the order of their names.
    const IN_ORDER: bool;

    /// Returns whether a file of that name may be wanted. Others are not visited.
    fn may_want(&self, name: &str) -> bool;

    /// Visits a file.
    fn file(&mut self, file: VisitedFile<'_>);

    /// Notes that a folder could not be read.
    fn unreadable(&mut self, path: WorkspacePath);

    /// Returns whether nothing at or below the path is wanted any more.
    fn is_past(&mut self, path: &WorkspacePath) -> bool;
}

/// A file that is visited.
pub(super) struct VisitedFile<'a> {
    pub(super) folder: &'a LayeredFolder,
    pub(super) path: WorkspacePath,
}

impl VisitedFile<'_> {
    pub(super) fn name(&self) -> &OsStr {
        OsStr::new(self.path.name())
    }
}

/// A part of the work.
enum WalkJob {
    Folder(FolderJob),
    Files(Arc<LayeredFolder>, Vec<WorkspacePath>),
}

struct FolderJob {
    path: WorkspacePath,
    real: PathBuf,
    above: Option<Arc<IgnoreRules>>,
}

/// The contents of a folder.
struct FolderContents {
    folder: Arc<LayeredFolder>,
    files: Vec<WorkspacePath>,
    /// The folders in it, the last one first.
    folders: Vec<WalkJob>,
}

/// The state that the threads share.
#[derive(Default)]
struct WalkState {
    todo: Mutex<WalkQueue>,
    more: Condvar,
    /// The number of threads that have nothing to do and are not woken yet.
    waiting: AtomicUsize,
    has_ignored: AtomicBool,
    has_too_many_rules: AtomicBool,
    unnameable: AtomicU32,
}

#[derive(Default)]
struct WalkQueue {
    /// The jobs that are left; the next one is the last.
    jobs: Vec<WalkJob>,
    /// The number of threads that work on a job and may add more.
    working: usize,
}

/// Visits all files, each by one of the visitors that are returned.
///
/// # Errors
/// The error of listing the folder itself. Other folders are noted as unreadable.
pub(super) fn walk<V: FileVisitor>(
    walk: &FolderWalk<'_>,
    visitor: impl Fn() -> V,
) -> Result<(Vec<V>, LeftOut), FileError> {
    let shared = WalkState::default();
    let top = FolderJob {
        path: walk.folder.clone(),
        real: walk.real.to_owned(),
        above: walk.above.clone(),
    };
    let mut first = WalkThread { walk, shared: &shared, visitor: visitor(), buffer: Vec::new() };
    let opened = first.open(&top);
    let FolderContents { folder, files, mut folders } =
        opened.map_err(|error| folder_fault(walk.workspace, walk.real, error))?;
    folders.push(WalkJob::Files(folder, files));
    shared.add(folders);
    let more = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS) - 1;
    let mut all = Vec::new();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for _ in 0..more {
            let visitor = visitor();
            let mut thread = WalkThread { walk, shared: &shared, visitor, buffer: Vec::new() };
            let run = move || {
                thread.run();
                thread.visitor
            };
            // A thread that cannot be started is no error: the walk takes longer without it.
            threads.extend(thread::Builder::new().spawn_scoped(scope, run));
        }
        first.run();
        all.push(first.visitor);
        for thread in threads {
            all.push(thread.join().unwrap_or_else(|broken| resume_unwind(broken)));
        }
    });
    let ignored = shared.has_ignored.load(Ordering::Relaxed);
    let too_many_rules = shared.has_too_many_rules.load(Ordering::Relaxed);
    let unnameable = shared.unnameable.load(Ordering::Relaxed);
    Ok((all, LeftOut { ignored, too_many_rules, unreadable: 0, unnameable }))
}

/// One of the threads.
struct WalkThread<'a, V> {
    walk: &'a FolderWalk<'a>,
    shared: &'a WalkState,
    visitor: V,
    buffer: Vec<u8>,
}

impl<V: FileVisitor> WalkThread<'_, V> {
    fn run(&mut self) {
        while let Some(job) = self.shared.next() {
            let _working = WorkGuard(self.shared);
            if self.walk.stop.is_set() {
                continue;
            }
            match job {
                WalkJob::Folder(folder) if self.visitor.is_past(&folder.path) => {}
                WalkJob::Folder(folder) => match self.open(&folder) {
                    Ok(FolderContents { folder, files, folders }) => {
                        self.shared.add(folders);
                        self.visit(&folder, files);
                    }
                    Err(_) => self.visitor.unreadable(folder.path),
                },
                WalkJob::Files(folder, paths) => self.visit(&folder, paths),
            }
        }
    }

    /// Lists a folder, without the entries that are not wanted.
    fn open(&mut self, folder: &FolderJob) -> crate::platform::Result<FolderContents> {
        let FolderJob { path, real, above } = folder;
        let entered = self.walk.workspace.enter(real)?;
        let mut entries = entered.list()?;
        if V::IN_ORDER {
            entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        }
        let rules = self.rules(&entered, path, &entries, above);
        if rules.as_ref().is_some_and(|rules| rules.is_cut) {
            self.shared.has_too_many_rules.store(true, Ordering::Relaxed);
        }
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for ListedEntry { name, kind, .. } in &entries {
            let Some(name) = name.to_str() else {
                self.shared.unnameable.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            if is_version_system(name) {
                continue;
            }
            let is_folder = match kind {
                EntryKind::File => false,
                EntryKind::Folder => true,
                EntryKind::Link | EntryKind::Other => continue,
            };
            // The answer says if anything was ignored. Until that is known, the rules are asked
            // for files that are not wanted, too.
            let is_known = rules.is_none() || self.shared.has_ignored.load(Ordering::Relaxed);
            if !is_folder && is_known && !self.visitor.may_want(name) {
                continue;
            }
            let path = path.join(name);
            if rules.as_ref().is_some_and(|rules| rules.ignores(&path, is_folder)) {
                self.shared.has_ignored.store(true, Ordering::Relaxed);
            } else if is_folder {
                let (real, above) = (real.join(name), rules.clone());
                folders.push(WalkJob::Folder(FolderJob { path, real, above }));
            } else {
                files.push(path);
            }
        }
        // The queue is a stack: the first folder must be the last that is pushed.
        folders.reverse();
        Ok(FolderContents { folder: Arc::new(entered), files, folders })
    }

    /// Visits files of a folder, and hands half of those that are left to a waiting thread.
    fn visit(&mut self, folder: &Arc<LayeredFolder>, mut paths: Vec<WorkspacePath>) {
        // Taken from the end, in the order of their names; the last names are handed over.
        paths.reverse();
        while let Some(path) = paths.pop() {
            if self.walk.stop.is_set() || self.visitor.is_past(&path) {
                break;
            }
            if paths.len() > 1 && self.shared.waiting.load(Ordering::Relaxed) > 0 {
                let mut others: Vec<WorkspacePath> = paths.drain(..paths.len() / 2).collect();
                others.reverse();
                self.shared.add(vec![WalkJob::Files(Arc::clone(folder), others)]);
            }
            self.visitor.file(VisitedFile { folder, path });
        }
    }

    /// Returns the rules that hold for the entries of a folder.
    fn rules(
        &mut self,
        entered: &LayeredFolder,
        path: &WorkspacePath,
        entries: &[ListedEntry],
        above: &Option<Arc<IgnoreRules>>,
    ) -> Option<Arc<IgnoreRules>> {
        const NAME: &str = ".gitignore";
        let is_rules = |entry: &ListedEntry| entry.name == NAME && entry.kind == EntryKind::File;
        if self.walk.hidden != HiddenFiles::Ignored || !entries.iter().any(is_rules) {
            return above.clone();
        }
        let text = entered.file(OsStr::new(NAME)).map_err(fault).and_then(|(mut file, found)| {
            let stop = self.walk.stop;
            fill(&mut file, found.size, &mut self.buffer, |_| !stop.is_set())
        });
        let text = text.ok().and_then(|filled| self.buffer.get(..filled));
        match text {
            Some(text) => Some(IgnoreRules::parse(path.clone(), text, above.clone())),
            None => above.clone(),
        }
    }
}

impl WalkState {
    fn todo(&self) -> MutexGuard<'_, WalkQueue> {
        self.todo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, jobs: Vec<WalkJob>) {
        if jobs.is_empty() {
            return;
        }
        let mut todo = self.todo();
        let wanted = jobs.len().min(self.waiting.load(Ordering::Relaxed));
        // Counted as working from here on, and not from when they wake: otherwise others would hand
        // them work once more.
        self.waiting.fetch_sub(wanted, Ordering::Relaxed);
        todo.jobs.extend(jobs);
        drop(todo);
        for _ in 0..wanted {
            self.more.notify_one();
        }
    }

    /// Returns the next job, and waits for one if other threads may still add some; `None` once all
    /// work is done.
    fn next(&self) -> Option<WalkJob> {
        let mut todo = self.todo();
        loop {
            if let Some(job) = todo.jobs.pop() {
                todo.working += 1;
                return Some(job);
            }
            if todo.working == 0 {
                drop(todo);
                self.more.notify_all();
                return None;
            }
            self.waiting.fetch_add(1, Ordering::Relaxed);
            todo = self.more.wait(todo).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A thread at work. It counts as done even if it panics, so that the others do not wait for ever.
struct WorkGuard<'a>(&'a WalkState);

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        let mut todo = self.0.todo();
        todo.working -= 1;
        let is_done = todo.working == 0 && todo.jobs.is_empty();
        drop(todo);
        if is_done {
            self.0.more.notify_all();
        }
    }
}
