//! The workspace's files for those of the tools' own functions that need nothing faster, read-only
//! and by the workspace's handle. A link is followed as long as it stays inside. Errors are
//! translated to those that the tools have words for.

use super::stop::StopFlag;
use crate::{PathStat, Workspace, platform::Errno};
use innerloop_tools::{
    EntryKind, FileError, FileStat, FolderEntry, MAX_FILE_BYTES, WorkspaceFiles, WorkspacePath,
};
use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The number of bytes that are read at once.
const PIECE: usize = 1 << 20;

/// The files of a workspace.
#[derive(Clone, Debug)]
pub(super) struct WorkspaceReader {
    workspace: Workspace,
    stop: StopFlag,
}

impl WorkspaceReader {
    pub(super) const fn new(workspace: Workspace, stop: StopFlag) -> Self {
        Self { workspace, stop }
    }

    pub(super) const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(super) const fn stop(&self) -> &StopFlag {
        &self.stop
    }

    /// Returns the real path of a path.
    pub(super) fn real(&self, path: &WorkspacePath) -> Result<PathBuf, FileError> {
        if self.stop.is_set() {
            return Err(FileError::Io("it was stopped".to_owned()));
        }
        let top = Path::new("");
        if path.is_root() {
            return Ok(top.to_owned());
        }
        self.workspace.follow((top, top), path.as_str(), true).map_err(fault)
    }

    /// Opens a plain file, and returns its size, too.
    pub(super) fn open(&self, path: &WorkspacePath) -> Result<(File, u64), FileError> {
        let real = self.real(path)?;
        // The system's error for a pipe is `PERM`. The tools in the sandbox look at a file before
        // they open it, and say that it is not a regular one; so must this.
        let file = self.workspace.file(&real).map_err(|error| match self.is_other(&real) {
            true => FileError::NotRegular,
            false => fault(error),
        })?;
        let size = file.metadata().map_err(|error| broken(&error))?.len();
        Ok((file, size))
    }

    /// Returns whether the entry is a device, a pipe or a socket.
    fn is_other(&self, real: &Path) -> bool {
        self.workspace.stat(real).is_ok_and(|found| found.kind == EntryKind::Other)
    }
}

impl WorkspaceFiles for WorkspaceReader {
    fn fits_pictures(&self) -> bool {
        true
    }

    fn read(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, FileError> {
        let (mut file, size) = self.open(path)?;
        let mut bytes = Vec::new();
        let filled = fill(&mut file, size, &mut bytes, |_| !self.stop.is_set())?;
        bytes.truncate(filled);
        Ok(Cow::Owned(bytes))
    }

    fn write(&mut self, _: &WorkspacePath, _: Vec<u8>) -> Result<(), FileError> {
        Err(FileError::Denied)
    }

    fn remove(&mut self, _: &WorkspacePath) -> Result<(), FileError> {
        Err(FileError::Denied)
    }

    fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileError> {
        let PathStat { kind, size, modified, .. } =
            self.workspace.stat(&self.real(path)?).map_err(fault)?;
        let size = if kind == EntryKind::File { size } else { 0 };
        Ok(FileStat { kind, size, modified })
    }

    fn list(&self, path: &WorkspacePath) -> Result<Vec<FolderEntry>, FileError> {
        let real = self.real(path)?;
        let list = self.workspace.list(&real);
        let list = list.map_err(|error| folder_fault(&self.workspace, &real, error))?;
        let entries = list.into_iter().map(|entry| match entry.name.into_string() {
            Ok(name) => FolderEntry { name, kind: entry.kind },
            Err(name) => FolderEntry::unnameable(name.to_string_lossy().into_owned()),
        });
        Ok(entries.collect())
    }
}

/// Reads a file up to the size that it had when it was opened, as long as `is_wanted` says so of
/// the bytes so far. Returns their number; `into`, which is used for one file after another, may
/// hold more.
pub(super) fn fill(
    file: &mut impl Read,
    size: u64,
    into: &mut Vec<u8>,
    mut is_wanted: impl FnMut(&[u8]) -> bool,
) -> Result<usize, FileError> {
    if size > MAX_FILE_BYTES {
        return Err(FileError::TooLarge);
    }
    let size = usize::try_from(size).map_err(|_| FileError::TooLarge)?;
    let mut filled = 0;
    while filled < size {
        let end = size.min(filled + PIECE);
        // The buffer only grows, so that it is not filled with zeros again for each file.
        if into.len() < end {
            into.resize(end, 0);
        }
        match file.read(into.get_mut(filled..end).unwrap_or_default()) {
            // The file has become shorter meanwhile.
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(broken(&error)),
        }
        if !is_wanted(into.get(..filled).unwrap_or_default()) {
            break;
        }
    }
    Ok(filled)
}

/// Returns an error of the system as the tools word it.
pub(super) fn fault(error: Errno) -> FileError {
    match error {
        Errno::NOENT => FileError::NotFound,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => FileError::Denied,
        Errno::ISDIR => FileError::IsFolder,
        Errno::NOTDIR => FileError::NotFolder,
        error => broken(&error.into()),
    }
}

/// Returns an error of reading a folder as the tools word it: a device, a pipe or a socket in its
/// place is denied.
pub(super) fn folder_fault(workspace: &Workspace, real: &Path, error: Errno) -> FileError {
    let is_other = || workspace.stat(real).is_ok_and(|found| found.kind == EntryKind::Other);
    if error == Errno::NOTDIR && is_other() { FileError::Denied } else { fault(error) }
}

fn broken(error: &io::Error) -> FileError {
    FileError::Io(error.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail at once")]

    use super::*;

    #[test]
    fn a_file_is_read_as_far_as_it_is_there_and_wanted() {
        let text = vec![b'x'; PIECE + 10];
        let filled = |size: u64, wanted: bool| {
            fill(&mut text.as_slice(), size, &mut Vec::new(), |_| wanted).unwrap()
        };
        let whole = PIECE as u64 + 10;
        // It was longer once, it has grown, and its beginning is enough.
        assert_eq!(filled(whole + 5, true), PIECE + 10);
        assert_eq!(filled(7, true), 7);
        assert_eq!(filled(whole, false), PIECE);
        let size = MAX_FILE_BYTES + 1;
        let too_large = fill(&mut text.as_slice(), size, &mut Vec::new(), |_| true);
        assert_eq!(too_large, Err(FileError::TooLarge));
    }
}
