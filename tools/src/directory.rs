//! Files of a directory of the system. In the sandbox its root is `/`, and the host confines the
//! guest; elsewhere links are followed only as long as they stay below the root. That check does
//! not stop a process that swaps links meanwhile: untrusted code belongs in the sandbox.

use crate::{
    files::{Entry, FileError, Files, Kind, MAX_FILE_BYTES, Stat},
    path::WorkspacePath,
};
use std::{
    borrow::Cow,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

/// WASI's number for bytes that are not UTF-8.
const ILSEQ: i32 = 25;

/// The files below a directory.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The files below `root`, which exists.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: resolved(root.into()) }
    }

    /// The system's path of `path`, with its links resolved.
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
                // Below something that does not exist there are no links.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(fault(&error)),
            }
        }
        Ok(place)
    }

    /// The path as the sandbox's host reads it: the host resolves links and confines them.
    #[cfg(target_os = "wasi")]
    #[expect(clippy::unnecessary_wraps, reason = "outside of the sandbox it can fail")]
    fn locate(&self, path: &WorkspacePath) -> Result<PathBuf, FileError> {
        Ok(self.root.join(path.as_str()))
    }
}

impl Files for Directory {
    fn read(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, FileError> {
        let place = self.locate(path)?;
        // Before it is opened: opening a pipe blocks until somebody writes, in every sandbox whose
        // files are the system's own.
        let found = fs::metadata(&place).map_err(|error| fault(&error))?;
        check_file(&found)?;
        read_file(&place, found.len())
    }

    /// Writes in place: the file keeps its owner, mode and links, and the sandbox's quota and
    /// write protection see one plain write. A rename would need room for two copies and lose the
    /// mode, which WASI cannot set.
    fn write(&mut self, path: &WorkspacePath, bytes: Vec<u8>) -> Result<(), FileError> {
        let place = self.locate(path)?;
        match fs::metadata(&place) {
            Ok(found) if found.is_dir() => return Err(FileError::IsFolder),
            Ok(found) if !found.is_file() => return Err(FileError::NotRegular),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => create_above(&place)?,
            Err(error) => return Err(fault(&error)),
        }
        fs::write(&place, bytes).map_err(|error| fault(&error))
    }

    fn remove(&mut self, path: &WorkspacePath) -> Result<(), FileError> {
        let Some(folder) = path.parent() else { return Err(FileError::IsFolder) };
        // Removes the link itself, not its target.
        let place = self.locate(&folder)?.join(path.name());
        let found = fs::symlink_metadata(&place).map_err(|error| fault(&error))?;
        if found.is_dir() {
            return Err(FileError::IsFolder);
        }
        fs::remove_file(&place).map_err(|error| fault(&error))
    }

    fn stat(&self, path: &WorkspacePath) -> Result<Stat, FileError> {
        let found = fs::metadata(self.locate(path)?).map_err(|error| fault(&error))?;
        let kind = kind(found.file_type());
        let size = if kind == Kind::File { found.len() } else { 0 };
        Ok(Stat { kind, size, modified: modified(&found) })
    }

    fn list(&self, path: &WorkspacePath) -> Result<Vec<Entry>, FileError> {
        let entries = fs::read_dir(self.locate(path)?).map_err(|error| fault(&error))?;
        let mut list = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| fault(&error))?;
            // No call can name a file whose name is not UTF-8, so it is left out.
            if let (Ok(name), Ok(found)) = (entry.file_name().into_string(), entry.file_type()) {
                list.push(Entry { name, kind: kind(found) });
            }
        }
        Ok(list)
    }
}

/// The path without links; a root that cannot be resolved fails when it is used.
#[cfg(not(target_os = "wasi"))]
fn resolved(root: PathBuf) -> PathBuf {
    root.canonicalize().unwrap_or(root)
}

#[cfg(target_os = "wasi")]
const fn resolved(root: PathBuf) -> PathBuf {
    root
}

/// Reads up to the length that the file had when it was looked at. To ask for it again, or to
/// probe for the end, would be two of six calls out of the sandbox.
fn read_file(place: &Path, length: u64) -> Result<Cow<'static, [u8]>, FileError> {
    let file = fs::File::open(place).map_err(|error| fault(&error))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
    Ok(Cow::Owned(bytes))
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
        // Some systems only report that a file is where the folder should be.
        FileError::Io(_) if error.kind() == io::ErrorKind::AlreadyExists => FileError::NotFolder,
        fault => fault,
    })
}

/// Nanoseconds since 1970; 0 if the system does not know.
fn modified(found: &fs::Metadata) -> u64 {
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

fn kind(found: fs::FileType) -> Kind {
    if found.is_symlink() {
        Kind::Link
    } else if found.is_dir() {
        Kind::Folder
    } else if found.is_file() {
        Kind::File
    } else {
        Kind::Other
    }
}

fn fault(error: &io::Error) -> FileError {
    use io::ErrorKind as K;
    match error.kind() {
        K::NotFound => FileError::NotFound,
        K::PermissionDenied | K::ReadOnlyFilesystem => FileError::Denied,
        K::IsADirectory => FileError::IsFolder,
        K::NotADirectory => FileError::NotFolder,
        // What some runtimes say of a folder that holds such a name.
        _ if cfg!(target_os = "wasi") && error.raw_os_error() == Some(ILSEQ) => {
            FileError::Io("it holds a name that is not UTF-8, and cannot be listed here".to_owned())
        }
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge => FileError::Full,
        _ => FileError::Io(error.to_string()),
    }
}
