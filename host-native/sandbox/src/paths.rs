//! The imported functions that take paths. They decode the guest's arguments and leave the
//! judgement to `GuestFiles`, so that no path has a second way in.

use super::{
    errno,
    files::OpenFlags,
    memory::{path, put},
    stat::{encoded, times},
    state::{GuestCaller, MODULE, RunState, work},
    wasi_error::{CallResult, answer},
};
use wasmtime::{Linker, Result};

/// A lookup flag: the last part of the path is followed if it is a link.
const FOLLOW: i32 = 1;

/// Links the functions.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(MODULE, "path_open", |mut guest: GuestCaller<'_>, args: OpenArgs| {
        Box::new(async move { answer(open(&mut guest, args).await) })
    })?;
    linker.func_wrap_async(
        MODULE,
        "path_filestat_get",
        |mut guest: GuestCaller<'_>, args: PathStatArgs| {
            Box::new(async move { answer(stat(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_filestat_set_times",
        |mut guest: GuestCaller<'_>, args: PathTimesArgs| {
            Box::new(async move { answer(set_times(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_readlink",
        |mut guest: GuestCaller<'_>, args: ReadLinkArgs| {
            Box::new(async move { answer(read_link(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_create_directory",
        |mut guest: GuestCaller<'_>, args: FolderPathArgs| {
            Box::new(async move { answer(create_folder(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_remove_directory",
        |mut guest: GuestCaller<'_>, args: FolderPathArgs| {
            Box::new(async move { answer(remove_folder(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_unlink_file",
        |mut guest: GuestCaller<'_>, args: FolderPathArgs| {
            Box::new(async move { answer(remove_file(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_rename",
        |mut guest: GuestCaller<'_>, args: RenameArgs| {
            Box::new(async move { answer(rename(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_symlink",
        |mut guest: GuestCaller<'_>, args: LinkArgs| {
            Box::new(async move { answer(symlink(&mut guest, args).await) })
        },
    )?;
    // Files are protected by their names. A second name for a protected file would get around that.
    type HardArgs = (i32, i32, i32, i32, i32, i32, i32);
    linker
        .func_wrap_async(MODULE, "path_link", |_: GuestCaller<'_>, _: HardArgs| {
            Box::new(async move { errno::PERM })
        })
        .map(drop)
}

/// The folder, the path and its length.
type FolderPathArgs = (i32, i32, i32);
/// The folder, lookup flags, the path and its length, open flags, rights, rights for entries below,
/// flags of the descriptor, and the address of the result.
type OpenArgs = (i32, i32, i32, i32, i32, i64, i64, i32, i32);
/// The folder, lookup flags, the path and its length, and the address of the result.
type PathStatArgs = (i32, i32, i32, i32, i32);
/// The folder, lookup flags, the path and its length, the times of access and change, and flags
/// that say which of them to set.
type PathTimesArgs = (i32, i32, i32, i32, i64, i64, i32);
/// The folder, the path and its length, the buffer and its length, and the address of the result.
type ReadLinkArgs = (i32, i32, i32, i32, i32, i32);
/// The folder, the path and its length, twice: from and to.
type RenameArgs = (i32, i32, i32, i32, i32, i32);
/// The target and its length, the folder, the path and its length.
type LinkArgs = (i32, i32, i32, i32, i32);

async fn open(guest: &mut GuestCaller<'_>, args: OpenArgs) -> CallResult {
    let (fd, lookup, at, len, flags, rights, _, descriptor, result) = args;
    let path = path(guest, at, len)?;
    // Preview 1 has no access mode: reading and writing are the rights `fd_read` and `fd_write`.
    let how = OpenFlags {
        follow: lookup & FOLLOW != 0,
        create: flags & 1 != 0,
        directory: flags & 2 != 0,
        exclusive: flags & 4 != 0,
        truncate: flags & 8 != 0,
        read: rights & 1 << 1 != 0,
        write: rights & 1 << 6 != 0,
        append: descriptor & 1 != 0,
    };
    let opened = work(guest, move |files| files.open(fd, &path, how)).await?;
    put(guest, result, &opened.to_le_bytes())
}

async fn stat(guest: &mut GuestCaller<'_>, args: PathStatArgs) -> CallResult {
    let (fd, lookup, at, len, result) = args;
    let path = path(guest, at, len)?;
    let follow = lookup & FOLLOW != 0;
    let found = work(guest, move |files| files.stat(fd, &path, follow)).await?;
    put(guest, result, &encoded(&found))
}

async fn set_times(guest: &mut GuestCaller<'_>, args: PathTimesArgs) -> CallResult {
    let (fd, lookup, at, len, accessed, modified, flags) = args;
    let path = path(guest, at, len)?;
    let times = times(accessed, modified, flags)?;
    let follow = lookup & FOLLOW != 0;
    work(guest, move |files| files.set_times(fd, &path, follow, &times)).await
}

async fn read_link(guest: &mut GuestCaller<'_>, args: ReadLinkArgs) -> CallResult {
    let (fd, at, len, buffer, room, result) = args;
    let path = path(guest, at, len)?;
    let target = work(guest, move |files| files.read_link(fd, &path)).await?;
    // As POSIX has it, a target that does not fit is cut off without an error.
    let target = target.get(..room.cast_unsigned() as usize).unwrap_or(&target);
    put(guest, buffer, target)?;
    let count = u32::try_from(target.len()).map_err(|_| errno::INVAL)?;
    put(guest, result, &count.to_le_bytes())
}

async fn create_folder(guest: &mut GuestCaller<'_>, (fd, at, len): FolderPathArgs) -> CallResult {
    let path = path(guest, at, len)?;
    work(guest, move |files| files.create_folder(fd, &path)).await
}

async fn remove_folder(guest: &mut GuestCaller<'_>, (fd, at, len): FolderPathArgs) -> CallResult {
    let path = path(guest, at, len)?;
    work(guest, move |files| files.remove_folder(fd, &path)).await
}

async fn remove_file(guest: &mut GuestCaller<'_>, (fd, at, len): FolderPathArgs) -> CallResult {
    let path = path(guest, at, len)?;
    work(guest, move |files| files.remove_file(fd, &path)).await
}

async fn rename(guest: &mut GuestCaller<'_>, args: RenameArgs) -> CallResult {
    let (from_fd, from, from_len, to_fd, to, to_len) = args;
    let from = path(guest, from, from_len)?;
    let to = path(guest, to, to_len)?;
    work(guest, move |files| files.rename((from_fd, &from), (to_fd, &to))).await
}

async fn symlink(guest: &mut GuestCaller<'_>, args: LinkArgs) -> CallResult {
    let (target, target_len, fd, at, len) = args;
    let target = path(guest, target, target_len)?;
    let path = path(guest, at, len)?;
    work(guest, move |files| files.link(&target, fd, &path)).await
}
