//! Where a run's standard output and standard error go: into a capture, which keeps the start and
//! the end of each, and as they come to whoever watches; too much of it ends the run.

use super::limits::Limits;
use bytes::Bytes;
use innerloop_driver::{
    Keys,
    capture::{Capture, Channel, End, Limit},
};
use std::{
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

/// Both outputs of one run; clones share them.
#[derive(Clone)]
pub(super) struct Stdio {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    capture: Capture,
    total: u64,
    max_total: u64,
    on_delta: Option<OnDelta>,
}

impl Stdio {
    pub(super) fn new(keys: &Keys, limits: &Limits, on_delta: Option<OnDelta>) -> Self {
        let capture = Capture::new(keys, limits.kept_output_bytes);
        let max_total = limits.output_bytes;
        let shared = Shared { capture, total: 0, max_total, on_delta };
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

    fn with<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    fn write(&mut self, channel: Channel, bytes: &[u8]) -> Result<(), End> {
        self.total = self.total.saturating_add(bytes.len() as u64);
        if self.total > self.max_total {
            return Err(End::Limit(Limit::Output));
        }
        let text = self.capture.push(channel, bytes);
        self.tell(&text);
        Ok(())
    }

    fn tell(&self, text: &str) {
        if let Some(on_delta) = self.on_delta.as_ref().filter(|_| !text.is_empty()) {
            on_delta(text);
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
