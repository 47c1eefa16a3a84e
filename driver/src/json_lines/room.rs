//! The check that there is memory for a request, before it is read. A module whose memory is full
//! traps with every session in it; so a request that is too large is refused with an error, and
//! changes nothing.

use super::answer::RequestError;
use alloc::{format, vec::Vec};

/// The maximum number of bytes of a request's line: no provider takes a request that is larger.
const MAX_LINE_BYTES: usize = 32 << 20;
/// The memory that a byte of a line may need, in bytes. It becomes part of the history, and is
/// written into a line of the log, an event and a request, each as it is and as JSON.
const MEMORY_PER_LINE_BYTE: usize = 18;
/// The memory that a byte behind the line may need, in bytes: a log or a snapshot is read into the
/// session that it holds.
const MEMORY_PER_BYTE_BEHIND: usize = 10;
/// The memory that a byte of a response in flight may need, in bytes: its text grows, and becomes a
/// turn, a snapshot and an event in the end.
const MEMORY_PER_GATHERED_BYTE: usize = 4;
/// The memory that any request may need, in bytes.
const MEMORY_PER_REQUEST: usize = 1 << 20;
/// The beginnings of the requests that free memory, which are never refused.
const GIVING_BACK: [&[u8]; 2] = [b"{\"close\"", b"{\"discard\""];

/// Checks that a request is not too large, and that there is the memory that it may need if answers
/// have had up to `largest` bytes.
///
/// # Errors
/// `too_large` or `no_memory`, with what to do.
pub(super) fn check(request: &[u8], largest: usize) -> Result<(), RequestError> {
    let line = request.iter().position(|byte| *byte == b'\n').unwrap_or(request.len());
    if line > MAX_LINE_BYTES {
        let message = format!(
            "a request of {line} bytes is too large: its line may have up to {MAX_LINE_BYTES}, \
             which is more than any model reads"
        );
        return Err(RequestError::new("too_large", message));
    }
    // By the first bytes, since reading the request would take the memory that is missing. A host
    // out of memory must still be able to close sessions.
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

/// Checks that there is memory for what is made of a response of `gathered` bytes so far.
///
/// # Errors
/// `no_memory`, with what to do.
pub(super) fn check_gathered(gathered: usize) -> Result<(), RequestError> {
    // The check of the request that brought it has found room for as much. Most responses end here,
    // and cost no allocation for each of their chunks.
    if gathered <= MEMORY_PER_REQUEST / MEMORY_PER_GATHERED_BYTE {
        return Ok(());
    }
    let need = gathered.saturating_mul(MEMORY_PER_GATHERED_BYTE);
    reserve(need, &format!("a response of {gathered} bytes"))
}

/// Checks that so much memory can be allocated.
fn reserve(need: usize, what: &str) -> Result<(), RequestError> {
    // Allocated and freed at once: a module has one thread, so that what can be had now can be had
    // again while the request is handled.
    Vec::<u8>::new().try_reserve_exact(need).map_err(|_| {
        let message = format!(
            "there is no memory for {what}: close sessions that are over, or open others in \
             another instance"
        );
        RequestError::new("no_memory", message)
    })
}
