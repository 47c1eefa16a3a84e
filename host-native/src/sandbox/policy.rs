//! What a guest may do to files beyond what wasmtime allows, and what it has open. The functions
//! in [`super::shim`] ask here before they pass a call on. Nothing here touches guest memory.
//! A path is checked first and opened afterwards. Staying inside the workspace does not depend on
//! that, since wasmtime does both at once; the rules here assume that no other guest moves folders
//! meanwhile.

use super::{
    errno,
    listing::Listing,
    paths::{self, Astray, Real},
    record::Recorder,
};
use innerloop_driver::capture::{End, Limit};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// What a new entry costs of the disk quota.
const ENTRY_BYTES: u64 = 4096;

/// The file descriptor of the workspace: 0 to 2 are the standard streams.
const ROOT_FD: u32 = 3;

/// Bits of `path_open`'s arguments.
mod open_bits {
    pub(super) const FOLLOW: i32 = 1;
    pub(super) const CREATE: i32 = 1;
    pub(super) const TRUNCATE: i32 = 8;
    pub(super) const RIGHT_WRITE: i64 = 1 << 6;
}

/// The rules for one run and what it has open.
pub(super) struct Policy {
    root: PathBuf,
    open: BTreeMap<u32, Node>,
    disk_left: u64,
    recorder: Recorder,
}

/// What an open file descriptor stands for.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where it is, relative to the workspace; `None` once it was removed.
    path: Option<PathBuf>,
    protected: bool,
    /// Whether it was opened for writing.
    pub(super) writes: bool,
    /// A length that the file is known to have reached.
    pub(super) len: u64,
    /// What a folder held when it was last listed from the start.
    listing: Option<Listing>,
}

impl Policy {
    /// The rules for a run that sees the folder `top` of the workspace `root`.
    pub(super) fn new(root: PathBuf, top: PathBuf, disk_bytes: u64, recorder: Recorder) -> Self {
        let top = Node {
            protected: paths::is_protected(&top),
            path: Some(top),
            writes: false,
            len: 0,
            listing: None,
        };
        Self { root, open: BTreeMap::from([(ROOT_FD, top)]), disk_left: disk_bytes, recorder }
    }

    /// Where `path` leads from the folder `fd`; the error is a WASI error number.
    fn real(&self, fd: i32, path: &str, follow: bool) -> Result<Real, i32> {
        let node = self.open.get(&fd.cast_unsigned()).ok_or(errno::BADF)?;
        let base = node.path.as_ref().ok_or(errno::NOENT)?;
        paths::resolve(&self.root, base, path, follow).map_err(|astray| match astray {
            Astray::Outside => errno::PERM,
            Astray::Loop => errno::LOOP,
        })
    }

    /// A place that may be changed.
    fn free(&self, fd: i32, path: &str, follow: bool) -> Result<PathBuf, i32> {
        let real = self.real(fd, path, follow)?;
        if real.protected { Err(errno::PERM) } else { Ok(real.path) }
    }

    /// Before `path_open`: what the descriptor will stand for.
    pub(super) fn on_open(&mut self, fd: i32, path: &str, bits: OpenBits) -> Result<Node, Denied> {
        let real = self.real(fd, path, bits.lookup & open_bits::FOLLOW != 0)?;
        let meta = fs::symlink_metadata(self.root.join(&real.path)).ok();
        let kind = meta.as_ref().map(fs::Metadata::file_type);
        if kind.is_some_and(|kind| !(kind.is_file() || kind.is_dir() || kind.is_symlink())) {
            return Err(Denied::Errno(errno::PERM));
        }
        let creates = bits.open & open_bits::CREATE != 0;
        let truncates = bits.open & open_bits::TRUNCATE != 0;
        let writes = creates || truncates || bits.rights & open_bits::RIGHT_WRITE != 0;
        if writes && real.protected {
            return Err(Denied::Errno(errno::PERM));
        }
        if creates && meta.is_none() {
            self.charge(ENTRY_BYTES)?;
        }
        if writes {
            self.recorder.touch(&real.path);
        }
        let len = meta.filter(|_| !truncates).map_or(0, |meta| meta.len());
        Ok(Node { path: Some(real.path), protected: real.protected, writes, len, listing: None })
    }

    /// After `path_open`.
    pub(super) fn opened(&mut self, fd: u32, node: Node) {
        self.open.insert(fd, node);
    }

    /// After `fd_close`.
    pub(super) fn closed(&mut self, fd: i32) {
        self.open.remove(&fd.cast_unsigned());
    }

    /// After `fd_renumber`.
    pub(super) fn renumbered(&mut self, from: i32, to: i32) {
        let moved = self.open.remove(&from.cast_unsigned());
        match moved {
            Some(node) => self.open.insert(to.cast_unsigned(), node),
            None => self.open.remove(&to.cast_unsigned()),
        };
    }

    /// An open file that may be written to.
    pub(super) fn writable(&mut self, fd: i32) -> Option<&mut Node> {
        self.open.get_mut(&fd.cast_unsigned()).filter(|node| node.writes)
    }

    /// What an open folder held when it was last listed from the start.
    pub(super) fn listing(&self, fd: i32) -> Option<&Listing> {
        self.open.get(&fd.cast_unsigned())?.listing.as_ref()
    }

    /// Where an open folder is on the host.
    pub(super) fn place(&self, fd: i32) -> Option<PathBuf> {
        let path = self.open.get(&fd.cast_unsigned())?.path.as_ref()?;
        Some(self.root.join(path))
    }

    /// After a folder was listed.
    pub(super) fn listed(&mut self, fd: i32, listing: Listing) {
        if let Some(node) = self.open.get_mut(&fd.cast_unsigned()) {
            node.listing = Some(listing);
        }
    }

    /// Before `fd_filestat_set_times`.
    pub(super) fn on_touch_open(&self, fd: i32) -> Result<(), Denied> {
        match self.open.get(&fd.cast_unsigned()) {
            Some(node) if node.protected => Err(Denied::Errno(errno::PERM)),
            _ => Ok(()),
        }
    }

    /// Before `path_filestat_set_times`.
    pub(super) fn on_touch(&self, fd: i32, lookup: i32, path: &str) -> Result<(), Denied> {
        self.free(fd, path, lookup & open_bits::FOLLOW != 0)?;
        Ok(())
    }

    /// Before `path_create_directory`.
    pub(super) fn on_create_folder(&mut self, fd: i32, path: &str) -> Result<(), Denied> {
        self.free(fd, path, false)?;
        self.charge(ENTRY_BYTES)
    }

    /// Before `path_remove_directory`.
    pub(super) fn on_remove_folder(&self, fd: i32, path: &str) -> Result<PathBuf, Denied> {
        Ok(self.free(fd, path, false)?)
    }

    /// Before `path_unlink_file`.
    pub(super) fn on_remove_file(&self, fd: i32, path: &str) -> Result<PathBuf, Denied> {
        let real = self.free(fd, path, false)?;
        self.recorder.touch(&real);
        Ok(real)
    }

    /// After a file or folder was removed.
    pub(super) fn removed(&mut self, path: &Path) {
        for node in self.open.values_mut() {
            if node.path.as_deref().is_some_and(|open| open.starts_with(path)) {
                node.path = None;
            }
        }
    }

    /// Before `path_symlink`.
    pub(super) fn on_link(&mut self, target: &str, fd: i32, path: &str) -> Result<(), Denied> {
        let real = self.free(fd, path, false)?;
        let folder = real.parent().unwrap_or(Path::new(""));
        if !paths::stays_inside(folder, Path::new(target)) {
            return Err(Denied::Errno(errno::PERM));
        }
        self.recorder.touch(&real);
        self.charge(ENTRY_BYTES)
    }

    /// Before `path_rename`: where from and where to.
    pub(super) fn on_rename(
        &self,
        (from_fd, from): (i32, &str),
        (to_fd, to): (i32, &str),
    ) -> Result<(PathBuf, PathBuf), Denied> {
        let from = self.free(from_fd, from, false)?;
        let to = self.free(to_fd, to, false)?;
        if !paths::links_stay_inside(&self.root, &from, &to) {
            return Err(Denied::Errno(errno::PERM));
        }
        self.recorder.touch_rename(&from, &to);
        Ok((from, to))
    }

    /// After `path_rename`: what is open below the old place is now below the new one.
    pub(super) fn renamed(&mut self, from: &Path, to: &Path) {
        if from == to {
            return;
        }
        self.removed(to);
        for node in self.open.values_mut() {
            let Some(path) = &mut node.path else { continue };
            if path == from {
                *path = to.to_path_buf();
            } else if let Ok(below) = path.strip_prefix(from) {
                *path = to.join(below);
            }
        }
    }

    /// Takes `bytes` from the disk quota.
    pub(super) fn charge(&mut self, bytes: u64) -> Result<(), Denied> {
        match self.disk_left.checked_sub(bytes) {
            Some(left) => {
                self.disk_left = left;
                Ok(())
            }
            None => Err(Denied::End(End::Limit(Limit::Disk))),
        }
    }
}

/// How a file is to be opened: lookup flags, open flags, rights.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBits {
    pub(super) lookup: i32,
    pub(super) open: i32,
    pub(super) rights: i64,
}

/// Why a call is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The guest is told this error number.
    Errno(i32),
    /// The run ends.
    End(End),
}

impl Denied {
    /// What the guest, or the run, gets instead of the call.
    pub(super) fn answer(self) -> wasmtime::Result<i32> {
        match self {
            Self::Errno(code) => Ok(code),
            Self::End(end) => Err(wasmtime::Error::new(end)),
        }
    }
}

impl From<i32> for Denied {
    fn from(errno: i32) -> Self {
        Self::Errno(errno)
    }
}
