//! Whether there is memory for a request, before it is read. A module whose memory is full traps,
//! with every session in it; so what is too large is refused in words, and changes nothing.

use super::answer::RequestError;
use alloc::{format, vec::Vec};

/// The most bytes of a request's line: no provider takes a request that is larger.
const MAX_LINE_BYTES: usize = 32 << 20;
/// The memory that a byte of a line may need, in bytes: it is kept as a part of the history, and is
/// written as a line of the log, as an event and into a request, each as it is and as JSON.
const MEMORY_PER_LINE_BYTE: usize = 18;
/// The memory that a byte behind the line may need, in bytes: a log or a snapshot is read into the
/// session that it holds.
const MEMORY_PER_BYTE_BEHIND: usize = 10;
/// The memory that a byte of a response under way may need, in bytes: its text grows, and becomes a
/// turn, a snapshot and an event in the end.
const MEMORY_PER_GATHERED_BYTE: usize = 4;
/// The memory that any request may need, in bytes.
const MEMORY_PER_REQUEST: usize = 1 << 20;
/// The beginnings of the requests that give memory back, which are never refused.
const GIVING_BACK: [&[u8]; 2] = [b"{\"close\"", b"{\"discard\""];

/// Refuses a request that is too large, or that may need more memory than there is, where answers
/// have had up to `largest` bytes.
pub(super) fn check(request: &[u8], largest: usize) -> Result<(), RequestError> {
    let line = request.iter().position(|byte| *byte == b'\n').unwrap_or(request.len());
    if line > MAX_LINE_BYTES {
        let message = format!(
            "a request of {line} bytes is too large: its line may have up to {MAX_LINE_BYTES}, \
             which is more than any model reads"
        );
        return Err(RequestError::new("too_large", message));
    }
    if GIVING_BACK.iter().any(|verb| request.starts_with(verb)) {
        return Ok(());
    }
    let behind = request.len().saturating_sub(line);
    let need = line
        .saturating_mul(MEMORY_PER_LINE_BYTE)
        .saturating_add(behind.saturating_mul(MEMORY_PER_BYTE_BEHIND))
        .saturating_add(largest.saturating_mul(2))
        .saturating_add(MEMORY_PER_REQUEST);
    let message = format!("a request of {} bytes", request.len());
    reserve(need, &message)
}

/// Refuses more of a response of which there are `gathered` bytes, where there may be no memory for
/// what is made of it.
pub(super) fn check_gathered(gathered: usize) -> Result<(), RequestError> {
    // Every request has room for as much.
    if gathered <= MEMORY_PER_REQUEST / MEMORY_PER_GATHERED_BYTE {
        return Ok(());
    }
    let need = gathered.saturating_mul(MEMORY_PER_GATHERED_BYTE);
    reserve(need, &format!("a response of {gathered} bytes"))
}

/// Returns what can be had now can be had again: nothing else runs meanwhile.
fn reserve(need: usize, what: &str) -> Result<(), RequestError> {
    Vec::<u8>::new().try_reserve_exact(need).map_err(|_| {
        let message = format!(
            "there is no memory for {what}: close sessions that are over, or open others in \
             another instance"
        );
        RequestError::new("no_memory", message)
    })
}
