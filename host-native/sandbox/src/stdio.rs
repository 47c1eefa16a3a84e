//! The standard output and standard error of a run. They go into a capture, which keeps the start
//! and the end of each, and as they come to a watcher, for whom the program waits. Output beyond
//! the limits ends the run.

use super::{limits::RunLimits, quota::SessionQuota};
use bytes::Bytes;
use innerloop_driver::{
    SecretKeys,
    capture::{ExceededLimit, OutputCapture, ProgramExit, StandardStream},
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

/// The receiver of output as it comes. A closure that takes a text is one that always has room.
pub type OnDelta = Arc<dyn OutputWatcher>;

/// The future that is done when a watcher has room.
pub type RoomFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A watcher of a run's output.
pub trait OutputWatcher: Send + Sync {
    /// Takes output, decoded and never cut inside a character. It must not block.
    fn tell(&self, text: &str);

    /// Returns whether more should come now. A program that prints waits until this is true.
    fn has_room(&self) -> bool {
        true
    }

    /// Waits until [`OutputWatcher::has_room`].
    fn room(&self) -> RoomFuture<'_> {
        Box::pin(ready(()))
    }
}

impl<F: Fn(&str) + Send + Sync> OutputWatcher for F {
    fn tell(&self, text: &str) {
        self(text);
    }
}

/// Both outputs of one run. Clones share them.
#[derive(Clone)]
pub(super) struct RunStdio {
    shared: Arc<Mutex<StdioState>>,
}

struct StdioState {
    capture: OutputCapture,
    total: u64,
    max_total: u64,
    /// The resources that are left for the session.
    budget: Arc<SessionQuota>,
    on_delta: Option<OnDelta>,
}

impl RunStdio {
    pub(super) fn new(
        keys: &SecretKeys,
        limits: &RunLimits,
        budget: Arc<SessionQuota>,
        on_delta: Option<OnDelta>,
    ) -> Self {
        let capture = OutputCapture::new(keys, limits.kept_output_bytes);
        let max_total = limits.output_bytes;
        let shared = StdioState { capture, total: 0, max_total, budget, on_delta };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    pub(super) fn stream(&self, channel: StandardStream) -> StdioStream {
        StdioStream { stdio: self.clone(), channel }
    }

    /// Ends both outputs and takes their capture.
    pub(super) fn take(&self) -> OutputCapture {
        self.with(|shared| {
            // The rest that was held back: a cut character, or what could have become a secret.
            let last = shared.capture.finish();
            shared.tell(&last);
            std::mem::replace(&mut shared.capture, OutputCapture::new(&SecretKeys::default(), 0))
        })
    }

    fn on_delta(&self) -> Option<OnDelta> {
        self.with(|shared| shared.on_delta.clone())
    }

    fn with<T>(&self, f: impl FnOnce(&mut StdioState) -> T) -> T {
        f(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl StdioState {
    fn write(&mut self, channel: StandardStream, bytes: &[u8]) -> Result<(), ProgramExit> {
        if !self.budget.take_output(bytes.len() as u64) {
            return Err(ProgramExit::Limit(ExceededLimit::Output));
        }
        let room = usize::try_from(self.max_total - self.total).unwrap_or(usize::MAX);
        let fits = bytes.get(..room).unwrap_or(bytes);
        self.total += fits.len() as u64;
        let text = self.capture.push(channel, fits);
        // Within the lock, so that the watcher sees both outputs in the order of printing.
        self.tell(&text);
        if fits.len() < bytes.len() {
            Err(ProgramExit::Limit(ExceededLimit::Output))
        } else {
            Ok(())
        }
    }

    fn tell(&self, text: &str) {
        if let Some(on_delta) = self.on_delta.as_ref().filter(|_| !text.is_empty()) {
            on_delta.tell(text);
        }
    }
}

/// One of the outputs, as the stream behind the guest's descriptor 1 or 2.
#[derive(Clone)]
pub(super) struct StdioStream {
    stdio: RunStdio,
    channel: StandardStream,
}

impl IsTerminal for StdioStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for StdioStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for StdioStream {
    async fn ready(&mut self) {
        // The lock is free during this wait: the other output may go on.
        if let Some(on_delta) = self.stdio.on_delta() {
            on_delta.room().await;
        }
    }
}

impl OutputStream for StdioStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        // A trap, since a program could ignore an error and print on.
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

/// The stream that `StdoutStream` asks for beside the one above. Preview 1 never prints by it, so
/// it does not wait for room.
impl AsyncWrite for StdioStream {
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
