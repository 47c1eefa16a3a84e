//! The open files of a running guest and its operations on them: everything by the workspace's
//! handle, charged to the quotas before it is done, and noted by the recorder. Nothing here knows
//! the guest's memory. All of it may block, and runs on threads for that.

mod attributes;
mod listed;
mod open_flags;

pub(super) use open_flags::{OpenFlags, SeekOrigin};

use super::{
    errno,
    guest_view::{FolderMount, GuestVisibility},
    listing::FolderListing,
    quota::RunQuota,
    wasi_error::CallError,
};
use innerloop_driver::capture::{ExceededLimit, ProgramExit};
use innerloop_workspace::{
    ChangeRecorder, EntryKind, FileAccess, FileDraft, PathStat, ShelterSet, Workspace, at,
    platform::{Errno, FileExt as _},
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The bytes of disk quota that a new entry, or a new name of one, takes beside its path's length.
const ENTRY_BYTES: u64 = 4096;
const NAME_BYTES: u64 = 256;

/// The file descriptor of the folder that the guest sees as `/`: 0 to 2 are the standard streams.
pub(super) const TOP: u32 = 3;

/// The number of attempts to follow a path.
const TRIES: usize = 8;

/// The files and folders that a guest has open, and their places.
#[derive(Debug)]
pub(super) struct GuestFiles {
    workspace: Workspace,
    mounts: Vec<FolderMount>,
    /// The names of the folders that are there from the start, from the descriptor [`TOP`] on.
    tops: Vec<String>,
    /// The folder above which the guest sees nothing.
    top: PathBuf,
    may_write: bool,
    writes_whole: bool,
    max_open: usize,
    open: BTreeMap<u32, OpenNode>,
    /// The former contents of files that the guest has truncated.
    shelters: ShelterSet,
    quota: Arc<RunQuota>,
    recorder: Arc<Mutex<ChangeRecorder>>,
}

/// The object that a file descriptor stands for.
#[derive(Debug)]
pub(super) enum OpenNode {
    /// A standard stream, by its own number.
    Standard(u32),
    Folder(FolderHandle),
    File(FileHandle),
}

/// The place of a file or folder: the number of the folder that the guest sees it below (0 for the
/// workspace, then the mounts), and its real path there.
#[derive(Clone, Debug)]
struct TreePath {
    tree: usize,
    path: PathBuf,
}

#[derive(Debug)]
pub(super) struct FolderHandle {
    tree: usize,
    /// The path of the folder; `None` once it was removed.
    path: Option<PathBuf>,
    /// The entries of the folder when it was last listed from the start.
    listing: Option<FolderListing>,
}

#[derive(Debug)]
pub(super) struct FileHandle {
    file: Arc<File>,
    /// The new content until it is synced, if it is to appear whole or not at all.
    draft: Option<FileDraft>,
    tree: usize,
    path: Option<PathBuf>,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) appends: bool,
    position: u64,
    /// A length that the file is known to have reached.
    reached: u64,
}

impl GuestFiles {
    /// The files of a guest that sees the folder `start` of the workspace as `/`, and nothing
    /// outside of `top`, by `..`.
    pub(super) fn new(
        workspace: Workspace,
        (top, start): (PathBuf, PathBuf),
        sight: GuestVisibility,
        max_open: usize,
        (quota, recorder): (Arc<RunQuota>, Arc<Mutex<ChangeRecorder>>),
    ) -> Self {
        let GuestVisibility { may_write, writes_whole, is_blind, mounts } = sight;
        let mounted = (1..).zip(&mounts).map(|(tree, mount)| (tree, PathBuf::new(), &*mount.name));
        let seen = (!is_blind).then_some((0, start, "/"));
        let (mut tops, mut open) = (Vec::new(), Vec::from_iter((0..TOP).map(OpenNode::Standard)));
        for (tree, path, name) in seen.into_iter().chain(mounted) {
            tops.push(name.to_owned());
            open.push(OpenNode::Folder(FolderHandle { tree, path: Some(path), listing: None }));
        }
        let open = (0..).zip(open).collect();
        Self {
            workspace,
            mounts,
            tops,
            top,
            may_write,
            writes_whole,
            max_open,
            open,
            shelters: ShelterSet::default(),
            quota,
            recorder,
        }
    }

    fn tree(&self, tree: usize) -> &Workspace {
        let mount = tree.checked_sub(1).and_then(|mount| self.mounts.get(mount));
        mount.map_or(&self.workspace, |mount| &mount.folder)
    }

    /// Closes everything, once the guest has ended.
    pub(super) fn end(&mut self) {
        // An operation that still waits for the lock finds nothing open, and changes nothing.
        self.open.clear();
        self.shelters.end();
    }

    fn touch(&self, place: &Path) {
        // Called before a change: the recorder keeps what stands there now.
        self.workspace.touch(&mut lock(&self.recorder), place);
    }

    fn opened(&self, place: &Path) {
        self.workspace.opened(&mut lock(&self.recorder), place);
    }

    pub(super) fn node(&self, fd: i32) -> Result<&OpenNode, CallError> {
        self.open.get(&fd.cast_unsigned()).ok_or(CallError::Errno(errno::BADF))
    }

    /// The guest's name for the folder that it has had by this descriptor from the start.
    pub(super) fn top_name(&self, fd: i32) -> Option<&str> {
        let is_folder = matches!(self.node(fd), Ok(OpenNode::Folder(_)));
        let number = usize::try_from(fd.cast_unsigned().checked_sub(TOP)?).ok()?;
        self.tops.get(number).map(String::as_str).filter(|_| is_folder)
    }

    fn folder(&mut self, fd: i32) -> Result<&mut FolderHandle, CallError> {
        match self.open.get_mut(&fd.cast_unsigned()) {
            Some(OpenNode::Folder(folder)) => Ok(folder),
            Some(OpenNode::File(_)) => Err(CallError::Errno(errno::NOTDIR)),
            Some(OpenNode::Standard(_)) | None => Err(CallError::Errno(errno::BADF)),
        }
    }

    fn file(&mut self, fd: i32) -> Result<&mut FileHandle, CallError> {
        match self.open.get_mut(&fd.cast_unsigned()) {
            Some(OpenNode::File(file)) => Ok(file),
            Some(OpenNode::Folder(_)) => Err(CallError::Errno(errno::ISDIR)),
            Some(OpenNode::Standard(_)) => Err(CallError::Errno(errno::SPIPE)),
            None => Err(CallError::Errno(errno::BADF)),
        }
    }

    /// The real path that a guest's path leads to, from an open folder on.
    fn place(&mut self, fd: i32, path: &str, follow: bool) -> Result<TreePath, CallError> {
        let &mut FolderHandle { tree, path: ref base, .. } = self.folder(fd)?;
        let base = base.clone().ok_or(errno::NOENT)?;
        let top = if tree == 0 { &self.top } else { Path::new("") };
        let path = self.tree(tree).follow((top, &base), path, follow)?;
        Ok(TreePath { tree, path })
    }

    /// The real path of something that is to be changed; `PERM` outside of the workspace.
    fn change(&mut self, fd: i32, path: &str, follow: bool) -> Result<PathBuf, CallError> {
        let place = self.place(fd, path, follow)?;
        if self.may_change(place.tree) {
            Ok(place.path)
        } else {
            Err(CallError::Errno(errno::PERM))
        }
    }

    const fn may_change(&self, tree: usize) -> bool {
        self.may_write && tree == 0
    }

    pub(super) fn open(&mut self, fd: i32, path: &str, how: OpenFlags) -> Result<u32, CallError> {
        let makes = how.create || how.exclusive || how.truncate;
        if how.directory && makes {
            return Err(CallError::Errno(errno::INVAL));
        }
        if self.open.len() >= self.max_open {
            return Err(CallError::End(ProgramExit::Limit(ExceededLimit::Files)));
        }
        // LOOP: a link was put in the way after the path was followed, so it is followed again.
        let mut node = Err(CallError::Errno(errno::LOOP));
        for _ in 0..TRIES {
            let place = self.place(fd, path, how.follow)?;
            node = self.open_at(&place, path, how);
            let is_disturbed = matches!(node, Err(CallError::Errno(errno::LOOP)));
            if !(is_disturbed && how.follow) {
                break;
            }
        }
        let node = node?;
        Ok(self.insert(node))
    }

    fn open_at(
        &mut self,
        place: &TreePath,
        path: &str,
        how: OpenFlags,
    ) -> Result<OpenNode, CallError> {
        let &TreePath { tree, path: ref place } = place;
        let access = FileAccess {
            write: how.write,
            create: how.create,
            exclusive: how.create && how.exclusive,
            truncate: how.truncate,
        };
        if access.changes() && !self.may_change(tree) {
            return Err(CallError::Errno(errno::PERM));
        }
        let found = match self.tree(tree).stat(place) {
            Ok(found) => Some(found),
            Err(Errno::NOENT) if how.create => None,
            Err(error) => return Err(error.into()),
        };
        match found.map(|found| found.kind) {
            Some(_) if access.exclusive => return Err(CallError::Errno(errno::EXIST)),
            Some(EntryKind::Folder) if access.changes() => {
                return Err(CallError::Errno(errno::ISDIR));
            }
            Some(EntryKind::Folder) => {
                let path = Some(place.clone());
                return Ok(OpenNode::Folder(FolderHandle { tree, path, listing: None }));
            }
            Some(EntryKind::Link) => return Err(CallError::Errno(errno::LOOP)),
            Some(EntryKind::Other) => return Err(CallError::Errno(errno::PERM)),
            Some(EntryKind::File) | None if how.directory || path.ends_with('/') => {
                return Err(CallError::Errno(errno::NOTDIR));
            }
            Some(EntryKind::File) | None => {}
        }
        if access.changes() {
            let entry = if found.is_none() { ENTRY_BYTES + length(place) } else { 0 };
            self.charge(place, entry)?;
            self.touch(place);
        }
        let quota = Arc::clone(&self.quota);
        let taken = &mut |bytes| quota.take_disk(bytes);
        let is_draft = self.writes_whole && access.truncate && !access.exclusive;
        let (draft, file) = if is_draft {
            let (draft, file) = self.workspace.draft(place)?;
            (Some(draft), file)
        } else {
            if access.truncate && found.is_some_and(|found| found.size > 0) {
                self.workspace.shelter(place, &mut self.shelters);
            }
            (None, self.tree(tree).open_file(place, access, taken)?)
        };
        if access.changes() && draft.is_none() {
            self.opened(place);
        }
        let reached = file.metadata()?.len();
        Ok(OpenNode::File(FileHandle {
            file: Arc::new(file),
            draft,
            tree,
            path: Some(place.clone()),
            reads: how.read,
            writes: how.write,
            appends: how.append,
            position: 0,
            reached,
        }))
    }

    fn insert(&mut self, node: OpenNode) -> u32 {
        // POSIX promises the lowest free number.
        let free = (0..).find(|number| !self.open.contains_key(number)).unwrap_or(u32::MAX);
        self.open.insert(free, node);
        free
    }

    pub(super) fn close(&mut self, fd: i32) -> Result<(), CallError> {
        match self.open.remove(&fd.cast_unsigned()) {
            Some(OpenNode::Folder(FolderHandle { listing: Some(listing), .. })) => {
                self.quota.give_back(listing.size());
                Ok(())
            }
            // A draft that was not synced goes with its file: the old content stays.
            Some(_) => Ok(()),
            None => Err(CallError::Errno(errno::BADF)),
        }
    }

    pub(super) fn renumber(&mut self, from: i32, to: i32) -> Result<(), CallError> {
        self.node(from)?;
        self.node(to)?;
        if from != to {
            self.close(to)?;
            if let Some(node) = self.open.remove(&from.cast_unsigned()) {
                self.open.insert(to.cast_unsigned(), node);
            }
        }
        Ok(())
    }

    /// Reads at most `len` bytes at `at`, or at the file's position, which moves on.
    pub(super) fn read(
        &mut self,
        fd: i32,
        len: usize,
        at: Option<u64>,
    ) -> Result<Vec<u8>, CallError> {
        let open = self.file(fd)?;
        if !open.reads {
            return Err(CallError::Errno(errno::BADF));
        }
        let mut bytes = vec![0; len];
        let count = open.file.read_at(&mut bytes, at.unwrap_or(open.position))?;
        bytes.truncate(count);
        if at.is_none() {
            open.position = open.position.saturating_add(count as u64);
        }
        Ok(bytes)
    }

    /// Reads a whole file of at most `most` bytes; `FBIG` if it is larger.
    pub(super) fn read_all(&mut self, fd: i32, most: u64) -> Result<Vec<u8>, CallError> {
        let open = self.file(fd)?;
        let length = open.file.metadata()?.len();
        if length > most {
            return Err(CallError::from(Errno::FBIG));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        (&*open.file).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the bytes at `at`, or at the file's position, which moves on.
    pub(super) fn write(
        &mut self,
        fd: i32,
        bytes: &[u8],
        at: Option<u64>,
    ) -> Result<usize, CallError> {
        let open = self.file(fd)?;
        if !open.writes {
            return Err(CallError::Errno(errno::BADF));
        }
        let mut start = at.unwrap_or(open.position);
        if start > open.reached || (open.appends && at.is_none()) {
            open.reached = open.file.metadata()?.len();
        }
        if open.appends && at.is_none() {
            start = open.reached;
        }
        // A gap behind the end counts as written. The charge comes first: no write can be undone.
        let gap = start.saturating_sub(open.reached);
        let file = Arc::clone(&open.file);
        self.charge_open(fd, (bytes.len() as u64).saturating_add(gap))?;
        // Refused while changes are shown or applied.
        let writing = self.workspace.writing()?;
        let written = file.write_at(bytes, start);
        drop(writing);
        let count = self.noted(fd, written)?;
        let end = start.saturating_add(count as u64);
        let open = self.file(fd)?;
        open.reached = open.reached.max(end);
        if at.is_none() {
            open.position = end;
        }
        Ok(count)
    }

    /// Reports a change of an open file, or its failure, to the workspace, and returns its result.
    fn noted<T>(&mut self, fd: i32, done: io::Result<T>) -> Result<T, CallError> {
        let done = done.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO));
        if let FileHandle { tree: 0, path: Some(path), .. } = self.file(fd)? {
            let path = path.clone();
            self.workspace.note_change(&path, &done);
            if done.is_err() {
                self.shelters.spoil(&path);
            }
        }
        Ok(done?)
    }

    pub(super) fn seek(
        &mut self,
        fd: i32,
        offset: i64,
        from: SeekOrigin,
    ) -> Result<u64, CallError> {
        let open = self.file(fd)?;
        let base = match from {
            SeekOrigin::Start => 0,
            SeekOrigin::Here => open.position,
            SeekOrigin::End => open.file.metadata()?.len(),
        };
        open.position = base.checked_add_signed(offset).ok_or(errno::INVAL)?;
        Ok(open.position)
    }

    pub(super) fn set_size(&mut self, fd: i32, size: u64) -> Result<(), CallError> {
        let open = self.file(fd)?;
        if !open.writes {
            return Err(CallError::Errno(errno::BADF));
        }
        let file = Arc::clone(&open.file);
        self.charge_open(fd, size.saturating_sub(file.metadata()?.len()))?;
        let writing = self.workspace.writing()?;
        let set = file.set_len(size);
        drop(writing);
        self.noted(fd, set)?;
        self.file(fd)?.reached = size;
        Ok(())
    }

    pub(super) fn set_appends(&mut self, fd: i32, appends: bool) -> Result<(), CallError> {
        self.file(fd)?.appends = appends;
        Ok(())
    }

    /// Waits until the content is on the disk. A draft then takes the place of its file.
    pub(super) fn sync(&mut self, fd: i32) -> Result<(), CallError> {
        let open = self.file(fd)?;
        let (file, path) = (Arc::clone(&open.file), open.path.clone());
        let Some(draft) = open.draft.take() else { return Ok(file.sync_all()?) };
        self.workspace.settle(draft, &file)?;
        path.iter().for_each(|path| self.opened(path));
        Ok(())
    }

    /// The attributes of an open file or folder; `None` for a standard stream.
    pub(super) fn stat_open(&mut self, fd: i32) -> Result<Option<PathStat>, CallError> {
        match self.node(fd)? {
            OpenNode::Standard(_) => Ok(None),
            OpenNode::Folder(folder) => {
                let path = folder.path.as_ref().ok_or(errno::NOENT)?;
                Ok(Some(self.tree(folder.tree).stat(path)?))
            }
            OpenNode::File(open) => Ok(Some(self.tree(open.tree).stat_file(&open.file)?)),
        }
    }

    pub(super) fn stat(
        &mut self,
        fd: i32,
        path: &str,
        follow: bool,
    ) -> Result<PathStat, CallError> {
        let TreePath { tree, path } = self.place(fd, path, follow)?;
        Ok(self.tree(tree).stat(&path)?)
    }

    pub(super) fn read_link(&mut self, fd: i32, path: &str) -> Result<Vec<u8>, CallError> {
        let TreePath { tree, path } = self.place(fd, path, false)?;
        let target = self.tree(tree).link_target(&path)?;
        Ok(target.into_os_string().into_encoded_bytes())
    }

    pub(super) fn create_folder(&mut self, fd: i32, path: &str) -> Result<(), CallError> {
        // With a slash at its end a path leads through a last link.
        let place = self.change(fd, path.trim_end_matches('/'), false)?;
        self.charge(&place, ENTRY_BYTES + length(&place))?;
        Ok(self.workspace.create_folder(&place)?)
    }

    pub(super) fn remove_folder(&mut self, fd: i32, path: &str) -> Result<(), CallError> {
        let place = self.change(fd, path.trim_end_matches('/'), false)?;
        self.workspace.remove_folder(&place)?;
        self.forget(&place);
        Ok(())
    }

    pub(super) fn remove_file(&mut self, fd: i32, path: &str) -> Result<(), CallError> {
        let place = self.change(fd, path, false)?;
        self.touch(&place);
        self.workspace.remove_file(&place)?;
        self.forget(&place);
        Ok(())
    }

    pub(super) fn link(&mut self, target: &str, fd: i32, path: &str) -> Result<(), CallError> {
        let place = self.change(fd, path, false)?;
        self.charge(&place, ENTRY_BYTES + length(&place) + target.len() as u64)?;
        self.touch(&place);
        Ok(self.workspace.link(Path::new(target), &place)?)
    }

    pub(super) fn rename(
        &mut self,
        (from_fd, from): (i32, &str),
        (to_fd, to): (i32, &str),
    ) -> Result<(), CallError> {
        let from = self.change(from_fd, from.trim_end_matches('/'), false)?;
        let to = self.change(to_fd, to.trim_end_matches('/'), false)?;
        let Self { workspace, recorder, quota, .. } = &*self;
        // Charged and noted under the workspace's lock, as soon as it is known what moves.
        let mut unpaid = None;
        let renamed = workspace.rename(&from, &to, |all| {
            let names = all.iter().map(|(below, _)| NAME_BYTES + length(&to) + length(below));
            let bytes = names.sum();
            if !quota.take_disk(bytes) {
                unpaid = Some(bytes);
                return Err(Errno::DQUOT);
            }
            workspace.touch_move(&mut lock(recorder), (&from, &to), all);
            Ok(())
        });
        if let Some(bytes) = unpaid {
            return Err(self.unpaid(&to, bytes));
        }
        renamed?;
        if from != to {
            self.forget(&to);
            self.moved(&from, &to);
        }
        Ok(())
    }

    /// Clears the paths of open files and folders at and below a removed place.
    fn forget(&mut self, place: &Path) {
        for path in self.paths() {
            if path.as_ref().is_some_and(|path| path.starts_with(place)) {
                *path = None;
            }
        }
    }

    fn moved(&mut self, from: &Path, to: &Path) {
        for path in self.paths() {
            let below = path.as_ref().and_then(|path| path.strip_prefix(from).ok());
            if let Some(below) = below.map(|below| at(to, below)) {
                *path = Some(below);
            }
        }
    }

    fn paths(&mut self) -> impl Iterator<Item = &mut Option<PathBuf>> {
        self.open.values_mut().filter_map(|node| match node {
            OpenNode::Folder(FolderHandle { tree: 0, path, .. })
            | OpenNode::File(FileHandle { tree: 0, path, .. }) => Some(path),
            _ => None,
        })
    }

    /// Charges the bytes of a change at a real path to the disk quotas.
    fn charge(&mut self, place: &Path, bytes: u64) -> Result<(), CallError> {
        if self.quota.take_disk(bytes) { Ok(()) } else { Err(self.unpaid(place, bytes)) }
    }

    /// Notes that the quotas had no room for so many bytes; returns the error that ends the run.
    fn unpaid(&mut self, place: &Path, bytes: u64) -> CallError {
        self.shelters.spoil(place);
        // The user hears of a tool that was cut off, and of a session without room. A program that
        // writes too much in one run is for the model to fix.
        if self.writes_whole || self.quota.is_session_used_up(bytes) {
            self.workspace.note_change::<()>(place, &Err(Errno::DQUOT));
        }
        CallError::End(ProgramExit::Limit(ExceededLimit::Disk))
    }

    fn charge_open(&mut self, fd: i32, bytes: u64) -> Result<(), CallError> {
        let place = self.file(fd)?.path.clone().unwrap_or_default();
        self.charge(&place, bytes)
    }
}

fn length(path: &Path) -> u64 {
    path.as_os_str().len() as u64
}

fn lock(recorder: &Mutex<ChangeRecorder>) -> MutexGuard<'_, ChangeRecorder> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}
