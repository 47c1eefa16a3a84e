//! The workspace as bashkit sees it: its root is `/`, and all of it is reached by WASI, where the
//! host judges every path. What no workspace has stands beside it: devices, and a `/tmp` in memory
//! where the workspace has none of its own.

use crate::{devices::Device, host::make_link};
use bashkit::{
    DirEntry, Error, FileSystem, FileSystemExt, FileType, InMemoryFs, Metadata, Result, async_trait,
};
use std::{
    collections::HashMap,
    fs,
    io::{self, ErrorKind, Write},
    path::{Component, Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

/// The files of the workspace, the devices, and `/tmp`.
pub(crate) struct Files {
    /// Where the workspace has no `/tmp`.
    scratch: Option<InMemoryFs>,
    /// What `chmod` said, which WASI has no place for.
    modes: Mutex<HashMap<PathBuf, u32>>,
}

/// Where a path leads.
enum Place<'a> {
    Device(Device),
    Scratch(&'a InMemoryFs),
    Workspace,
}

impl Files {
    /// The files that the host gives.
    pub(crate) fn new() -> Self {
        let has_own = fs::symlink_metadata("/tmp").is_ok();
        Self { scratch: (!has_own).then(InMemoryFs::new), modes: Mutex::default() }
    }

    fn place(&self, path: &Path) -> (PathBuf, Place<'_>) {
        let path = normal(path);
        if let Some(device) = Device::at(&path) {
            return (path, Place::Device(device));
        }
        match &self.scratch {
            Some(scratch) if path.starts_with("/tmp") => (path, Place::Scratch(scratch)),
            _ => (path, Place::Workspace),
        }
    }

    fn mode(&self, path: &Path, kind: FileType) -> u32 {
        let modes = self.modes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let usual = || match kind {
            FileType::Directory => 0o755,
            FileType::Symlink => 0o777,
            _ if begins_a_script(path) => 0o755,
            _ => 0o644,
        };
        modes.get(path).copied().unwrap_or_else(usual)
    }

    fn metadata(&self, path: &Path, found: &fs::Metadata) -> Metadata {
        let kind = match found.file_type() {
            kind if kind.is_dir() => FileType::Directory,
            kind if kind.is_symlink() => FileType::Symlink,
            _ => FileType::File,
        };
        let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let mode = self.mode(path, kind);
        Metadata { file_type: kind, size: found.len(), mode, modified, created: modified }
    }
}

/// A path from the root on, without `.` and `..`.
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

/// Whether a file says on its first line what runs it.
fn begins_a_script(path: &Path) -> bool {
    let is_likely = match path.extension().and_then(|end| end.to_str()) {
        None => true,
        Some(end) => matches!(end, "sh" | "bash" | "py" | "js" | "mjs" | "pl" | "rb" | "awk"),
    };
    let mut start = [0; 2];
    is_likely
        && fs::File::open(path)
            .and_then(|mut file| io::Read::read_exact(&mut file, &mut start))
            .is_ok_and(|()| start == *b"#!")
}

fn refused(words: &str) -> Error {
    io::Error::new(ErrorKind::PermissionDenied, words.to_owned()).into()
}

#[async_trait]
impl FileSystem for Files {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        match self.place(path) {
            (_, Place::Device(device)) => Ok(device.read()),
            (path, Place::Scratch(scratch)) => scratch.read_file(&path).await,
            (path, Place::Workspace) => Ok(fs::read(path)?),
        }
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        match self.place(path) {
            (_, Place::Device(_)) => Ok(()),
            (path, Place::Scratch(scratch)) => scratch.write_file(&path, content).await,
            (path, Place::Workspace) => Ok(fs::write(path, content)?),
        }
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        match self.place(path) {
            (_, Place::Device(_)) => Ok(()),
            (path, Place::Scratch(scratch)) => scratch.append_file(&path, content).await,
            (path, Place::Workspace) => {
                let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
                Ok(file.write_all(content)?)
            }
        }
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        match self.place(path) {
            (_, Place::Device(_)) => Err(io::Error::from(ErrorKind::AlreadyExists).into()),
            (path, Place::Scratch(scratch)) => scratch.mkdir(&path, recursive).await,
            (path, Place::Workspace) if recursive => Ok(fs::create_dir_all(path)?),
            (path, Place::Workspace) => Ok(fs::create_dir(path)?),
        }
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        match self.place(path) {
            (_, Place::Device(_)) => Err(refused("it is a device")),
            (path, Place::Scratch(scratch)) => scratch.remove(&path, recursive).await,
            (path, Place::Workspace) => {
                let is_folder = fs::symlink_metadata(&path)?.is_dir();
                let removed = match (is_folder, recursive) {
                    (true, true) => fs::remove_dir_all(path),
                    (true, false) => fs::remove_dir(path),
                    (false, _) => fs::remove_file(path),
                };
                Ok(removed?)
            }
        }
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        match self.place(path) {
            (_, Place::Device(_)) => Ok(Metadata { mode: 0o666, ..Metadata::default() }),
            (path, Place::Scratch(scratch)) => scratch.stat(&path).await,
            (path, Place::Workspace) => Ok(self.metadata(&path, &fs::metadata(&path)?)),
        }
    }

    async fn lstat(&self, path: &Path) -> Result<Metadata> {
        match self.place(path) {
            (path, Place::Scratch(scratch)) => scratch.lstat(&path).await,
            (path, Place::Workspace) => Ok(self.metadata(&path, &fs::symlink_metadata(&path)?)),
            (path, Place::Device(_)) => self.stat(&path).await,
        }
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        match self.place(path) {
            (_, Place::Device(_)) => Err(io::Error::from(ErrorKind::NotADirectory).into()),
            (path, Place::Scratch(scratch)) => scratch.read_dir(&path).await,
            (path, Place::Workspace) => {
                let mut entries = Vec::new();
                for entry in fs::read_dir(&path)? {
                    let entry = entry?;
                    let metadata = self.metadata(&entry.path(), &entry.metadata()?);
                    let name = entry.file_name().to_string_lossy().into_owned();
                    entries.push(DirEntry { name, metadata });
                }
                Ok(entries)
            }
        }
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        match self.place(path) {
            (_, Place::Device(_)) => Ok(true),
            (path, Place::Scratch(scratch)) => scratch.exists(&path).await,
            (path, Place::Workspace) => Ok(fs::metadata(path).is_ok()),
        }
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        match (self.place(from), self.place(to)) {
            ((from, Place::Workspace), (to, Place::Workspace)) => Ok(fs::rename(from, to)?),
            ((from, Place::Scratch(scratch)), (to, Place::Scratch(_))) => {
                scratch.rename(&from, &to).await
            }
            ((_, Place::Device(_)), _) | (_, (_, Place::Device(_))) => {
                Err(refused("it is a device"))
            }
            ((from, _), (to, _)) => {
                self.copy(&from, &to).await?;
                self.remove(&from, false).await
            }
        }
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let content = self.read_file(from).await?;
        self.write_file(to, &content).await?;
        let modes = self.modes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        match modes.get(&normal(from)) {
            Some(mode) => self.chmod(to, *mode).await,
            None => Ok(()),
        }
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        match self.place(link) {
            (_, Place::Device(_)) => Err(refused("it is a device")),
            (link, Place::Scratch(scratch)) => scratch.symlink(target, &link).await,
            (link, Place::Workspace) => Ok(make_link(text(target)?, text(&link)?)?),
        }
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        match self.place(path) {
            (_, Place::Device(_)) => Err(io::Error::from(ErrorKind::InvalidInput).into()),
            (path, Place::Scratch(scratch)) => scratch.read_link(&path).await,
            (path, Place::Workspace) => Ok(fs::read_link(path)?),
        }
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        match self.place(path) {
            (_, Place::Device(_)) => Err(refused("it is a device")),
            (path, Place::Scratch(scratch)) => scratch.chmod(&path, mode).await,
            (path, Place::Workspace) => {
                fs::metadata(&path)?;
                let mut modes =
                    self.modes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                modes.insert(path, mode);
                Ok(())
            }
        }
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        match self.place(path) {
            (_, Place::Device(_)) => Ok(()),
            (path, Place::Scratch(scratch)) => scratch.set_modified_time(&path, time).await,
            (path, Place::Workspace) => {
                let file = fs::OpenOptions::new().write(true).open(path)?;
                Ok(file.set_modified(time)?)
            }
        }
    }
}

impl FileSystemExt for Files {}

/// A path as text.
fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| ErrorKind::InvalidInput.into())
}
