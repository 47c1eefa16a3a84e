//! The imported function that waits for time, streams and files. Files are always ready; wasmtime
//! waits for the rest, as a future, so that a time limit or a cancellation ends the wait.

use super::{
    errno,
    files::OpenNode,
    memory::{bytes, put, split},
    state::{GuestCaller, MODULE, RunState, look},
    wasi_error::{CallError, CallResult, answer},
};
use wasmtime::{Linker, Result};
use wasmtime_wasi::p1::wasi_snapshot_preview1 as wasi;

/// The addresses of subscriptions and events, their count, and the address of the result.
type PollArgs = (i32, i32, i32, i32);

/// The length in bytes of a subscription. It begins with eight bytes that are the guest's own.
const SUBSCRIPTION: usize = 48;
/// The offset of a subscription's kind.
const KIND: usize = 8;
/// The offset of a subscription's descriptor.
const DESCRIPTOR: usize = 16;
/// The kind of a subscription that waits for time.
const CLOCK: u8 = 0;

/// The most subscriptions of one call.
const MOST: i32 = 4096;

/// Links the function.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    linker
        .func_wrap_async(MODULE, "poll_oneoff", |mut guest: GuestCaller<'_>, args: PollArgs| {
            Box::new(async move { answer(poll(&mut guest, args).await) })
        })
        .map(drop)
}

async fn poll(
    guest: &mut GuestCaller<'_>,
    (subscriptions, events, count, result): PollArgs,
) -> CallResult {
    if !(1..=MOST).contains(&count) {
        return Err(CallError::Errno(errno::INVAL));
    }
    let size = i32::try_from(SUBSCRIPTION).unwrap_or(i32::MAX);
    // A copy, since the guest's memory and its files can't be borrowed at the same time.
    let all = bytes(guest, subscriptions, count.saturating_mul(size))?.to_vec();
    let ready: Vec<u8> = look(guest, |files| {
        let ready = |one: &[u8]| match subscribed(one) {
            Some(fd) => match files.node(fd) {
                Ok(OpenNode::Standard(number)) if number.cast_signed() == fd => None,
                // wasmtime knows the streams by their first numbers, and nothing of `fd_renumber`.
                Ok(OpenNode::Standard(_) | OpenNode::Folder(_)) | Err(_) => {
                    Some(event(one, errno::BADF))
                }
                Ok(OpenNode::File(_)) => Some(event(one, errno::SUCCESS)),
            },
            None => None,
        };
        all.chunks_exact(SUBSCRIPTION).filter_map(ready).flatten().collect()
    });
    // Ready files are reported at once, and the rest is left for the next call: waiting would hold
    // up a guest that can go on.
    if ready.is_empty() {
        let (mut memory, wasi) = split(guest)?;
        let polled = wasi::poll_oneoff(wasi, &mut memory, subscriptions, events, count, result);
        return match polled.await? {
            errno::SUCCESS => Ok(()),
            code => Err(CallError::Errno(code)),
        };
    }
    put(guest, events, &ready)?;
    let count = u32::try_from(ready.len() / EVENT).map_err(|_| errno::INVAL)?;
    put(guest, result, &count.to_le_bytes())
}

/// The descriptor of a subscription; `None` if it waits for time.
fn subscribed(one: &[u8]) -> Option<i32> {
    if one.get(KIND) == Some(&CLOCK) {
        return None;
    }
    one.get(DESCRIPTOR..).and_then(<[u8]>::first_chunk).map(|fd| i32::from_le_bytes(*fd))
}

/// The length in bytes of an event: the guest's own eight bytes, an error number, the kind, and the
/// number of bytes that are ready.
const EVENT: usize = 32;

fn event(subscription: &[u8], code: i32) -> [u8; EVENT] {
    let mut event = [0; EVENT];
    let (name, rest) = event.split_at_mut(KIND);
    for (to, from) in name.iter_mut().zip(subscription) {
        *to = *from;
    }
    let kind = subscription.get(KIND).copied().unwrap_or_default();
    let [low, high, ..] = code.to_le_bytes();
    let is_ready = u8::from(code == errno::SUCCESS);
    for (to, from) in rest.iter_mut().zip([low, high, kind, 0, 0, 0, 0, 0, is_ready]) {
        *to = from;
    }
    event
}
