//! Access to a guest's memory: bytes, paths and lists of buffers. Addresses and lengths are the
//! guest's and may be anything; one outside of the memory is an error number for the guest, never a
//! fault of the host.

use super::{errno, state::GuestCaller, wasi_error::CallError};
use std::ops::Range;
use wasmtime::{AsContextMut, Error, Extern, Memory};
use wasmtime_wasi::p1::{WasiP1Ctx, wasi_snapshot_preview1::WasiSnapshotPreview1};
use wiggle::GuestMemory;

/// The longest path in bytes.
const MAX_PATH: i32 = 4096;

/// The most bytes that one call reads or writes; a guest calls again for more.
const MAX_PIECE: usize = 1 << 20;

/// The most buffers of one call, as many as other systems take.
const MAX_BUFFERS: i32 = 1024;

/// The memory and wasmtime's own state, for a call of one of its functions.
pub(super) fn split<'a>(
    guest: &'a mut GuestCaller<'_>,
) -> Result<(GuestMemory<'a>, &'a mut WasiP1Ctx), CallError> {
    let memory = memory(guest)?;
    // Fuel bounds the bytes that such a function copies. It begins at 0, and the imports that
    // wasmtime links by itself set it before each call; ours call the functions directly.
    let fuel = guest.as_context_mut().hostcall_fuel();
    let (bytes, state) = memory.data_and_store_mut(guest);
    state.wasi.set_hostcall_fuel(fuel);
    Ok((GuestMemory::Unshared(bytes), &mut state.wasi))
}

/// The bytes at the address `at`.
pub(super) fn bytes<'a>(
    guest: &'a mut GuestCaller<'_>,
    at: i32,
    len: i32,
) -> Result<&'a [u8], CallError> {
    let memory = memory(guest)?;
    memory.data(guest).get(range(at, len)?).ok_or(CallError::Errno(errno::FAULT))
}

/// The path at the address `at`.
pub(super) fn path(guest: &mut GuestCaller<'_>, at: i32, len: i32) -> Result<String, CallError> {
    // Compared as unsigned, or a negative length would pass.
    if len.cast_unsigned() > MAX_PATH.cast_unsigned() {
        return Err(CallError::Errno(errno::NAMETOOLONG));
    }
    let bytes = bytes(guest, at, len)?;
    // For the system a path ends at a NUL: it is refused before a part of it is judged.
    if bytes.contains(&0) {
        return Err(CallError::Errno(errno::ILSEQ));
    }
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| CallError::Errno(errno::ILSEQ))
}

/// Writes bytes to the address `at`.
pub(super) fn put(guest: &mut GuestCaller<'_>, at: i32, bytes: &[u8]) -> Result<(), CallError> {
    let memory = memory(guest)?;
    let len = i32::try_from(bytes.len()).map_err(|_| CallError::Errno(errno::FAULT))?;
    let place = memory.data_mut(guest).get_mut(range(at, len)?);
    place.ok_or(CallError::Errno(errno::FAULT))?.copy_from_slice(bytes);
    Ok(())
}

/// The address and length of the first buffer of a list that is not empty, which is the only one
/// that a call fills or writes.
pub(super) fn first_buffer(
    guest: &mut GuestCaller<'_>,
    buffers: i32,
    count: i32,
) -> Result<(i32, usize), CallError> {
    // POSIX lets `readv` and `writev` transfer less than was asked for, and wasmtime does the same:
    // a libc calls again for the rest.
    if !(0..=MAX_BUFFERS).contains(&count) {
        return Err(CallError::Errno(errno::INVAL));
    }
    let list = bytes(guest, buffers, count * 8)?;
    let words = list.chunks_exact(8).map(|entry| {
        let word = |bytes: Option<&[u8; 4]>| bytes.map_or(0, |bytes| i32::from_le_bytes(*bytes));
        (word(entry.first_chunk()), word(entry.last_chunk()))
    });
    let first = words.into_iter().find(|(_, len)| *len != 0).unwrap_or((0, 0));
    let len = (first.1.cast_unsigned() as usize).min(MAX_PIECE);
    Ok((first.0, len))
}

/// A copy of the first buffer of a list that is not empty.
pub(super) fn first_bytes(
    guest: &mut GuestCaller<'_>,
    buffers: i32,
    count: i32,
) -> Result<Vec<u8>, CallError> {
    let (at, len) = first_buffer(guest, buffers, count)?;
    let len = i32::try_from(len).map_err(|_| CallError::Errno(errno::FAULT))?;
    bytes(guest, at, len).map(<[u8]>::to_vec)
}

fn memory(guest: &mut GuestCaller<'_>) -> Result<Memory, CallError> {
    match guest.get_export("memory") {
        Some(Extern::Memory(memory)) => Ok(memory),
        _ => Err(CallError::Broken(Error::msg("the program does not export its memory"))),
    }
}

fn range(at: i32, len: i32) -> Result<Range<usize>, CallError> {
    // WASI passes addresses and lengths as signed numbers; they are unsigned.
    let at = at.cast_unsigned() as usize;
    let end = at.checked_add(len.cast_unsigned() as usize).ok_or(errno::FAULT)?;
    Ok(at..end)
}
