//! The files of a directory of the system. In the sandbox its root is `/`, and the host confines
//! the guest; elsewhere links are followed only as long as they stay below the root. That check
//! does not stop a process that swaps links meanwhile: untrusted code belongs in the sandbox. What
//! is written is there as a whole or not at all.

use crate::{
    files::{EntryKind, FileError, FileStat, FolderEntry, MAX_FILE_BYTES, WorkspaceFiles},
    path::WorkspacePath,
};
use std::{
    borrow::Cow,
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// WASI's number for bytes that are not UTF-8.
const ILSEQ: i32 = 25;

/// The variable of the guest's environment by which its host says that it puts a file that is
/// written anew in its place as a whole when that is synced, and keeps what was there until then.
pub const REPLACED_BY_HOST: &str = "INNERLOOP_REPLACED_BY_HOST";

/// The beginning and the end of the names of drafts, which are written beside a file to take its
/// place.
const DRAFT: &str = ".innerloop-";
const DRAFT_END: &str = ".tmp";

/// Returns whether a file of this name is a draft, written to take the place of another one in its
/// folder.
#[must_use]
pub fn is_draft(name: &str) -> bool {
    name.strip_prefix(DRAFT).is_some_and(|rest| rest.ends_with(DRAFT_END))
}

/// The maximum number of links that are followed, one after the other, to reach a file.
#[cfg(target_os = "wasi")]
const MAX_LINKS: usize = 40;
/// The maximum number of names that are tried for a file that is written beside another.
const MAX_NAMES: usize = 100;

/// The files below a directory.
#[derive(Clone, Debug)]
pub struct DirectoryFiles {
    root: PathBuf,
    is_replaced_by_host: bool,
    /// The function that lists a folder, if it is not the standard library's.
    lister: Option<FolderLister>,
}

/// A function that lists a folder of the system.
pub type FolderLister = fn(&Path) -> io::Result<Vec<FolderEntry>>;

impl DirectoryFiles {
    /// Opens the files below `root`, which must exist.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: resolved(root.into()), is_replaced_by_host: false, lister: None }
    }

    /// Sets the function that lists folders.
    #[must_use]
    pub fn listed_by(self, lister: FolderLister) -> Self {
        Self { lister: Some(lister), ..self }
    }

    /// Sets whether the host puts what is written in its place as a whole, as [`REPLACED_BY_HOST`]
    /// says.
    #[must_use]
    pub fn replaced_by_host(self, is_replaced_by_host: bool) -> Self {
        Self { is_replaced_by_host, ..self }
    }

    /// Returns the system's path of `path`, with its links resolved.
    #[cfg(not(target_os = "wasi"))]
    fn locate(&self, path: &WorkspacePath) -> Result<PathBuf, FileError> {
        let mut place = self.root.clone();
        for name in path.names() {
            place.push(name);
            match fs::symlink_metadata(&place) {
                Ok(found) if found.is_symlink() => {
                    place = place.canonicalize().map_err(|error| fault(&error))?;
                    if !place.starts_with(&self.root) {
                        return Err(FileError::Denied);
                    }
                }
                Ok(_) => {}
                // Nothing is below it yet, so there are no links to follow.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(fault(&error)),
            }
        }
        Ok(place)
    }

    /// Returns the path as the sandbox's host reads it: the host resolves links and confines them.
    #[cfg(target_os = "wasi")]
    #[expect(clippy::unnecessary_wraps, reason = "outside of the sandbox it can fail")]
    fn locate(&self, path: &WorkspacePath) -> Result<PathBuf, FileError> {
        Ok(self.root.join(path.as_str()))
    }
}

impl WorkspaceFiles for DirectoryFiles {
    fn read(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, FileError> {
        let place = self.locate(path)?;
        // Looked at before it is opened: opening a pipe blocks until somebody writes, in every
        // sandbox whose files are the system's own.
        let found = fs::metadata(&place).map_err(|error| fault(&error))?;
        check_file(&found)?;
        read_file(&place, found.len())
    }

    /// Writes the file as a whole or not at all: whatever stops it leaves what was there.
    fn write(&mut self, path: &WorkspacePath, bytes: Vec<u8>) -> Result<(), FileError> {
        let place = self.locate(path)?;
        let replaced = match fs::metadata(&place) {
            Ok(found) if found.is_dir() => return Err(FileError::IsFolder),
            Ok(found) if !found.is_file() => return Err(FileError::NotRegular),
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_above(&place)?;
                None
            }
            Err(error) => return Err(fault(&error)),
        };
        // A draft of the guest's own would only be a second copy: this host shows nothing before
        // the file is synced.
        let written = if self.is_replaced_by_host {
            fs::File::create(&place).and_then(|file| fill(file, &bytes))
        } else {
            behind_links(place).and_then(|place| write_beside(&place, replaced.as_ref(), &bytes))
        };
        written.map_err(|error| fault(&error))
    }

    fn remove(&mut self, path: &WorkspacePath) -> Result<(), FileError> {
        let Some(folder) = path.parent() else { return Err(FileError::IsFolder) };
        // Only the folder is resolved, so that a link is removed and not its target.
        let place = self.locate(&folder)?.join(path.name());
        let found = fs::symlink_metadata(&place).map_err(|error| fault(&error))?;
        if found.is_dir() {
            return Err(FileError::IsFolder);
        }
        fs::remove_file(&place).map_err(|error| fault(&error))
    }

    fn move_to(
        &mut self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        bytes: Vec<u8>,
    ) -> Result<bool, FileError> {
        let (old, new) = (self.locate(from)?, self.locate(to)?);
        let is_link = |place: &Path| fs::symlink_metadata(place).is_ok_and(|it| it.is_symlink());
        // A rename would move or replace the link instead of the file behind it.
        if is_link(&old) || is_link(&new) || new.is_dir() {
            return self.write(to, bytes).map(|()| false);
        }
        create_above(&new)?;
        // Written at its old path, where the permissions are, and then moved with them.
        self.write(from, bytes)?;
        fs::rename(&old, &new).map(|()| true).map_err(|error| fault(&error))
    }

    fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileError> {
        let found = fs::metadata(self.locate(path)?).map_err(|error| fault(&error))?;
        let kind = kind(found.file_type());
        let size = if kind == EntryKind::File { found.len() } else { 0 };
        Ok(FileStat { kind, size, modified: modified(&found) })
    }

    fn list(&self, path: &WorkspacePath) -> Result<Vec<FolderEntry>, FileError> {
        if let Some(list) = self.lister {
            return list(&self.locate(path)?).map_err(|error| fault(&error));
        }
        let entries = fs::read_dir(self.locate(path)?).map_err(|error| fault(&error))?;
        let mut list = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| fault(&error))?;
            let Ok(found) = entry.file_type() else { continue };
            list.push(match entry.file_name().into_string() {
                Ok(name) => FolderEntry { name, kind: kind(found) },
                Err(name) => FolderEntry::unnameable(name.to_string_lossy().into_owned()),
            });
        }
        Ok(list)
    }
}

/// Returns the path without links. A root that cannot be resolved fails when it is used.
#[cfg(not(target_os = "wasi"))]
fn resolved(root: PathBuf) -> PathBuf {
    root.canonicalize().unwrap_or(root)
}

#[cfg(target_os = "wasi")]
const fn resolved(root: PathBuf) -> PathBuf {
    root
}

/// Reads up to the length that the file had when it was looked at. Asking for it again, or probing
/// for the end, would be two of six calls out of the sandbox.
fn read_file(place: &Path, length: u64) -> Result<Cow<'static, [u8]>, FileError> {
    let file = fs::File::open(place).map_err(|error| fault(&error))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
    Ok(Cow::Owned(bytes))
}

fn fill(mut file: fs::File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// Writes a draft beside the place, syncs it, and moves it there.
fn write_beside(place: &Path, replaced: Option<&fs::Metadata>, bytes: &[u8]) -> io::Result<()> {
    let (draft, file) = create_beside(place)?;
    let moved = dress(&file, replaced)
        .and_then(|()| fill(file, bytes))
        .and_then(|()| fs::rename(&draft, place));
    if moved.is_err() {
        let _gone = fs::remove_file(&draft);
    }
    moved
}

/// Creates a new file in the folder of another.
fn create_beside(place: &Path) -> io::Result<(PathBuf, fs::File)> {
    let mut created = Err(io::ErrorKind::AlreadyExists.into());
    for number in 0..MAX_NAMES {
        let draft = place.with_file_name(format!("{DRAFT}{number}{DRAFT_END}"));
        // Never one that is there: it may be the draft of another program, or one that a killed
        // program has left.
        created = fs::File::create_new(&draft).map(|file| (draft, file));
        if !matches!(&created, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    created
}

/// Gives a file the permissions of what it replaces.
#[cfg(not(target_os = "wasi"))]
fn dress(file: &fs::File, replaced: Option<&fs::Metadata>) -> io::Result<()> {
    replaced.map_or(Ok(()), |replaced| file.set_permissions(replaced.permissions()))
}

/// Does nothing: a guest has no permissions, and its host sets them.
#[cfg(target_os = "wasi")]
#[expect(clippy::unnecessary_wraps, reason = "outside of the sandbox it can fail")]
const fn dress(_file: &fs::File, _replaced: Option<&fs::Metadata>) -> io::Result<()> {
    Ok(())
}

/// Returns where the links at a path lead in the end. A file that is moved to the path itself would
/// take the place of a link.
#[cfg(target_os = "wasi")]
fn behind_links(mut place: PathBuf) -> io::Result<PathBuf> {
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(target) => place = place.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Returns the place as it is: its links are resolved already.
#[cfg(not(target_os = "wasi"))]
#[expect(clippy::unnecessary_wraps, reason = "in the sandbox it can fail")]
const fn behind_links(place: PathBuf) -> io::Result<PathBuf> {
    Ok(place)
}

fn check_file(found: &fs::Metadata) -> Result<(), FileError> {
    if found.is_dir() {
        Err(FileError::IsFolder)
    } else if !found.is_file() {
        Err(FileError::NotRegular)
    } else if found.len() > MAX_FILE_BYTES {
        Err(FileError::TooLarge)
    } else {
        Ok(())
    }
}

fn create_above(place: &Path) -> Result<(), FileError> {
    let Some(above) = place.parent() else { return Ok(()) };
    fs::create_dir_all(above).map_err(|error| match fault(&error) {
        // Some systems only report that something is there already.
        FileError::Io(_) if error.kind() == io::ErrorKind::AlreadyExists => FileError::NotFolder,
        fault => fault,
    })
}

/// Returns the time of the last write in nanoseconds since 1970; 0 if the system does not know it.
fn modified(found: &fs::Metadata) -> u64 {
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

fn kind(found: fs::FileType) -> EntryKind {
    if found.is_symlink() {
        EntryKind::Link
    } else if found.is_dir() {
        EntryKind::Folder
    } else if found.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}

fn fault(error: &io::Error) -> FileError {
    use io::ErrorKind as K;
    match error.kind() {
        K::NotFound => FileError::NotFound,
        K::PermissionDenied | K::ReadOnlyFilesystem => FileError::Denied,
        K::IsADirectory => FileError::IsFolder,
        K::NotADirectory => FileError::NotFolder,
        // Some runtimes report this for a folder that holds such a name.
        _ if cfg!(target_os = "wasi") && error.raw_os_error() == Some(ILSEQ) => {
            FileError::Io("it holds a name that is not UTF-8, and cannot be listed here".to_owned())
        }
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge => FileError::Full,
        _ => FileError::Io(error.to_string()),
    }
}
