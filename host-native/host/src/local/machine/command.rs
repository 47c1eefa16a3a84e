//! One command from its start to its end: what it prints is kept and shown as it comes, and when
//! its time is up it is asked to end, and ended two seconds later.

use super::processes::{self, ProcessGuard, ProcessSpec, SpawnedProcess};
use innerloop_driver::{
    SecretKeys,
    capture::{ExceededLimit, OutputCapture, ProgramExit, StandardStream},
};
use innerloop_sandbox::{OnDelta, RunLimits};
use std::{
    future::{Future, pending},
    io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::pipe::{Receiver, Sender},
    sync::oneshot,
    time::{sleep, timeout},
};

/// The time that processes have to end after they were asked to.
const GRACE: Duration = Duration::from_secs(2);

/// The time for which processes that a command leaves behind may go on printing before they are
/// asked to end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The time limit for reading more from a pipe after all processes that could write to it have been
/// ended.
const REST: Duration = Duration::from_millis(50);

/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// The output that all commands of a session may still print.
pub(super) type OutputBudget = Arc<AtomicU64>;

/// The listener for what a command prints, and the limits of that output.
#[derive(Clone)]
pub(super) struct OutputListener {
    pub(super) keys: SecretKeys,
    pub(super) limits: RunLimits,
    pub(super) budget: OutputBudget,
    pub(super) on_delta: Option<OnDelta>,
    /// True if nothing is read before whoever watches has room for it.
    pub(super) waits: bool,
}

/// Runs a command to its end, for `limit` at most or until `stop` is done. None of its processes
/// is left then. Dropping the future ends them at once.
///
/// # Errors
/// Why it can't be started.
pub(super) async fn run(
    plan: ProcessSpec,
    stdin: Option<String>,
    listener: OutputListener,
    limit: Duration,
    stop: impl Future<Output = ()> + Send,
) -> io::Result<(ProgramExit, OutputCapture)> {
    let started = processes::start(plan).await?;
    let mut running = CommandRun::new(started, stdin, listener)?;
    let end = tokio::select! {
        biased;
        () = stop => ProgramExit::Interrupted,
        () = sleep(limit) => ProgramExit::TimedOut,
        end = running.run_out() => end,
    };
    running.finish().await;
    Ok((end, running.printed))
}

struct CommandRun {
    leash: ProcessGuard,
    exit: ExitState,
    pipes: [OutputPipe; 2],
    printed: OutputCapture,
    total: u64,
    listener: OutputListener,
}

/// The exit of the command's own process: still awaited, or known.
enum ExitState {
    Awaited(oneshot::Receiver<i32>),
    Is(i32),
}

/// One of the two outputs.
struct OutputPipe {
    channel: StandardStream,
    /// Nothing where nobody can write to it any more.
    end: Option<Receiver>,
    buffer: Vec<u8>,
}

impl CommandRun {
    fn new(
        started: SpawnedProcess,
        stdin: Option<String>,
        listener: OutputListener,
    ) -> io::Result<Self> {
        let SpawnedProcess { leash, exit, stdin: input, stdout, stderr } = started;
        if let (Some(input), Some(text)) = (input, stdin) {
            let mut input = Sender::from_owned_fd(input)?;
            // Whether it reads it is the command's business. Its end is this one's, too.
            drop(tokio::spawn(async move { input.write_all(text.as_bytes()).await }));
        }
        let pipes = [
            OutputPipe::new(StandardStream::Out, stdout)?,
            OutputPipe::new(StandardStream::Err, stderr)?,
        ];
        let printed = OutputCapture::new(&listener.keys, listener.limits.kept_output_bytes);
        Ok(Self { leash, exit: ExitState::Awaited(exit), pipes, printed, total: 0, listener })
    }

    /// Reads until the command has ended by itself or has printed too much.
    async fn run_out(&mut self) -> ProgramExit {
        let code = loop {
            let Self { exit, pipes, .. } = self;
            let [out, err] = pipes;
            let (channel, read) = tokio::select! {
                biased;
                code = exit.wait() => break code,
                read = out.read(&self.listener) => (StandardStream::Out, read),
                read = err.read(&self.listener) => (StandardStream::Err, read),
            };
            if let Err(end) = self.take(channel, read) {
                return end;
            }
        };
        // Whoever else writes to its output, such as the end of a pipeline, has a moment for it.
        match timeout(LAST_WORDS, self.read_all()).await {
            Ok(Err(end)) => end,
            Ok(Ok(())) | Err(_) => ProgramExit::Exit(code),
        }
    }

    /// Ends whatever is still there, and reads what it has printed.
    async fn finish(&mut self) {
        if self.is_open() || matches!(self.exit, ExitState::Awaited(_)) {
            self.leash.ask();
            let settled = async {
                // Of what is too much the rest is not read.
                let _ = self.read_all().await;
                self.exit.wait().await;
            };
            let _ = timeout(GRACE, settled).await;
        }
        self.leash.end();
        // It is not more than the pipes hold.
        self.listener.waits = false;
        while self.is_open() && matches!(timeout(REST, self.read_once()).await, Ok(Ok(()))) {}
        let last = self.printed.finish();
        self.tell(&last);
    }

    /// Reads to the end of both outputs.
    async fn read_all(&mut self) -> Result<(), ProgramExit> {
        while self.is_open() {
            self.read_once().await?;
        }
        Ok(())
    }

    /// Returns whether anybody can still write to either output.
    fn is_open(&self) -> bool {
        self.pipes.iter().any(|pipe| pipe.end.is_some())
    }

    /// Reads a piece of either output; for ever if both have ended.
    async fn read_once(&mut self) -> Result<(), ProgramExit> {
        let [out, err] = &mut self.pipes;
        let (channel, read) = tokio::select! {
            read = out.read(&self.listener) => (StandardStream::Out, read),
            read = err.read(&self.listener) => (StandardStream::Err, read),
        };
        self.take(channel, read)
    }

    /// Takes so many bytes of an output's buffer.
    fn take(&mut self, channel: StandardStream, bytes: usize) -> Result<(), ProgramExit> {
        let most = self.listener.limits.output_bytes.saturating_sub(self.total);
        let fits = bytes.min(usize::try_from(most).unwrap_or(usize::MAX));
        let has_budget = self.listener.take(bytes as u64);
        let pipe = self.pipes.iter().find(|pipe| pipe.channel == channel);
        let piece = pipe.and_then(|pipe| pipe.buffer.get(..fits)).filter(|_| has_budget);
        self.total += fits as u64;
        let text = self.printed.push(channel, piece.unwrap_or_default());
        self.tell(&text);
        if has_budget && fits == bytes {
            Ok(())
        } else {
            Err(ProgramExit::Limit(ExceededLimit::Output))
        }
    }

    fn tell(&self, text: &str) {
        if let Some(on_delta) = self.listener.on_delta.as_ref().filter(|_| !text.is_empty()) {
            on_delta.tell(text);
        }
    }
}

impl ExitState {
    /// Waits for it, for ever if nobody tells.
    async fn wait(&mut self) -> i32 {
        if let Self::Awaited(exit) = self {
            *self = Self::Is(exit.await.unwrap_or(-1));
        }
        match self {
            Self::Is(code) => *code,
            Self::Awaited(_) => -1,
        }
    }
}

impl OutputPipe {
    fn new(channel: StandardStream, end: OwnedFd) -> io::Result<Self> {
        Ok(Self { channel, end: Some(Receiver::from_owned_fd(end)?), buffer: vec![0; PIECE] })
    }

    /// Reads a piece into the buffer as soon as whoever watches has room for more; for ever if the
    /// output has ended. Given up before, it has read nothing.
    async fn read(&mut self, listener: &OutputListener) -> usize {
        if let Some(watcher) = listener.on_delta.as_ref().filter(|_| listener.waits) {
            watcher.room().await;
        }
        if let Some(end) = &mut self.end {
            match end.read(&mut self.buffer).await {
                Ok(0) | Err(_) => self.end = None,
                Ok(bytes) => return bytes,
            }
            return 0;
        }
        pending().await
    }
}

impl OutputListener {
    /// Takes so much of what is left for the session.
    fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.budget.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
    }
}
