//! Times and permissions of files. In an overlay, setting them copies the file, which is charged to
//! the disk quota.

use super::{CallError, FileHandle, FolderHandle, GuestFiles, OpenNode};
use crate::errno;
use innerloop_workspace::{EntryKind, platform::Timestamps, set_file_times};
use std::path::Path;

impl GuestFiles {
    pub(crate) fn set_times_open(&mut self, fd: i32, times: &Timestamps) -> Result<(), CallError> {
        let path = match self.node(fd)? {
            OpenNode::Standard(_) => return Err(CallError::Errno(errno::BADF)),
            // A file that is open for writing was noted when it was opened, and has no need of a
            // path: it may have been removed since.
            OpenNode::File(open) if open.writes => {
                let _writing = self.workspace.writing()?;
                return Ok(set_file_times(&open.file, times)?);
            }
            OpenNode::File(FileHandle { tree, path, .. })
            | OpenNode::Folder(FolderHandle { tree, path, .. }) => {
                if !self.may_change(*tree) {
                    return Err(CallError::Errno(errno::PERM));
                }
                path.clone()
            }
        };
        self.set_times_at(&path.ok_or(errno::NOENT)?, times)
    }

    pub(crate) fn set_times(
        &mut self,
        fd: i32,
        path: &str,
        follow: bool,
        times: &Timestamps,
    ) -> Result<(), CallError> {
        let place = self.change(fd, path, follow)?;
        self.set_times_at(&place, times)
    }

    fn set_times_at(&mut self, place: &Path, times: &Timestamps) -> Result<(), CallError> {
        // Folders have times as well, but the recorder lists files only.
        if self.workspace.stat(place)?.kind == EntryKind::File {
            self.touch(place);
        }
        let Self { workspace, quota, .. } = self;
        workspace.set_times(place, times, &mut |bytes| quota.take_disk(bytes))?;
        self.opened(place);
        Ok(())
    }

    /// Sets a file's permissions, as mode bits.
    pub(crate) fn set_mode(&mut self, fd: i32, path: &str, mode: u32) -> Result<(), CallError> {
        // A link has no permissions of its own: as in POSIX, `chmod` follows it.
        let place = self.change(fd, path, true)?;
        if self.workspace.stat(&place)?.kind == EntryKind::File {
            self.touch(&place);
        }
        let Self { workspace, quota, .. } = self;
        workspace.set_mode(&place, mode, &mut |bytes| quota.take_disk(bytes))?;
        self.opened(&place);
        Ok(())
    }
}
