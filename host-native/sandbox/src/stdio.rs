//! Where a run's standard output and standard error go: into a capture, which keeps the start and
//! the end of each, and as they come to whoever watches; too much of it ends the run.

use super::{limits::Limits, quota::Budget};
use bytes::Bytes;
use innerloop_driver::{
    Keys,
    capture::{Capture, Channel, End, Limit},
};
use std::{
    future::{Future, ready},
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

/// Receives output as it comes. A closure that takes a text is one that always has room.
pub type OnDelta = Arc<dyn Watcher>;

/// The wait until a watcher has room.
pub type Room<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Whoever watches the output of a run.
pub trait Watcher: Send + Sync {
    /// Takes output, decoded and never cut inside a character. It must not block.
    fn tell(&self, text: &str);

    /// Whether more should come now. A program that prints waits until it is so.
    fn has_room(&self) -> bool {
        true
    }

    /// Waits until [`Watcher::has_room`].
    fn room(&self) -> Room<'_> {
        Box::pin(ready(()))
    }
}

impl<F: Fn(&str) + Send + Sync> Watcher for F {
    fn tell(&self, text: &str) {
        self(text);
    }
}

/// Both outputs of one run; clones share them.
#[derive(Clone)]
pub(super) struct Stdio {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    capture: Capture,
    total: u64,
    max_total: u64,
    /// What is left of the session's limits.
    budget: Arc<Budget>,
    on_delta: Option<OnDelta>,
}

impl Stdio {
    pub(super) fn new(
        keys: &Keys,
        limits: &Limits,
        budget: Arc<Budget>,
        on_delta: Option<OnDelta>,
    ) -> Self {
        let capture = Capture::new(keys, limits.kept_output_bytes);
        let max_total = limits.output_bytes;
        let shared = Shared { capture, total: 0, max_total, budget, on_delta };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    pub(super) fn stream(&self, channel: Channel) -> Stream {
        Stream { stdio: self.clone(), channel }
    }

    /// Ends both outputs and takes what was kept of them.
    pub(super) fn take(&self) -> Capture {
        self.with(|shared| {
            let last = shared.capture.finish();
            shared.tell(&last);
            std::mem::replace(&mut shared.capture, Capture::new(&Keys::default(), 0))
        })
    }

    fn on_delta(&self) -> Option<OnDelta> {
        self.with(|shared| shared.on_delta.clone())
    }

    fn with<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    fn write(&mut self, channel: Channel, bytes: &[u8]) -> Result<(), End> {
        if !self.budget.take_output(bytes.len() as u64) {
            return Err(End::Limit(Limit::Output));
        }
        let room = usize::try_from(self.max_total - self.total).unwrap_or(usize::MAX);
        let fits = bytes.get(..room).unwrap_or(bytes);
        self.total += fits.len() as u64;
        let text = self.capture.push(channel, fits);
        self.tell(&text);
        if fits.len() < bytes.len() { Err(End::Limit(Limit::Output)) } else { Ok(()) }
    }

    fn tell(&self, text: &str) {
        if let Some(on_delta) = self.on_delta.as_ref().filter(|_| !text.is_empty()) {
            on_delta.tell(text);
        }
    }
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
    async fn ready(&mut self) {
        if let Some(on_delta) = self.stdio.on_delta() {
            on_delta.room().await;
        }
    }
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
        let has_room = self.stdio.on_delta().is_none_or(|on_delta| on_delta.has_room());
        Ok(if has_room { 64 << 10 } else { 0 })
    }
}

/// Preview 1 prints by the stream above; this one does not wait for room.
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
