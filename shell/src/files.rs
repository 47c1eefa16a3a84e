//! The file system that bashkit sees: the workspace is `/`, reached by WASI, where the host judges
//! every path. Beside it stand what no workspace has: devices, and a `/tmp` if the workspace has
//! none.

use crate::{
    builtins::nesting,
    fifos::FifoTable,
    host::{self, FileStat, make_link},
    listed::ListingCache,
    system::{self, SystemEntry},
    temporary::{self, TmpEntry},
    turns,
};
use bashkit::{
    DirEntry, FileSystem, FileSystemExt, FileType, InMemoryFs, Metadata, Result, async_trait,
};
use innerloop_json::Map;
use innerloop_shell_protocol::TmpPolicy;
use std::{
    collections::{BTreeSet, HashMap},
    fs,
    io::{self, ErrorKind, Write},
    path::{Component, Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

/// The path at which every program expects a folder for temporary files.
const TMP: &str = "/tmp";

/// The bits of a mode that are permissions.
const ALL_BITS: u32 = 0o7777;

/// The files of the workspace, the devices, and `/tmp`.
pub(crate) struct ShellFileSystem {
    /// The `/tmp` that is kept in memory.
    scratch: InMemoryFs,
    /// The policy for `/tmp`; `None` if the workspace has one.
    tmp: Option<TmpPolicy>,
    /// The paths that earlier command lines have left in it.
    left: Mutex<BTreeSet<PathBuf>>,
    fifos: FifoTable,
    /// The commands that have a file.
    commands: OnceLock<BTreeSet<String>>,
    /// The modes that `chmod` has set and the host can't store.
    modes: Mutex<HashMap<PathBuf, u32>>,
    listed: ListingCache,
}

/// The place that a path leads to.
enum PathTarget<'a> {
    System(SystemEntry),
    Fifo(&'a FifoTable),
    Scratch(&'a InMemoryFs),
    Workspace,
}

impl ShellFileSystem {
    /// Creates the file system over the files that the host gives.
    pub(crate) fn new(tmp: TmpPolicy) -> Self {
        let is_free = host::stat(TMP).is_err();
        Self {
            scratch: InMemoryFs::new(),
            tmp: is_free.then_some(tmp),
            left: Mutex::default(),
            fifos: FifoTable::default(),
            commands: OnceLock::new(),
            modes: Mutex::default(),
            listed: ListingCache::default(),
        }
    }

    /// Returns the modes that `chmod` has set, by path.
    pub(crate) fn modes_by_name(&self) -> Map<u32> {
        let mut modes = Map::new();
        for (path, mode) in &*self.modes() {
            modes.insert(path.to_string_lossy().into_owned(), *mode);
        }
        modes
    }

    /// Restores the modes that `chmod` has set in an earlier call.
    pub(crate) fn restore_modes(&self, modes: &Map<u32>) {
        self.modes().extend(modes.iter().map(|(path, mode)| (PathBuf::from(path), *mode)));
    }

    /// Forgets what was listed, since programs may have changed it.
    pub(crate) fn forget_lists(&self) {
        self.listed.forget();
    }

    /// Sets the commands that have a file, once they are known.
    pub(crate) fn name_commands(&self, commands: Vec<String>) {
        let _first = self.commands.set(system::programs(commands));
    }

    fn place(&self, path: &Path) -> (PathBuf, PathTarget<'_>) {
        let path = normal(path);
        // The system comes first, and it only stands where the workspace has nothing.
        let system = self.commands.get().and_then(|commands| SystemEntry::at(&path, commands));
        if let Some(system) = system {
            return (path, PathTarget::System(system));
        }
        if self.fifos.has(&path) {
            return (path, PathTarget::Fifo(&self.fifos));
        }
        if path.starts_with(TMP) && self.is_in_memory(&path) {
            return (path, PathTarget::Scratch(&self.scratch));
        }
        (path, PathTarget::Workspace)
    }

    /// Returns whether a path below `/tmp` is in memory: every one if the policy says so, else
    /// those that earlier command lines have left there, where the workspace has nothing of that
    /// name.
    fn is_in_memory(&self, path: &Path) -> bool {
        if self.tmp == Some(TmpPolicy::Own) {
            return true;
        }
        let left = self.left();
        let is_left = match path.parent() {
            _ if path == Path::new(TMP) => self.tmp == Some(TmpPolicy::Needed) && !left.is_empty(),
            above => left.contains(path) || above.is_some_and(|above| left.contains(above)),
        };
        drop(left);
        is_left && text(path).is_ok_and(|path| host::stat(path).is_err())
    }

    /// Restores what earlier command lines have left in `/tmp` in memory.
    pub(crate) async fn take_up(&self, kept: &[TmpEntry]) {
        let left = temporary::restored(&self.scratch, kept).await;
        self.left().extend(left);
    }

    /// Returns the content of `/tmp` in memory.
    pub(crate) async fn temporary(&self) -> Vec<TmpEntry> {
        temporary::kept(&self.scratch, Path::new(TMP)).await
    }

    fn left(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the workspace's `/tmp` before something is put into it, since every program expects
    /// that folder.
    fn make_way(&self, path: &Path) {
        if matches!(self.tmp, Some(TmpPolicy::Needed | TmpPolicy::Both))
            && path.parent() == Some(Path::new(TMP))
        {
            // If it can't be created, the operation that follows fails and says why.
            let _is_there = fs::create_dir(TMP);
        }
    }

    /// Sets a mode. What the host can't store of it is kept here.
    fn set_mode(&self, path: PathBuf, mode: u32) -> Result<()> {
        let kept = match host::set_mode(text(&path)?, mode) {
            Ok(()) => u32::from(host::stat(text(&path)?)?.mode),
            Err(error) if error.kind() == ErrorKind::Unsupported => mode ^ ALL_BITS,
            Err(error) => return Err(error.into()),
        };
        if (kept ^ mode) & ALL_BITS == 0 {
            self.modes().remove(&path);
        } else {
            self.modes().insert(path, mode);
        }
        Ok(())
    }

    fn metadata(&self, path: &Path, about: &FileStat) -> Metadata {
        let file_type = match about.kind {
            3 => FileType::Directory,
            7 => FileType::Symlink,
            _ => FileType::File,
        };
        let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(about.modified);
        let mode = self.modes().get(path).copied().unwrap_or_else(|| u32::from(about.mode));
        Metadata { file_type, size: about.size, mode, modified, created: modified }
    }

    /// Returns the metadata of what stands at a path of the workspace, even if it is a link.
    fn look(&self, path: &Path) -> Result<Metadata> {
        if let Some(about) = self.listed.about(path) {
            return Ok(self.metadata(path, &about));
        }
        let about = host::stat(text(path)?)?;
        Ok(self.metadata(path, &about))
    }

    /// Brings what stands at a path to another store, and returns what is still to be brought: what
    /// is in a folder.
    async fn carry(&self, from: &Path, to: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
        let about = self.stat(from).await?;
        match about.file_type {
            FileType::Directory => {
                self.mkdir(to, false).await?;
                let names = self.read_dir(from).await?.into_iter().map(|entry| entry.name);
                return Ok(names.map(|name| (from.join(&name), to.join(&name))).collect());
            }
            FileType::Symlink => self.symlink(&self.read_link(from).await?, to).await?,
            _ => {
                self.copy(from, to).await?;
                // What is moved brings its mode, where a copy leaves what was there as it was.
                if self.stat(to).await?.mode != about.mode {
                    self.chmod(to, about.mode).await?;
                }
            }
        }
        Ok(Vec::new())
    }

    fn modes(&self) -> MutexGuard<'_, HashMap<PathBuf, u32>> {
        self.modes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a path from the root on, without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            _ => {}
        }
    }
    normal
}

#[async_trait]
impl FileSystem for ShellFileSystem {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        if nesting::is_deep() {
            // Said here, since bashkit takes every error for a script that is not there.
            let _told = writeln!(io::stderr(), "bash: {}: {}", path.display(), nesting::TOO_DEEP);
            return Err(io::Error::other(nesting::TOO_DEEP).into());
        }
        // The reader may be a command that never ends, so that earlier output goes out first.
        turns::give().await;
        match self.place(path) {
            (_, PathTarget::System(system)) => system.read(),
            (path, PathTarget::Fifo(fifos)) => Ok(fifos.read(&path).await),
            (path, PathTarget::Scratch(scratch)) => scratch.read_file(&path).await,
            (path, PathTarget::Workspace) => Ok(host::read(text(&path)?)?),
        }
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.listed.forget();
        match self.place(path) {
            (_, PathTarget::System(system)) => system.write(),
            (path, PathTarget::Fifo(fifos)) => {
                fifos.write(&path, content);
                Ok(())
            }
            (path, PathTarget::Scratch(scratch)) => scratch.write_file(&path, content).await,
            (path, PathTarget::Workspace) => {
                self.make_way(&path);
                Ok(fs::write(path, content)?)
            }
        }
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.listed.forget();
        match self.place(path) {
            (_, PathTarget::System(system)) => system.write(),
            (path, PathTarget::Fifo(fifos)) => {
                fifos.write(&path, content);
                Ok(())
            }
            (path, PathTarget::Scratch(scratch)) => scratch.append_file(&path, content).await,
            (path, PathTarget::Workspace) => {
                self.make_way(&path);
                let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
                Ok(file.write_all(content)?)
            }
        }
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        self.listed.forget();
        match self.place(path) {
            (_, PathTarget::System(_)) if recursive => Ok(()),
            (_, PathTarget::System(_) | PathTarget::Fifo(_)) => {
                Err(io::Error::from(ErrorKind::AlreadyExists).into())
            }
            (path, PathTarget::Scratch(scratch)) => scratch.mkdir(&path, recursive).await,
            (path, PathTarget::Workspace) if recursive => Ok(fs::create_dir_all(path)?),
            (path, PathTarget::Workspace) => {
                self.make_way(&path);
                Ok(fs::create_dir(path)?)
            }
        }
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        self.listed.forget();
        match self.place(path) {
            (_, PathTarget::System(system)) => Err(system.refused()),
            (path, PathTarget::Fifo(fifos)) => {
                fifos.remove(&path);
                Ok(())
            }
            (path, PathTarget::Scratch(scratch)) => scratch.remove(&path, recursive).await,
            (path, PathTarget::Workspace) => {
                let is_folder = fs::symlink_metadata(&path)?.is_dir();
                match (is_folder, recursive) {
                    (true, true) => fs::remove_dir_all(&path),
                    (true, false) => fs::remove_dir(&path),
                    (false, _) => fs::remove_file(&path),
                }?;
                // A file that is created there later has a mode of its own.
                self.modes().retain(|kept, _| !kept.starts_with(&path));
                Ok(())
            }
        }
    }

    /// Returns the metadata of a path, even if it is a link: bashkit follows links itself, here and
    /// in `/tmp`.
    async fn stat(&self, path: &Path) -> Result<Metadata> {
        match self.place(path) {
            (_, PathTarget::System(system)) => Ok(system.metadata()),
            (_, PathTarget::Fifo(_)) => Ok(FifoTable::metadata()),
            (path, PathTarget::Scratch(scratch)) => scratch.stat(&path).await,
            (path, PathTarget::Workspace) => self.look(&path),
        }
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        match self.place(path) {
            (_, PathTarget::System(system)) => {
                system.entries(self.commands.get().unwrap_or(&BTreeSet::new()))
            }
            (_, PathTarget::Fifo(_)) => Err(io::Error::from(ErrorKind::NotADirectory).into()),
            (path, PathTarget::Scratch(scratch)) => scratch.read_dir(&path).await,
            (path, PathTarget::Workspace) => {
                let entries = host::list(text(&path)?)?;
                self.listed.keep(&path, &entries);
                let entries = entries.into_iter().map(|(name, about)| {
                    let metadata = self.metadata(&path.join(&name), &about);
                    DirEntry { name, metadata }
                });
                let mut entries: Vec<DirEntry> = entries.collect();
                if path == Path::new(TMP) && !self.left().is_empty() {
                    let more = self.scratch.read_dir(&path).await?;
                    let names: BTreeSet<String> =
                        entries.iter().map(|entry| entry.name.clone()).collect();
                    entries.extend(more.into_iter().filter(|entry| !names.contains(&entry.name)));
                }
                Ok(entries)
            }
        }
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        match self.place(path) {
            (_, PathTarget::System(_) | PathTarget::Fifo(_)) => Ok(true),
            (path, PathTarget::Scratch(scratch)) => scratch.exists(&path).await,
            (path, PathTarget::Workspace) => Ok(host::stat(text(&path)?).is_ok()),
        }
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.listed.forget();
        match (self.place(from), self.place(to)) {
            ((from, PathTarget::Workspace), (to, PathTarget::Workspace)) => {
                self.make_way(&to);
                fs::rename(&from, &to)?;
                let mut modes = self.modes();
                let moved = modes.remove(&from);
                modes.remove(&to);
                modes.extend(moved.map(|mode| (to, mode)));
                Ok(())
            }
            ((from, PathTarget::Scratch(scratch)), (to, PathTarget::Scratch(_))) => {
                scratch.rename(&from, &to).await
            }
            ((_, PathTarget::System(system)), _) | (_, (_, PathTarget::System(system))) => {
                Err(system.refused())
            }
            ((from, _), (to, _)) => {
                // No rename goes from one store to another.
                let mut waiting = vec![(from.clone(), to)];
                while let Some((from, to)) = waiting.pop() {
                    waiting.extend(self.carry(&from, &to).await?);
                }
                self.remove(&from, true).await
            }
        }
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.listed.forget();
        let content = self.read_file(from).await?;
        let is_new = !self.exists(to).await?;
        self.write_file(to, &content).await?;
        let mode = self.stat(from).await?.mode;
        // An existing file keeps its mode.
        if is_new && self.stat(to).await?.mode != mode {
            self.chmod(to, mode).await?;
        }
        Ok(())
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        self.listed.forget();
        match self.place(link) {
            (_, PathTarget::System(system)) => Err(system.refused()),
            (_, PathTarget::Fifo(_)) => Err(io::Error::from(ErrorKind::AlreadyExists).into()),
            (link, PathTarget::Scratch(scratch)) => scratch.symlink(target, &link).await,
            (link, PathTarget::Workspace) => {
                self.make_way(&link);
                Ok(make_link(text(target)?, text(&link)?)?)
            }
        }
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        match self.place(path) {
            (_, PathTarget::System(_) | PathTarget::Fifo(_)) => {
                Err(io::Error::from(ErrorKind::InvalidInput).into())
            }
            (path, PathTarget::Scratch(scratch)) => scratch.read_link(&path).await,
            (path, PathTarget::Workspace) => Ok(fs::read_link(path)?),
        }
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        self.listed.forget();
        match self.place(path) {
            (_, PathTarget::System(system)) => Err(system.refused()),
            (_, PathTarget::Fifo(_)) => Ok(()),
            (path, PathTarget::Scratch(scratch)) => scratch.chmod(&path, mode).await,
            (path, PathTarget::Workspace) => {
                fs::metadata(&path)?;
                self.set_mode(path, mode)
            }
        }
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        self.listed.forget();
        match self.place(path) {
            (_, PathTarget::System(_) | PathTarget::Fifo(_)) => Ok(()),
            (path, PathTarget::Scratch(scratch)) => scratch.set_modified_time(&path, time).await,
            (path, PathTarget::Workspace) => {
                // A folder can't be opened for writing.
                let is_folder = fs::metadata(&path)?.is_dir();
                let file = fs::OpenOptions::new().read(is_folder).write(!is_folder).open(path)?;
                Ok(file.set_modified(time)?)
            }
        }
    }
}

#[async_trait]
impl FileSystemExt for ShellFileSystem {
    async fn mkfifo(&self, path: &Path, _mode: u32) -> Result<()> {
        let path = normal(path);
        if self.exists(&path).await? {
            return Err(io::Error::from(ErrorKind::AlreadyExists).into());
        }
        self.fifos.add(path);
        Ok(())
    }
}

/// A path as text.
fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| ErrorKind::InvalidInput.into())
}
