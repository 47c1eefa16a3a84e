//! The imported functions that work on open files and folders. The policy keeps track of their
//! descriptors and counts what is written; folders are listed once per round.

use super::{
    errno,
    listing::Listing,
    memory::{Scratch, fill, first_length},
    policy::Denied,
    state::{MODULE, RunState, split},
};
use wasmtime::{Caller, Linker, Result};
use wasmtime_wasi::p1::{WasiP1Ctx, wasi_snapshot_preview1 as wasi};
use wiggle::GuestMemory;

/// Puts them into `linker`.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    link_numbers(linker)?;
    link_writes(linker)?;
    link_lengths(linker)?;
    link_listing(linker)
}

fn link_numbers(linker: &mut Linker<RunState>) -> Result<()> {
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
                        return denied.answer();
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
                        return denied.answer();
                    }
                }
                let wasi = &mut state.wasi;
                wasi::fd_pwrite(wasi, &mut memory, fd, buffers, count, start, result).await
            })
        },
    )?;
    Ok(())
}

fn link_lengths(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "fd_filestat_set_times",
        |mut caller: Caller<'_, RunState>, args: (i32, i64, i64, i32)| {
            Box::new(async move {
                let (fd, accessed, modified, flags) = args;
                let (mut memory, state) = split(&mut caller)?;
                if let Err(denied) = state.policy.on_touch_open(fd) {
                    return denied.answer();
                }
                let wasi = &mut state.wasi;
                wasi::fd_filestat_set_times(wasi, &mut memory, fd, accessed, modified, flags).await
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
                        return denied.answer();
                    }
                }
                wasi::fd_filestat_set_size(&mut state.wasi, &mut memory, fd, size).await
            })
        },
    )?;
    Ok(())
}

fn link_listing(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "fd_readdir",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i64, i32)| {
            Box::new(async move {
                let (fd, buffer, len, cookie, result) = args;
                let (mut memory, state) = split(&mut caller)?;
                if cookie == 0 || state.policy.listing(fd).is_none() {
                    let listing = match Listing::read(&mut state.wasi, fd).await? {
                        Err(errno::ILSEQ) => {
                            let Some(place) = state.policy.place(fd) else {
                                return Ok(errno::ILSEQ);
                            };
                            Listing::read_leniently(&mut state.wasi, fd, &place).await?
                        }
                        listing => listing,
                    };
                    match listing {
                        Ok(listing) => state.policy.listed(fd, listing),
                        Err(code) => return Ok(code),
                    }
                }
                let Some(listing) = state.policy.listing(fd) else { return Ok(errno::BADF) };
                Ok(fill(&mut memory, (buffer, len), listing.from(cookie), result))
            })
        },
    )?;
    Ok(())
}

/// Charges a write of the first non-empty buffer at `start`, and the gap that it leaves behind the
/// end of the file.
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

/// Where the next write to `fd` begins.
fn tell(wasi: &mut WasiP1Ctx, fd: i32) -> Result<u64> {
    let mut own = Scratch::new(0);
    let result = own.result();
    let code = wasi::fd_tell(wasi, &mut own.memory(), fd, result)?;
    Ok(if code == errno::SUCCESS { own.result_u64() } else { 0 })
}

/// The file's length now.
async fn length(wasi: &mut WasiP1Ctx, fd: i32) -> Result<u64> {
    const STAT_BYTES: usize = 64;
    const SIZE_FIELD: usize = 32;
    let mut own = Scratch::new(STAT_BYTES);
    let at = own.data();
    let code = wasi::fd_filestat_get(wasi, &mut own.memory(), fd, at).await?;
    Ok(if code == errno::SUCCESS { own.data_u64(SIZE_FIELD) } else { 0 })
}
