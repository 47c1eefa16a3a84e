//! The open folder on Linux and macOS. Every call of the system gets a handle of a folder and one
//! name in it, or a path of which the system itself refuses links (`openat2`), so that nothing that
//! is swapped meanwhile leads elsewhere.

pub(super) mod open_folder;

use super::{
    super::file_stat::{EntryKind, PathStat},
    access::{FileAccess, ListedEntry},
};
use crate::platform::{Errno, MetadataExt as _, PermissionsExt as _, Result, Timestamps, mode_of};
use rustix::fs::{self as sys, AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, XattrFlags};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{
            ffi::{OsStrExt, OsStringExt},
            fs::fchown,
        },
    },
    path::{Component, Path, PathBuf},
};

/// A folder that is held open. Threads can share it.
#[derive(Debug)]
pub(crate) struct Root {
    folder: OwnedFd,
    device: u64,
    /// The path when it was opened, for people to read, never to open.
    path: PathBuf,
    /// True if the system itself can look up a path as strictly as is needed here.
    is_strict: bool,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Root {
    /// Opens the folder at a path from the system's root or the current folder.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let folder = sys::open(path, FOLDER, Mode::empty())?;
        let device = stat(&sys::fstat(&folder)?).device;
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_strict = has_strict_lookup(folder.as_fd());
        Ok(Self { folder, device, path, is_strict })
    }

    /// Returns its canonical path at the time when it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder below it, as a root of its own.
    pub(crate) fn below(&self, path: &Path) -> Result<Self> {
        let folder = self.beneath(path, FOLDER)?;
        let (device, is_strict) = (self.device, self.is_strict);
        Ok(Self { folder, device, path: self.path.join(path), is_strict })
    }

    /// Returns the number of its file system.
    pub(crate) const fn device(&self) -> u64 {
        self.device
    }

    /// Returns the attributes of the entry at the path; a link is not followed.
    pub(crate) fn stat(&self, path: &Path) -> Result<PathStat> {
        let found = match self.parent(path)? {
            None => sys::fstat(&self.folder)?,
            Some((folder, name)) => sys::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?,
        };
        self.at_home(stat(&found))
    }

    /// Returns the target of the link at the path.
    pub(crate) fn link_target(&self, path: &Path) -> Result<PathBuf> {
        let Some((folder, name)) = self.parent(path)? else { return Err(Errno::INVAL) };
        let target = sys::readlinkat(&folder, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// Returns the entries of a folder, in no particular order.
    pub(crate) fn list(&self, path: &Path) -> Result<Vec<ListedEntry>> {
        let mut folder = Dir::new(self.beneath(path, FOLDER)?)?;
        let mut list = Vec::new();
        while let Some(entry) = folder.read() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match kind(entry.file_type()) {
                // Some file systems do not say in a listing what an entry is.
                EntryKind::Other => {
                    match sys::statat(folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(found) => stat(&found).kind,
                        Err(_) => continue,
                    }
                }
                kind => kind,
            };
            list.push(ListedEntry { name: name.to_owned(), kind, inode: entry.ino() });
        }
        Ok(list)
    }

    /// Opens a plain file.
    pub(crate) fn file(&self, path: &Path, access: FileAccess) -> Result<File> {
        let Some((folder, name)) = self.parent(path)? else { return Err(Errno::ISDIR) };
        // Looked at before, since opening alone makes some devices act, and again once it is open,
        // since something else may have been put there between.
        match sys::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => self.plain(stat(&found))?,
            Err(Errno::NOENT) if access.create => {}
            Err(error) => return Err(error),
        }
        let quietly = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mode = mode_of(0o666);
        let file = File::from(sys::openat(&folder, name, flags(access) | quietly, mode)?);
        self.plain(stat(&sys::fstat(&file)?))?;
        // Not by a flag of `openat`, which would truncate before anybody knows what is open.
        if access.truncate {
            sys::ftruncate(&file, 0)?;
        }
        Ok(file)
    }

    /// Creates a folder.
    pub(crate) fn create_folder(&self, path: &Path) -> Result<()> {
        let Some((folder, name)) = self.parent(path)? else { return Err(Errno::EXIST) };
        sys::mkdirat(&folder, name, mode_of(0o777))
    }

    /// Creates a folder that nobody else can look into.
    pub(crate) fn create_private_folder(&self, path: &Path) -> Result<()> {
        let Some((folder, name)) = self.parent(path)? else { return Err(Errno::EXIST) };
        sys::mkdirat(&folder, name, Mode::RWXU)
    }

    /// Removes a folder with everything in it.
    pub(crate) fn remove_tree(&self, path: &Path) -> Result<()> {
        for entry in self.list(path)? {
            let path = path.join(entry.name);
            match entry.kind {
                EntryKind::Folder => self.remove_tree(&path)?,
                EntryKind::File | EntryKind::Link | EntryKind::Other => self.remove_file(&path)?,
            }
        }
        self.remove_folder(path)
    }

    /// Checks that this user may write to the file at the path, or create files in a folder there.
    pub(crate) fn check_writable(&self, path: &Path) -> Result<()> {
        let mut wanted = sys::Access::WRITE_OK;
        // To create a file in a folder takes both rights.
        if self.stat(path)?.kind == EntryKind::Folder {
            wanted |= sys::Access::EXEC_OK;
        }
        match self.parent(path)? {
            None => sys::accessat(&self.folder, ".", wanted, AtFlags::EACCESS),
            Some((folder, name)) => sys::accessat(&folder, name, wanted, AtFlags::EACCESS),
        }
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, path: &Path) -> Result<()> {
        let Some((folder, name)) = self.parent(path)? else { return Err(Errno::BUSY) };
        sys::unlinkat(&folder, name, AtFlags::REMOVEDIR)
    }

    /// Removes anything but a folder.
    pub(crate) fn remove_file(&self, path: &Path) -> Result<()> {
        let Some((folder, name)) = self.parent(path)? else { return Err(Errno::ISDIR) };
        sys::unlinkat(&folder, name, AtFlags::empty())
    }

    /// Waits until the folder's own entries are on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        match sys::fsync(&self.folder) {
            // Some file systems cannot do that for a folder.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
            done => done,
        }
    }

    /// Waits until the whole file system is on the disk, or only the folder's own entries where the
    /// system has no such call.
    pub(crate) fn sync_all(&self) -> Result<()> {
        #[cfg(target_os = "linux")]
        return sys::syncfs(&self.folder);
        #[cfg(not(target_os = "linux"))]
        self.sync()
    }

    /// Moves the entry at one path to another; `EXIST` if there is one.
    pub(crate) fn move_to(&self, from: &Path, to: &Path) -> Result<()> {
        match self.rename_with(from, to, RenameFlags::NOREPLACE) {
            // A file system that cannot check it in the same step leaves a moment between the look
            // and the move, in which a file that is put there would be lost.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match self.stat(to) {
                Ok(_) => Err(Errno::EXIST),
                Err(Errno::NOENT) => self.rename(from, to),
                Err(error) => Err(error),
            },
            moved => moved,
        }
    }

    /// Exchanges the entries at two paths in one step. Some file systems cannot do that: `INVAL`,
    /// `NOSYS` or `OPNOTSUPP`.
    pub(crate) fn exchange(&self, one: &Path, other: &Path) -> Result<()> {
        self.rename_with(one, other, RenameFlags::EXCHANGE)
    }

    fn rename_with(&self, from: &Path, to: &Path, flags: RenameFlags) -> Result<()> {
        let (Some((from, old)), Some((to, new))) = (self.parent(from)?, self.parent(to)?) else {
            return Err(Errno::BUSY);
        };
        sys::renameat_with(&from, old, &to, new, flags)
    }

    /// Moves the entry at one path to another, and replaces a file or an empty folder there.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let (Some((from, old)), Some((to, new))) = (self.parent(from)?, self.parent(to)?) else {
            return Err(Errno::BUSY);
        };
        sys::renameat(&from, old, &to, new)
    }

    /// Creates a symbolic link.
    pub(crate) fn link(&self, target: &Path, path: &Path) -> Result<()> {
        let Some((folder, name)) = self.parent(path)? else { return Err(Errno::EXIST) };
        sys::symlinkat(target, &folder, name)
    }

    /// Sets the permissions of a folder, as mode bits.
    pub(crate) fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        sys::fchmod(self.beneath(path, FOLDER)?, mode_of(mode))
    }

    /// Sets the times of the entry at the path; a link is not followed.
    pub(crate) fn set_times(&self, path: &Path, times: &Timestamps) -> Result<()> {
        match self.parent(path)? {
            None => sys::futimens(&self.folder, times),
            Some((folder, name)) => sys::utimensat(&folder, name, times, AtFlags::SYMLINK_NOFOLLOW),
        }
    }

    /// Returns the folder around the entry that the path names, and its name; `None` for the root
    /// itself.
    fn parent<'p>(&self, path: &'p Path) -> Result<Option<(FolderFd<'_>, &'p OsStr)>> {
        // A path without a last name is empty, or ends with `..` or in the system's root.
        let Some(name) = path.file_name() else {
            return if path.as_os_str().is_empty() { Ok(None) } else { Err(Errno::PERM) };
        };
        let above = path.parent().unwrap_or(Path::new(""));
        if above.as_os_str().is_empty() {
            return Ok(Some((FolderFd::Root(self.folder.as_fd()), name)));
        }
        Ok(Some((FolderFd::Own(self.beneath(above, PASSING)?), name)))
    }

    /// Opens a folder in the strictest way that the system has.
    fn beneath(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        if path.components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(Errno::PERM);
        }
        if path.as_os_str().is_empty() {
            // Opened anew rather than duplicated: duplicates share one position, which reading the
            // folder's entries moves.
            return sys::openat(&self.folder, ".", FOLDER, Mode::empty());
        }
        if self.is_strict {
            strictly(self.folder.as_fd(), path, flags)
        } else {
            self.step_by_step(path, flags)
        }
    }

    /// Opens a folder by opening those above it one after another, none of which may be a link.
    fn step_by_step(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        let mut folder: Option<OwnedFd> = None;
        let mut names = path.iter().peekable();
        while let Some(name) = names.next() {
            let here = folder.as_ref().map_or(self.folder.as_fd(), AsFd::as_fd);
            let flags = if names.peek().is_some() { PASSING } else { flags };
            let next = sys::openat(here, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
            // `openat2` does this by itself (`RESOLVE_NO_XDEV`): a mount in the workspace is not
            // entered.
            self.at_home(stat(&sys::fstat(&next)?))?;
            folder = Some(next);
        }
        folder.ok_or(Errno::NOENT)
    }

    /// Refuses an entry on another file system.
    const fn at_home(&self, found: PathStat) -> Result<PathStat> {
        if found.device == self.device { Ok(found) } else { Err(Errno::XDEV) }
    }

    /// Refuses everything but plain files of this file system.
    fn plain(&self, found: PathStat) -> Result<()> {
        match self.at_home(found)?.kind {
            EntryKind::File => Ok(()),
            EntryKind::Folder => Err(Errno::ISDIR),
            EntryKind::Link => Err(Errno::LOOP),
            EntryKind::Other => Err(Errno::PERM),
        }
    }
}

/// Copies a file's content, or shares it where the file system can do that.
pub(crate) fn copy(mut from: &File, to: &mut File) -> Result<()> {
    // This fails where the file systems differ or cannot share, and then the content is copied.
    #[cfg(target_os = "linux")]
    if sys::ioctl_ficlone(&*to, from).is_ok() {
        return Ok(());
    }
    let copied = io::copy(&mut from, to);
    copied.map(drop).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

const fn flags(access: FileAccess) -> OFlags {
    let mut flags = if access.write || access.truncate { OFlags::RDWR } else { OFlags::RDONLY };
    if access.create {
        flags = flags.union(OFlags::CREATE);
    }
    if access.exclusive {
        flags = flags.union(OFlags::EXCL);
    }
    flags
}

/// Returns the attributes of an open file.
pub(crate) fn stat_file(file: &File) -> Result<PathStat> {
    Ok(stat(&sys::fstat(file)?))
}

/// Sets the permissions of an open file, as mode bits.
pub(crate) fn set_file_mode(file: &File, mode: u32) -> Result<()> {
    sys::fchmod(file, mode_of(mode))
}

/// Sets the times of an open file.
pub fn set_file_times(file: &File, times: &Timestamps) -> Result<()> {
    sys::futimens(file, times)
}

/// Gives a file the permissions of another one and, if it is to take that one's place, also its
/// owner, access list and other extended attributes.
pub(crate) fn dress(file: &File, like: &File, is_replacing: bool) -> io::Result<()> {
    let found = like.metadata()?;
    let mut permissions = found.permissions();
    permissions.set_mode(permissions.mode() & 0o777);
    if is_replacing {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (found.uid(), found.gid()) {
            // Only root can give files away. To refuse the content for that would lose more.
            drop(fchown(file, Some(found.uid()), Some(found.gid())));
        }
    }
    file.set_permissions(permissions)?;
    // Last: an access list is an attribute, too, and setting permissions would change its mask.
    if is_replacing {
        copy_attributes(file, like);
    }
    Ok(())
}

/// The maximum number of bytes of the names of a file's extended attributes, and of one value: the
/// limits of Linux.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// Gives a file the extended attributes of another one, as far as the system lets this user.
fn copy_attributes(file: &File, like: &File) {
    let (mut names, mut value) = (vec![0; MAX_ATTRIBUTE], vec![0; MAX_ATTRIBUTE]);
    let length = sys::flistxattr(like, names.as_mut_slice()).unwrap_or(0);
    let names = names.get(..length).unwrap_or_default();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(length) = sys::fgetxattr(like, name, value.as_mut_slice()) else { continue };
        let value = value.get(..length).unwrap_or_default();
        let _refused = sys::fsetxattr(file, name, value, XattrFlags::empty());
    }
}

fn stat(found: &sys::Stat) -> PathStat {
    PathStat {
        kind: kind(FileType::from_raw_mode(found.st_mode)),
        size: number(found.st_size),
        mode: number(found.st_mode).try_into().unwrap_or(0),
        links: number(found.st_nlink),
        device: number(found.st_dev),
        inode: number(found.st_ino),
        accessed: nanoseconds(found.st_atime, found.st_atime_nsec),
        modified: nanoseconds(found.st_mtime, found.st_mtime_nsec),
        changed: nanoseconds(found.st_ctime, found.st_ctime_nsec),
    }
}

const fn kind(found: FileType) -> EntryKind {
    match found {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// Converts a number of the system, whose type differs from system to system; 0 if it is negative.
fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

fn nanoseconds(seconds: impl TryInto<u64>, rest: impl TryInto<u64>) -> u64 {
    number(seconds).saturating_mul(1_000_000_000).saturating_add(number(rest))
}

/// The handle of a folder.
enum FolderFd<'a> {
    Root(BorrowedFd<'a>),
    Own(OwnedFd),
}

impl AsFd for FolderFd<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(folder) => *folder,
            Self::Own(folder) => folder.as_fd(),
        }
    }
}

/// The flags for a folder that is only passed through: it need not be readable where the system
/// allows that.
#[cfg(target_os = "linux")]
const PASSING: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PASSING: OFlags = FOLDER;

/// Opens a folder by one lookup in which the system refuses links, `..` and other file systems.
#[cfg(target_os = "linux")]
fn strictly(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    use sys::ResolveFlags as Resolve;
    /// The number of attempts at a lookup.
    // A rename elsewhere can disturb a lookup, which then fails with `AGAIN`.
    const TRIES: usize = 64;
    let resolve = Resolve::BENEATH | Resolve::NO_SYMLINKS | Resolve::NO_MAGICLINKS;
    let mut found = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        found = sys::openat2(root, path, flags, Mode::empty(), resolve | Resolve::NO_XDEV);
        if !matches!(found, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    found
}

#[cfg(not(target_os = "linux"))]
fn strictly(_: BorrowedFd<'_>, _: &Path, _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Returns whether the system has such a lookup.
#[cfg(target_os = "linux")]
fn has_strict_lookup(root: BorrowedFd<'_>) -> bool {
    // Tried rather than asked for: Linux before 5.6 lacks the call, and some containers refuse it.
    strictly(root, Path::new("."), PASSING).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn has_strict_lookup(_: BorrowedFd<'_>) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_replaces_a_file_has_its_extended_attributes() {
        let folder = tempfile::tempdir().unwrap();
        let [like, file] = ["like", "file"].map(|name| {
            File::options().create_new(true).read(true).write(true).open(folder.path().join(name))
        });
        let (like, file) = (like.unwrap(), file.unwrap());
        if sys::fsetxattr(&like, "user.origin", b"elsewhere", XattrFlags::CREATE).is_err() {
            println!("SKIPPED: the file system of {} has none", folder.path().display());
            return;
        }
        let mut value = [0; 32];
        dress(&file, &like, false).unwrap();
        assert!(sys::fgetxattr(&file, "user.origin", &mut value[..]).is_err());
        dress(&file, &like, true).unwrap();
        let length = sys::fgetxattr(&file, "user.origin", &mut value[..]).unwrap();
        assert_eq!(value.get(..length), Some(&b"elsewhere"[..]));
    }
}
