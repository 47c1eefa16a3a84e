//! Pipes between a shell and the programs that it starts. A pipe is bounded, so that a program that
//! prints waits for its reader. Only the program's end waits: the shell is one guest that serves
//! many programs, so its end returns at once, and a signal says when to try again.

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

/// The most bytes that wait in a pipe, as in Linux.
const ROOM: usize = 64 << 10;

/// A pipe. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    shared: Arc<SharedPipe>,
}

#[derive(Debug)]
struct SharedPipe {
    inner: Mutex<PipeBuffer>,
    /// The signal for the program that waits at its end.
    program: Notify,
    /// The signal for the shell that a program has read, printed or ended.
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

/// The result of the shell's attempt to move bytes, as the shell gets it: the number of bytes, 0 if
/// none can be moved now, or [`OVER`] if none can be moved any more.
pub(super) type TransferCount = i32;

/// The count that says that the other end is gone.
const OVER: TransferCount = -1;

impl Pipe {
    /// A pipe that notifies `news` when its program reads, prints or ends.
    pub(super) fn new(news: &Arc<Notify>) -> Self {
        let (inner, program, news) = (Mutex::default(), Notify::new(), Arc::clone(news));
        Self { shared: Arc::new(SharedPipe { inner, program, news }) }
    }

    /// Writes as much as there is room for, for the shell.
    pub(super) fn write(&self, bytes: &[u8]) -> TransferCount {
        let mut inner = self.inner();
        if inner.is_broken {
            return OVER;
        }
        let count = bytes.len().min(ROOM - inner.bytes.len().min(ROOM));
        inner.bytes.extend(bytes.get(..count).unwrap_or_default());
        // Dropped first, so that whoever wakes up finds the lock free. A notification is kept if
        // nobody waits for it yet, so that none is lost.
        drop(inner);
        self.shared.program.notify_one();
        i32::try_from(count).unwrap_or(i32::MAX)
    }

    /// Reads at most `len` bytes, for the shell.
    pub(super) fn read(&self, len: usize) -> (TransferCount, Vec<u8>) {
        let mut inner = self.inner();
        let bytes = inner.take(len);
        // What was printed before the end is read before the end is reported.
        let is_over = bytes.is_empty() && inner.is_ended;
        drop(inner);
        if is_over {
            return (OVER, bytes);
        }
        self.shared.program.notify_one();
        (i32::try_from(bytes.len()).unwrap_or(i32::MAX), bytes)
    }

    /// Notes that nothing more is written.
    pub(super) fn end(&self) {
        self.inner().is_ended = true;
        self.told();
    }

    /// Notes that nobody reads any more.
    pub(super) fn break_off(&self) {
        // Bytes that nobody will read are dropped: they would keep a writer waiting for room.
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

/// A program's standard input.
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

/// The stream that `StdinStream` asks for beside the one above. Preview 1 never reads by it, so it
/// does not wait.
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

/// A program's standard output or error.
#[derive(Clone, Debug)]
pub(super) struct PipeWriter(pub(super) Pipe);

impl PipeWriter {
    /// Prints a message of the host in the program's place.
    pub(super) fn say(&self, words: &str) {
        // Not bounded: the program has ended, and the message is short.
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
        // `check_write` has said how much fits, and wasmtime writes no more.
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

/// The stream that `StdoutStream` asks for beside the one above. Preview 1 never prints by it, so
/// it does not wait for room.
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
