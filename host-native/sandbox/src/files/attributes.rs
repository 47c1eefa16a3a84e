//! Times and permissions of files.

use super::{Denied, Files, Folder, Node, Open};
use crate::errno;
use innerloop_workspace::{Kind, platform::Timestamps, set_file_times};
use std::path::Path;

impl Files {
    pub(crate) fn set_times_open(&mut self, fd: i32, times: &Timestamps) -> Result<(), Denied> {
        let path = match self.node(fd)? {
            Node::Standard(_) => return Err(Denied::Errno(errno::BADF)),
            Node::File(open) if open.writes => {
                let _writing = self.workspace.writing()?;
                return Ok(set_file_times(&open.file, times)?);
            }
            Node::File(Open { tree, path, .. }) | Node::Folder(Folder { tree, path, .. }) => {
                if !self.may_change(*tree) {
                    return Err(Denied::Errno(errno::PERM));
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
    ) -> Result<(), Denied> {
        let place = self.change(fd, path, follow)?;
        self.set_times_at(&place, times)
    }

    fn set_times_at(&mut self, place: &Path, times: &Timestamps) -> Result<(), Denied> {
        if self.workspace.stat(place)?.kind == Kind::File {
            self.touch(place);
        }
        let Self { workspace, quota, .. } = self;
        workspace.set_times(place, times, &mut |bytes| quota.take_disk(bytes))?;
        self.opened(place);
        Ok(())
    }

    /// Gives a file permissions, as mode bits.
    pub(crate) fn set_mode(&mut self, fd: i32, path: &str, mode: u32) -> Result<(), Denied> {
        let place = self.change(fd, path, true)?;
        if self.workspace.stat(&place)?.kind == Kind::File {
            self.touch(&place);
        }
        let Self { workspace, quota, .. } = self;
        workspace.set_mode(&place, mode, &mut |bytes| quota.take_disk(bytes))?;
        self.opened(&place);
        Ok(())
    }
}
