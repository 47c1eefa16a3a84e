//! The imported functions that take descriptors. Those of files and folders are ours; for standard
//! streams they call wasmtime's, which knows no other descriptors. A guest may pass anything: each
//! function returns an error number for it.

use super::{
    errno,
    files::{GuestFiles, OpenNode, SeekOrigin},
    memory::{first_buffer, first_bytes, put, split},
    stat::{described, encoded, times},
    state::{GuestCaller, MODULE, RunState, look, work},
    wasi_error::{CallError, CallResult, answer},
};
use wasmtime::{Linker, Result};
use wasmtime_wasi::p1::wasi_snapshot_preview1 as wasi;

/// The descriptor.
type DescriptorArgs = (i32,);
/// The descriptor and the address of the result.
type DescriptorResultArgs = (i32, i32);
/// The descriptor, the buffers, their count and the address of the result.
type PieceArgs = (i32, i32, i32, i32);
/// The descriptor, the buffers, their count, the position and the address of the result.
type PlaceArgs = (i32, i32, i32, i64, i32);
/// The descriptor, the times of access and change, and flags that say which of them to set.
type DescriptorTimesArgs = (i32, i64, i64, i32);

/// Links the functions.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    link_pieces(linker)?;
    link_attributes(linker)?;
    link_numbers(linker)?;
    link_listing(linker)
}

fn link_pieces(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(MODULE, "fd_read", |mut guest: GuestCaller<'_>, args: PieceArgs| {
        Box::new(async move { answer(read(&mut guest, args).await) })
    })?;
    linker.func_wrap_async(MODULE, "fd_pread", |mut guest: GuestCaller<'_>, args: PlaceArgs| {
        Box::new(async move { answer(read_at(&mut guest, args).await) })
    })?;
    linker.func_wrap_async(MODULE, "fd_write", |mut guest: GuestCaller<'_>, args: PieceArgs| {
        Box::new(async move { answer(write(&mut guest, args).await) })
    })?;
    linker.func_wrap_async(
        MODULE,
        "fd_pwrite",
        |mut guest: GuestCaller<'_>, args: PlaceArgs| {
            Box::new(async move { answer(write_at(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_seek",
        |mut guest: GuestCaller<'_>, (fd, offset, whence, result): (i32, i64, i32, i32)| {
            Box::new(async move { answer(seek(&mut guest, fd, (offset, whence), result).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_tell",
        |mut guest: GuestCaller<'_>, (fd, result): DescriptorResultArgs| {
            // A seek by nothing from the position returns the position.
            Box::new(async move { answer(seek(&mut guest, fd, (0, 1), result).await) })
        },
    )?;
    for name in ["fd_sync", "fd_datasync"] {
        linker.func_wrap_async(
            MODULE,
            name,
            |mut guest: GuestCaller<'_>, (fd,): DescriptorArgs| {
                Box::new(async move { answer(work(&mut guest, move |files| files.sync(fd)).await) })
            },
        )?;
    }
    Ok(())
}

fn link_attributes(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "fd_filestat_get",
        |mut guest: GuestCaller<'_>, args: DescriptorResultArgs| {
            Box::new(async move { answer(stat(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_fdstat_get",
        |mut guest: GuestCaller<'_>, args: DescriptorResultArgs| {
            Box::new(async move { answer(describe(&mut guest, args).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_filestat_set_size",
        |mut guest: GuestCaller<'_>, (fd, size): (i32, i64)| {
            Box::new(async move {
                let size = size.cast_unsigned();
                answer(work(&mut guest, move |files| files.set_size(fd, size)).await)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_filestat_set_times",
        |mut guest: GuestCaller<'_>, (fd, accessed, modified, flags): DescriptorTimesArgs| {
            Box::new(async move {
                let set = move |files: &mut GuestFiles| {
                    files.set_times_open(fd, &times(accessed, modified, flags)?)
                };
                answer(work(&mut guest, set).await)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_fdstat_set_flags",
        |mut guest: GuestCaller<'_>, args: DescriptorResultArgs| {
            Box::new(async move { answer(set_flags(&mut guest, args)) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_fdstat_set_rights",
        // Rights only count when a file is opened; asking for fewer later changes nothing here.
        |mut guest: GuestCaller<'_>, (fd, _, _): (i32, i64, i64)| {
            Box::new(async move { answer(exists(&mut guest, fd)) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_advise",
        // Advice is about speed and may be ignored.
        |mut guest: GuestCaller<'_>, (fd, _, _, _): (i32, i64, i64, i32)| {
            Box::new(async move { answer(exists(&mut guest, fd)) })
        },
    )?;
    linker
        .func_wrap_async(MODULE, "fd_allocate", |_: GuestCaller<'_>, _: (i32, i64, i64)| {
            // As in wasmtime. A file grows by writes and by its size, which are both charged.
            Box::new(async move { errno::NOTSUP })
        })
        .map(drop)
}

fn link_numbers(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "fd_close",
        |mut guest: GuestCaller<'_>, (fd,): DescriptorArgs| {
            Box::new(async move { answer(work(&mut guest, move |files| files.close(fd)).await) })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_renumber",
        |mut guest: GuestCaller<'_>, (from, to): DescriptorResultArgs| {
            Box::new(async move {
                answer(work(&mut guest, move |files| files.renumber(from, to)).await)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_prestat_get",
        |mut guest: GuestCaller<'_>, args: DescriptorResultArgs| {
            Box::new(async move { answer(top(&mut guest, args)) })
        },
    )?;
    linker
        .func_wrap_async(
            MODULE,
            "fd_prestat_dir_name",
            |mut guest: GuestCaller<'_>, (fd, at, len): (i32, i32, i32)| {
                Box::new(async move { answer(top_name(&mut guest, fd, at, len)) })
            },
        )
        .map(drop)
}

fn link_listing(linker: &mut Linker<RunState>) -> Result<()> {
    type Args = (i32, i32, i32, i64, i32);
    linker
        .func_wrap_async(MODULE, "fd_readdir", |mut guest: GuestCaller<'_>, args: Args| {
            Box::new(async move {
                let (fd, at, len, cookie, result) = args;
                let (len, cookie) = (len.cast_unsigned() as usize, cookie.cast_unsigned());
                let list = work(&mut guest, move |files| files.list(fd, cookie, len)).await;
                let put = list.and_then(|list| put_counted(&mut guest, at, &list, result));
                answer(put)
            })
        })
        .map(drop)
}

/// The number of the standard stream that a descriptor stands for; `None` for files and folders.
fn standard(guest: &mut GuestCaller<'_>, fd: i32) -> std::result::Result<Option<i32>, CallError> {
    // `fd_renumber` may have given a stream another descriptor, or its own to a file.
    look(guest, |files| match files.node(fd)? {
        OpenNode::Standard(number) => Ok(Some(number.cast_signed())),
        OpenNode::Folder(_) | OpenNode::File(_) => Ok(None),
    })
}

/// The result that one of wasmtime's functions has returned as an error number.
fn given(code: Result<i32>) -> CallResult {
    match code? {
        errno::SUCCESS => Ok(()),
        code => Err(CallError::Errno(code)),
    }
}

fn put_counted(guest: &mut GuestCaller<'_>, at: i32, bytes: &[u8], result: i32) -> CallResult {
    let count = u32::try_from(bytes.len()).map_err(|_| errno::INVAL)?;
    put(guest, at, bytes)?;
    put(guest, result, &count.to_le_bytes())
}

async fn read(guest: &mut GuestCaller<'_>, (fd, buffers, count, result): PieceArgs) -> CallResult {
    if let Some(stream) = standard(guest, fd)? {
        let (mut memory, wasi) = split(guest)?;
        return given(wasi::fd_read(wasi, &mut memory, stream, buffers, count, result).await);
    }
    // Read on another thread into a buffer of the host: the guest's memory can't be lent to it.
    let (at, len) = first_buffer(guest, buffers, count)?;
    let bytes = work(guest, move |files| files.read(fd, len, None)).await?;
    put_counted(guest, at, &bytes, result)
}

async fn read_at(guest: &mut GuestCaller<'_>, args: PlaceArgs) -> CallResult {
    let (fd, buffers, count, start, result) = args;
    let (at, len) = first_buffer(guest, buffers, count)?;
    let start = Some(start.cast_unsigned());
    let bytes = work(guest, move |files| files.read(fd, len, start)).await?;
    put_counted(guest, at, &bytes, result)
}

async fn write(guest: &mut GuestCaller<'_>, (fd, buffers, count, result): PieceArgs) -> CallResult {
    if let Some(stream) = standard(guest, fd)? {
        let (mut memory, wasi) = split(guest)?;
        return given(wasi::fd_write(wasi, &mut memory, stream, buffers, count, result).await);
    }
    let bytes = first_bytes(guest, buffers, count)?;
    let written = work(guest, move |files| files.write(fd, &bytes, None)).await?;
    put_count(guest, written, result)
}

async fn write_at(guest: &mut GuestCaller<'_>, args: PlaceArgs) -> CallResult {
    let (fd, buffers, count, start, result) = args;
    let bytes = first_bytes(guest, buffers, count)?;
    let start = Some(start.cast_unsigned());
    let written = work(guest, move |files| files.write(fd, &bytes, start)).await?;
    put_count(guest, written, result)
}

fn put_count(guest: &mut GuestCaller<'_>, count: usize, result: i32) -> CallResult {
    let count = u32::try_from(count).map_err(|_| errno::INVAL)?;
    put(guest, result, &count.to_le_bytes())
}

async fn seek(
    guest: &mut GuestCaller<'_>,
    fd: i32,
    (offset, whence): (i64, i32),
    result: i32,
) -> CallResult {
    let from = match whence {
        0 => SeekOrigin::Start,
        1 => SeekOrigin::Here,
        2 => SeekOrigin::End,
        _ => return Err(CallError::Errno(errno::INVAL)),
    };
    let position = work(guest, move |files| files.seek(fd, offset, from)).await?;
    put(guest, result, &position.to_le_bytes())
}

async fn stat(guest: &mut GuestCaller<'_>, (fd, result): DescriptorResultArgs) -> CallResult {
    if let Some(stream) = standard(guest, fd)? {
        let (mut memory, wasi) = split(guest)?;
        return given(wasi::fd_filestat_get(wasi, &mut memory, stream, result).await);
    }
    match work(guest, move |files| files.stat_open(fd)).await? {
        Some(found) => put(guest, result, &encoded(&found)),
        None => Err(CallError::Errno(errno::BADF)),
    }
}

async fn describe(guest: &mut GuestCaller<'_>, (fd, result): DescriptorResultArgs) -> CallResult {
    if let Some(stream) = standard(guest, fd)? {
        let (mut memory, wasi) = split(guest)?;
        return given(wasi::fd_fdstat_get(wasi, &mut memory, stream, result).await);
    }
    let found = look(guest, |files| files.node(fd).map(described))?;
    put(guest, result, &found.ok_or(errno::BADF)?)
}

/// Sets whether a file is written at its end. Other flags are refused.
fn set_flags(guest: &mut GuestCaller<'_>, (fd, flags): DescriptorResultArgs) -> CallResult {
    const APPEND: i32 = 1;
    const NO_WAITING: i32 = 4;
    // Files never wait, so that asking for no wait changes nothing and is accepted.
    if flags & !(APPEND | NO_WAITING) != 0 {
        return Err(CallError::Errno(errno::INVAL));
    }
    match standard(guest, fd)? {
        Some(_) => Err(CallError::Errno(errno::BADF)),
        None => look(guest, |files| files.set_appends(fd, flags & APPEND != 0)),
    }
}

fn exists(guest: &mut GuestCaller<'_>, fd: i32) -> CallResult {
    look(guest, |files| files.node(fd).map(drop))
}

/// Writes the length of the name of a folder that the guest has from the start.
fn top(guest: &mut GuestCaller<'_>, (fd, result): DescriptorResultArgs) -> CallResult {
    // wasi-libc asks for one descriptor after the other, from 3 on, until one is BADF. Any other
    // error ends the program.
    let length = look(guest, |files| files.top_name(fd).map(str::len));
    let length = length.and_then(|length| u32::try_from(length).ok()).ok_or(errno::BADF)?;
    let [a, b, c, d] = length.to_le_bytes();
    put(guest, result, &[0, 0, 0, 0, a, b, c, d])
}

fn top_name(guest: &mut GuestCaller<'_>, fd: i32, at: i32, len: i32) -> CallResult {
    let name = look(guest, |files| files.top_name(fd).map(str::to_owned)).ok_or(errno::NOTDIR)?;
    if (len.cast_unsigned() as usize) < name.len() {
        return Err(CallError::Errno(errno::NAMETOOLONG));
    }
    put(guest, at, name.as_bytes())
}
