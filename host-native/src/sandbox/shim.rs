//! The functions that guests import: those of wasmtime's WASI preview 1, and in front of those
//! that change something our own, which ask the [`Policy`] first.

use super::{
    policy::{Denied, OpenBits, errno},
    run::RunState,
};
use wasmtime::{AsContextMut, Caller, Error, Extern, Linker, Result, bail};
use wasmtime_wasi::{
    I32Exit,
    p1::{
        self, WasiP1Ctx,
        wasi_snapshot_preview1::{self as wasi, WasiSnapshotPreview1},
    },
};
use wiggle::GuestMemory;

const MODULE: &str = "wasi_snapshot_preview1";

/// Puts all imports of a guest into `linker`.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    p1::add_to_linker_async(linker, |state| &mut state.wasi)?;
    linker.allow_shadowing(true);
    link_open(linker)?;
    link_descriptors(linker)?;
    link_writes(linker)?;
    link_folders(linker)?;
    link_links(linker)?;
    link_times(linker)?;
    // wasmtime turns exit codes from 126 on into a trap; here every code is the program's own.
    linker.func_wrap(MODULE, "proc_exit", |code: i32| -> Result<()> {
        Err(Error::new(I32Exit(code)))
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

fn link_open(linker: &mut Linker<RunState>) -> Result<()> {
    type Args = (i32, i32, i32, i32, i32, i64, i64, i32, i32);
    linker.func_wrap_async(
        MODULE,
        "path_open",
        |mut caller: Caller<'_, RunState>, args: Args| {
            Box::new(async move {
                let (fd, lookup, path, len, open, rights, inheriting, flags, result) = args;
                let (mut memory, state) = split(&mut caller)?;
                let bits = OpenBits { lookup, open, rights };
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_open(fd, &path, bits));
                let node = match allowed {
                    Ok(node) => node,
                    Err(denied) => return refuse(denied),
                };
                let wasi = &mut state.wasi;
                let code = wasi::path_open(
                    wasi,
                    &mut memory,
                    fd,
                    lookup,
                    path,
                    len,
                    open,
                    rights,
                    inheriting,
                    flags,
                    result,
                )
                .await?;
                if code == errno::SUCCESS {
                    state.policy.opened(read_u32(&memory, result)?, node);
                }
                Ok(code)
            })
        },
    )?;
    Ok(())
}

fn link_descriptors(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "fd_close",
        |mut caller: Caller<'_, RunState>, (fd,): (i32,)| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let code = wasi::fd_close(&mut state.wasi, &mut memory, fd).await?;
                if code == errno::SUCCESS {
                    state.policy.closed(fd);
                }
                Ok(code)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_renumber",
        |mut caller: Caller<'_, RunState>, (from, to): (i32, i32)| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let code = wasi::fd_renumber(&mut state.wasi, &mut memory, from, to).await?;
                if code == errno::SUCCESS {
                    state.policy.renumbered(from, to);
                }
                Ok(code)
            })
        },
    )?;
    Ok(())
}

fn link_writes(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "fd_write",
        |mut caller: Caller<'_, RunState>, (fd, buffers, count, result): (i32, i32, i32, i32)| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                if state.policy.writable(fd).is_some() {
                    let start = tell(&mut state.wasi, fd)?;
                    if let Err(denied) = write(state, &memory, fd, start, (buffers, count)).await? {
                        return refuse(denied);
                    }
                }
                wasi::fd_write(&mut state.wasi, &mut memory, fd, buffers, count, result).await
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_pwrite",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i64, i32)| {
            Box::new(async move {
                let (fd, buffers, count, start, result) = args;
                let (mut memory, state) = split(&mut caller)?;
                if state.policy.writable(fd).is_some() {
                    let at = start.cast_unsigned();
                    if let Err(denied) = write(state, &memory, fd, at, (buffers, count)).await? {
                        return refuse(denied);
                    }
                }
                let wasi = &mut state.wasi;
                wasi::fd_pwrite(wasi, &mut memory, fd, buffers, count, start, result).await
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_filestat_set_size",
        |mut caller: Caller<'_, RunState>, (fd, size): (i32, i64)| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                if state.policy.writable(fd).is_some() {
                    let now = length(&mut state.wasi, fd).await?;
                    let more = size.cast_unsigned().saturating_sub(now);
                    if let Err(denied) = state.policy.charge(more) {
                        return refuse(denied);
                    }
                }
                wasi::fd_filestat_set_size(&mut state.wasi, &mut memory, fd, size).await
            })
        },
    )?;
    Ok(())
}

fn link_folders(linker: &mut Linker<RunState>) -> Result<()> {
    type Args = (i32, i32, i32);
    linker.func_wrap_async(
        MODULE,
        "path_create_directory",
        |mut caller: Caller<'_, RunState>, (fd, path, len): Args| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_create_folder(fd, &path));
                if let Err(denied) = allowed {
                    return refuse(denied);
                }
                wasi::path_create_directory(&mut state.wasi, &mut memory, fd, path, len).await
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_remove_directory",
        |mut caller: Caller<'_, RunState>, (fd, path, len): Args| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_remove_folder(fd, &path));
                let real = match allowed {
                    Ok(real) => real,
                    Err(denied) => return refuse(denied),
                };
                let wasi = &mut state.wasi;
                let code = wasi::path_remove_directory(wasi, &mut memory, fd, path, len).await?;
                if code == errno::SUCCESS {
                    state.policy.removed(&real);
                }
                Ok(code)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_unlink_file",
        |mut caller: Caller<'_, RunState>, (fd, path, len): Args| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_remove_file(fd, &path));
                let real = match allowed {
                    Ok(real) => real,
                    Err(denied) => return refuse(denied),
                };
                let code =
                    wasi::path_unlink_file(&mut state.wasi, &mut memory, fd, path, len).await?;
                if code == errno::SUCCESS {
                    state.policy.removed(&real);
                }
                Ok(code)
            })
        },
    )?;
    Ok(())
}

fn link_links(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "path_rename",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i32, i32, i32)| {
            Box::new(async move {
                let (fd, path, len, to_fd, to, to_len) = args;
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .and_then(|path| Ok((path, text(&memory, to, to_len)?)))
                    .map_err(Denied::from)
                    .and_then(|(path, to)| state.policy.on_rename((fd, &path), (to_fd, &to)));
                let (old, new) = match allowed {
                    Ok(both) => both,
                    Err(denied) => return refuse(denied),
                };
                let wasi = &mut state.wasi;
                let code =
                    wasi::path_rename(wasi, &mut memory, fd, path, len, to_fd, to, to_len).await?;
                if code == errno::SUCCESS {
                    state.policy.renamed(&old, &new);
                }
                Ok(code)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_symlink",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i32, i32)| {
            Box::new(async move {
                let (target, target_len, fd, path, len) = args;
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, target, target_len)
                    .and_then(|target| Ok((target, text(&memory, path, len)?)))
                    .map_err(Denied::from)
                    .and_then(|(target, path)| state.policy.on_link(&target, fd, &path));
                if let Err(denied) = allowed {
                    return refuse(denied);
                }
                let wasi = &mut state.wasi;
                wasi::path_symlink(wasi, &mut memory, target, target_len, fd, path, len).await
            })
        },
    )?;
    // A hard link would make a protected or an outer file writable under another name.
    linker.func_wrap(
        MODULE,
        "path_link",
        |_: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32| -> i32 { errno::PERM },
    )?;
    Ok(())
}

fn link_times(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "path_filestat_set_times",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i32, i64, i64, i32)| {
            Box::new(async move {
                let (fd, lookup, path, len, accessed, modified, flags) = args;
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_touch(fd, lookup, &path));
                if let Err(denied) = allowed {
                    return refuse(denied);
                }
                wasi::path_filestat_set_times(
                    &mut state.wasi,
                    &mut memory,
                    fd,
                    lookup,
                    path,
                    len,
                    accessed,
                    modified,
                    flags,
                )
                .await
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_filestat_set_times",
        |mut caller: Caller<'_, RunState>, args: (i32, i64, i64, i32)| {
            Box::new(async move {
                let (fd, accessed, modified, flags) = args;
                let (mut memory, state) = split(&mut caller)?;
                if let Err(denied) = state.policy.on_touch_open(fd) {
                    return refuse(denied);
                }
                let wasi = &mut state.wasi;
                wasi::fd_filestat_set_times(wasi, &mut memory, fd, accessed, modified, flags).await
            })
        },
    )?;
    Ok(())
}

/// Charges a write of the first buffer that is not empty, at `start`, and the gap that it leaves
/// behind the end of the file.
async fn write(
    state: &mut RunState,
    memory: &GuestMemory<'_>,
    fd: i32,
    start: u64,
    (buffers, count): (i32, i32),
) -> Result<Result<(), Denied>> {
    let bytes = match first_length(memory, buffers, count) {
        Ok(bytes) => u64::from(bytes),
        Err(code) => return Ok(Err(code.into())),
    };
    let Some(node) = state.policy.writable(fd) else { return Ok(Ok(())) };
    let mut end = node.len;
    if start > end {
        end = length(&mut state.wasi, fd).await?;
    }
    let gap = start.saturating_sub(end);
    let charged = state.policy.charge(bytes.saturating_add(gap));
    if let Some(node) = state.policy.writable(fd) {
        node.len = end.max(start.saturating_add(bytes));
    }
    Ok(charged)
}

/// What the guest, or the run, gets instead of the call.
fn refuse(denied: Denied) -> Result<i32> {
    match denied {
        Denied::Errno(code) => Ok(code),
        Denied::End(end) => Err(Error::new(end)),
    }
}

/// The guest's memory and the run's state, with the fuel set that bounds what the host copies.
fn split<'a>(caller: &'a mut Caller<'_, RunState>) -> Result<(GuestMemory<'a>, &'a mut RunState)> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        bail!("the program does not export its memory");
    };
    let fuel = caller.as_context_mut().hostcall_fuel();
    let (bytes, state) = memory.data_and_store_mut(caller);
    state.wasi.set_hostcall_fuel(fuel);
    Ok((GuestMemory::Unshared(bytes), state))
}

fn bytes<'m>(memory: &'m GuestMemory<'_>, at: i32, len: i32) -> Result<&'m [u8], i32> {
    let GuestMemory::Unshared(memory) = memory else { return Err(errno::FAULT) };
    let at = at.cast_unsigned() as usize;
    let end = at.checked_add(len.cast_unsigned() as usize).ok_or(errno::FAULT)?;
    memory.get(at..end).ok_or(errno::FAULT)
}

fn text(memory: &GuestMemory<'_>, at: i32, len: i32) -> Result<String, i32> {
    let bytes = bytes(memory, at, len)?;
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| errno::ILSEQ)
}

fn read_u32(memory: &GuestMemory<'_>, at: i32) -> Result<u32> {
    match bytes(memory, at, 4).map(<[u8]>::first_chunk) {
        Ok(Some(word)) => Ok(u32::from_le_bytes(*word)),
        _ => bail!("the program's memory ends before the result"),
    }
}

/// The length of the first buffer that is not empty: the only one that a call writes.
fn first_length(memory: &GuestMemory<'_>, buffers: i32, count: i32) -> Result<u32, i32> {
    let list = bytes(memory, buffers, count.checked_mul(8).ok_or(errno::FAULT)?)?;
    let lengths = list.chunks_exact(8).filter_map(<[u8]>::last_chunk::<4>);
    Ok(lengths.map(|len| u32::from_le_bytes(*len)).find(|&len| len > 0).unwrap_or(0))
}

/// Where the next write to `fd` begins.
fn tell(wasi: &mut WasiP1Ctx, fd: i32) -> Result<u64> {
    let mut own = Scratch([0; 64]);
    let code = wasi::fd_tell(wasi, &mut own.memory(), fd, 0)?;
    Ok(if code == errno::SUCCESS { own.u64_at(0) } else { 0 })
}

/// The file's length now.
async fn length(wasi: &mut WasiP1Ctx, fd: i32) -> Result<u64> {
    const SIZE_FIELD: usize = 32;
    let mut own = Scratch([0; 64]);
    let code = wasi::fd_filestat_get(wasi, &mut own.memory(), fd, 0).await?;
    Ok(if code == errno::SUCCESS { own.u64_at(SIZE_FIELD) } else { 0 })
}

/// Memory of our own in place of the guest's, for calls that we make; results in it must be
/// aligned as they are in a guest.
#[repr(align(8))]
struct Scratch([u8; 64]);

impl Scratch {
    const fn memory(&mut self) -> GuestMemory<'_> {
        GuestMemory::Unshared(&mut self.0)
    }

    fn u64_at(&self, at: usize) -> u64 {
        let word = self.0.get(at..).and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| u64::from_le_bytes(*word))
    }
}
