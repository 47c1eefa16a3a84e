//! Waiting for time, streams and files. Files are always ready; for the rest wasmtime waits.

use super::{
    errno,
    files::OpenNode,
    memory::{bytes, put, split},
    state::{GuestCaller, MODULE, RunState, look},
    wasi_error::{CallError, CallResult, answer},
};
use wasmtime::{Linker, Result};
use wasmtime_wasi::p1::wasi_snapshot_preview1 as wasi;

/// Subscriptions, events, how many, where the result goes.
type PollArgs = (i32, i32, i32, i32);

/// A subscription: what the guest knows it by, what it is for, and of which descriptor.
const SUBSCRIPTION: usize = 48;
const KIND: usize = 8;
const DESCRIPTOR: usize = 16;
const CLOCK: u8 = 0;

/// Most subscriptions of one call.
const MOST: i32 = 4096;

/// Puts it into `linker`.
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
    let all = bytes(guest, subscriptions, count.saturating_mul(size))?.to_vec();
    let ready: Vec<u8> = look(guest, |files| {
        let ready = |one: &[u8]| match subscribed(one) {
            Some(fd) => match files.node(fd) {
                Ok(OpenNode::Standard(number)) if number.cast_signed() == fd => None,
                // A stream under another number cannot be waited for.
                Ok(OpenNode::Standard(_) | OpenNode::Folder(_)) | Err(_) => {
                    Some(event(one, errno::BADF))
                }
                Ok(OpenNode::File(_)) => Some(event(one, errno::SUCCESS)),
            },
            None => None,
        };
        all.chunks_exact(SUBSCRIPTION).filter_map(ready).flatten().collect()
    });
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

/// The descriptor that a subscription is for.
fn subscribed(one: &[u8]) -> Option<i32> {
    if one.get(KIND) == Some(&CLOCK) {
        return None;
    }
    one.get(DESCRIPTOR..).and_then(<[u8]>::first_chunk).map(|fd| i32::from_le_bytes(*fd))
}

/// An event: what the guest knows it by, an error number, what it is for, how many bytes.
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
