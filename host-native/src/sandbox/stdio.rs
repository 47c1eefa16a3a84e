//! Where a run's standard output and standard error go: the start and the end of each are kept,
//! all of it is counted and handed on as it comes, and too much of it ends the run.

use super::{end::End, limits::Limits};
use bytes::Bytes;
use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};
use tokio::io::AsyncWrite;
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamError, StreamResult},
};

/// Receives output as it comes, decoded and never cut inside a character.
pub type OnDelta = Arc<dyn Fn(&str) + Send + Sync>;

/// Which of the two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Out,
    Err,
}

/// One of a run's outputs as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// All of it, or its start.
    pub head: Vec<u8>,
    /// Its end, if the middle was dropped or the two halves meet.
    pub tail: Vec<u8>,
    /// How many bytes between them were dropped.
    pub dropped: u64,
}

impl Captured {
    /// The output as text, with a line in place of what was dropped.
    #[must_use]
    pub fn text(&self) -> String {
        if self.dropped == 0 {
            let whole = [self.head.as_slice(), &self.tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        format!("{head}\n[{} bytes of output dropped here]\n{tail}", self.dropped)
    }
}

/// Both outputs of one run; clones share them.
#[derive(Clone)]
pub(super) struct Stdio {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    out: Kept,
    err: Kept,
    total: u64,
    max_total: u64,
    on_delta: Option<OnDelta>,
}

#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
    half: usize,
    /// The start of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl Stdio {
    pub(super) fn new(limits: &Limits, on_delta: Option<OnDelta>) -> Self {
        let kept = || Kept { half: limits.kept_output_bytes / 2, ..Kept::default() };
        let max_total = limits.output_bytes;
        let shared = Shared { out: kept(), err: kept(), total: 0, max_total, on_delta };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    pub(super) fn stream(&self, channel: Channel) -> Stream {
        Stream { stdio: self.clone(), channel }
    }

    /// Ends both outputs and takes what was kept of them.
    pub(super) fn take(&self) -> (Captured, Captured) {
        self.with(|shared| {
            shared.flush_partial(Channel::Out);
            shared.flush_partial(Channel::Err);
            (std::mem::take(&mut shared.out).captured(), std::mem::take(&mut shared.err).captured())
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    const fn kept(&mut self, channel: Channel) -> &mut Kept {
        match channel {
            Channel::Out => &mut self.out,
            Channel::Err => &mut self.err,
        }
    }

    fn write(&mut self, channel: Channel, bytes: &[u8]) -> Result<(), End> {
        self.total = self.total.saturating_add(bytes.len() as u64);
        if self.total > self.max_total {
            return Err(End::OutputLimit);
        }
        self.kept(channel).push(bytes);
        if let Some(on_delta) = self.on_delta.clone() {
            let text = self.kept(channel).decode(bytes);
            if !text.is_empty() {
                on_delta(&text);
            }
        }
        Ok(())
    }

    fn flush_partial(&mut self, channel: Channel) {
        let partial = std::mem::take(&mut self.kept(channel).partial);
        if let Some(on_delta) = self.on_delta.as_ref().filter(|_| !partial.is_empty()) {
            on_delta(&String::from_utf8_lossy(&partial));
        }
    }
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// The text that `bytes` complete; the start of a character that they leave open is kept
    /// for the next call.
    fn decode(&mut self, bytes: &[u8]) -> String {
        self.partial.extend_from_slice(bytes);
        let whole = self.partial.len() - open_character(&self.partial);
        let rest = self.partial.split_off(whole);
        let text = String::from_utf8_lossy(&self.partial).into_owned();
        self.partial = rest;
        text
    }

    fn captured(self) -> Captured {
        Captured { head: self.head, tail: self.tail.into(), dropped: self.dropped }
    }
}

/// How many bytes at the end of `bytes` are the start of a character that is not complete.
fn open_character(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let Some(&byte) = bytes.iter().nth_back(back - 1) else { return 0 };
        let length = match byte {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            0b1000_0000..=0b1011_1111 => continue,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

/// One of the outputs, as the guest's file descriptor 1 or 2 sees it.
#[derive(Clone)]
pub(super) struct Stream {
    stdio: Stdio,
    channel: Channel,
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.stdio
            .with(|shared| shared.write(self.channel, &bytes))
            .map_err(|end| StreamError::Trap(wasmtime::Error::new(end)))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = self.stdio.with(|shared| shared.write(self.channel, bytes));
        Poll::Ready(written.map(|()| bytes.len()).map_err(std::io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
