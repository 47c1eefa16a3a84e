//! A pipe between a shell and a program that it has started: bounded, so that whoever prints waits
//! for whoever reads. The program's end waits; the shell's end does not, and is told when to look
//! again.

use bytes::Bytes;
use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::Notify,
};
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdinStream, StdoutStream},
    p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult},
};

/// The maximum number of bytes that wait in a pipe.
const ROOM: usize = 64 << 10;

/// A pipe; clones are of the same one.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    shared: Arc<SharedPipe>,
}

#[derive(Debug)]
struct SharedPipe {
    inner: Mutex<PipeBuffer>,
    /// Wakes the program that waits at its end.
    program: Notify,
    /// Tells the shell that the program has done something.
    news: Arc<Notify>,
}

#[derive(Debug, Default)]
struct PipeBuffer {
    bytes: VecDeque<u8>,
    /// True if nothing more is written.
    is_ended: bool,
    /// True if nobody reads any more.
    is_broken: bool,
}

/// The result of the shell's attempt to move bytes, as the shell is told it: the number of bytes, 0
/// if none can be moved now, or -1 if none can be moved any more.
pub(super) type TransferCount = i32;

/// None any more.
const OVER: TransferCount = -1;

impl Pipe {
    /// A pipe whose program's doings are told to `news`.
    pub(super) fn new(news: &Arc<Notify>) -> Self {
        let (inner, program, news) = (Mutex::default(), Notify::new(), Arc::clone(news));
        Self { shared: Arc::new(SharedPipe { inner, program, news }) }
    }

    /// The shell writes as much as there is room for.
    pub(super) fn write(&self, bytes: &[u8]) -> TransferCount {
        let mut inner = self.inner();
        if inner.is_broken {
            return OVER;
        }
        let count = bytes.len().min(ROOM - inner.bytes.len().min(ROOM));
        inner.bytes.extend(bytes.get(..count).unwrap_or_default());
        drop(inner);
        self.shared.program.notify_one();
        i32::try_from(count).unwrap_or(i32::MAX)
    }

    /// The shell reads at most `len` bytes.
    pub(super) fn read(&self, len: usize) -> (TransferCount, Vec<u8>) {
        let mut inner = self.inner();
        let bytes = inner.take(len);
        let is_over = bytes.is_empty() && inner.is_ended;
        drop(inner);
        if is_over {
            return (OVER, bytes);
        }
        self.shared.program.notify_one();
        (i32::try_from(bytes.len()).unwrap_or(i32::MAX), bytes)
    }

    /// Nothing more is written.
    pub(super) fn end(&self) {
        self.inner().is_ended = true;
        self.told();
    }

    /// Nobody reads any more.
    pub(super) fn break_off(&self) {
        let mut inner = self.inner();
        inner.is_broken = true;
        inner.bytes.clear();
        drop(inner);
        self.told();
    }

    fn told(&self) {
        self.shared.program.notify_one();
        self.shared.news.notify_one();
    }

    fn inner(&self) -> MutexGuard<'_, PipeBuffer> {
        self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PipeBuffer {
    fn has_nothing_yet(&self) -> bool {
        self.bytes.is_empty() && !self.is_ended
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= ROOM && !self.is_broken
    }

    fn take(&mut self, len: usize) -> Vec<u8> {
        let count = len.min(self.bytes.len());
        self.bytes.drain(..count).collect()
    }
}

/// The end at which a program reads.
#[derive(Clone, Debug)]
pub(super) struct PipeReader(pub(super) Pipe);

impl IsTerminal for PipeReader {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for PipeReader {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for PipeReader {
    async fn ready(&mut self) {
        while self.0.inner().has_nothing_yet() {
            self.0.shared.program.notified().await;
        }
    }
}

impl InputStream for PipeReader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let mut inner = self.0.inner();
        let bytes = inner.take(size);
        if bytes.is_empty() && inner.is_ended && size > 0 {
            return Err(StreamError::Closed);
        }
        drop(inner);
        if !bytes.is_empty() {
            self.0.shared.news.notify_one();
        }
        Ok(bytes.into())
    }
}

/// Preview 1 reads by the stream above; this one does not wait.
impl AsyncRead for PipeReader {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let bytes = self.0.inner().take(into.remaining());
        into.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

/// The end at which a program prints.
#[derive(Clone, Debug)]
pub(super) struct PipeWriter(pub(super) Pipe);

impl PipeWriter {
    /// The host says something in the program's place.
    pub(super) fn say(&self, words: &str) {
        self.push(words.as_bytes());
    }

    fn push(&self, bytes: &[u8]) -> bool {
        let mut inner = self.0.inner();
        let is_heard = !inner.is_broken;
        if is_heard {
            inner.bytes.extend(bytes);
        }
        drop(inner);
        self.0.shared.news.notify_one();
        is_heard
    }
}

impl IsTerminal for PipeWriter {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for PipeWriter {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for PipeWriter {
    async fn ready(&mut self) {
        while self.0.inner().is_full() {
            self.0.shared.program.notified().await;
        }
    }
}

impl OutputStream for PipeWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if self.push(&bytes) { Ok(()) } else { Err(StreamError::Closed) }
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        let inner = self.0.inner();
        if inner.is_broken {
            return Err(StreamError::Closed);
        }
        Ok(ROOM - inner.bytes.len().min(ROOM))
    }
}

/// Preview 1 prints by the stream above; this one does not wait for room.
impl AsyncWrite for PipeWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        if self.push(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Poll::Ready(Err(std::io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
