//! One command from its start to its end: its output is kept and shown as it comes, and when its
//! time is up it is asked to end, and killed two seconds later. Whatever way it ends, none of its
//! processes is left.

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

/// The time in which processes have to end after they were asked to.
const GRACE: Duration = Duration::from_secs(2);

/// The time for which processes that a command leaves behind may still print before they are asked
/// to end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The time limit for reading more from a pipe when no process can write to it any more.
const REST: Duration = Duration::from_millis(50);

/// The number of bytes that are read at once.
const PIECE: usize = 64 << 10;

/// The number of bytes that all commands of a session may still print.
pub(super) type OutputBudget = Arc<AtomicU64>;

/// The listener for what a command prints, and the limits of that output.
#[derive(Clone)]
pub(super) struct OutputListener {
    pub(super) keys: SecretKeys,
    pub(super) limits: RunLimits,
    pub(super) budget: OutputBudget,
    pub(super) on_delta: Option<OnDelta>,
    /// True if nothing is read before the watcher has room for it.
    pub(super) waits: bool,
}

/// Runs a command to its end, for `limit` at most or until `stop` is done. None of its processes is
/// left then. Dropping the future kills them at once.
///
/// # Errors
/// The reason why it can't be started.
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
        // What stops a command is looked at first: one that prints without a pause must not hide
        // it.
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
    /// The end to read from; `None` once nobody can write to it any more.
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
            // Written beside the reading: a command that prints before it reads would otherwise
            // wait for us while we wait for it. It need not read at all. The end of the task closes
            // the pipe.
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
        // Other processes may still write to its output, such as the end of a pipeline. A service
        // that it has left behind would do so for ever, so that they only get a moment.
        match timeout(LAST_WORDS, self.read_all()).await {
            Ok(Err(end)) => end,
            Ok(Ok(())) | Err(_) => ProgramExit::Exit(code),
        }
    }

    /// Ends the processes that are left, and reads what they have printed.
    async fn finish(&mut self) {
        if self.is_open() || matches!(self.exit, ExitState::Awaited(_)) {
            self.leash.ask();
            let settled = async {
                // Read meanwhile, since a process that waits for room in a pipe can't end. Where
                // there is too much, the rest is not read.
                let _ = self.read_all().await;
                self.exit.wait().await;
            };
            let _ = timeout(GRACE, settled).await;
        }
        self.leash.end();
        // The rest is at most what the pipes hold, and a watcher that has stopped reading must not
        // delay the end.
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

    /// Reads a piece of either output; never returns if both have ended.
    async fn read_once(&mut self) -> Result<(), ProgramExit> {
        let [out, err] = &mut self.pipes;
        let (channel, read) = tokio::select! {
            read = out.read(&self.listener) => (StandardStream::Out, read),
            read = err.read(&self.listener) => (StandardStream::Err, read),
        };
        self.take(channel, read)
    }

    /// Takes this many bytes of an output's buffer.
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
    /// Waits for the exit code.
    async fn wait(&mut self) -> i32 {
        if let Self::Awaited(exit) = self {
            // Kept, as the channel gives it only once, and both the run and its finish ask.
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

    /// Reads a piece into the buffer as soon as the watcher has room for more; never returns if the
    /// output has ended. Dropped before, it has read nothing.
    async fn read(&mut self, listener: &OutputListener) -> usize {
        // Unread output fills the pipe, and the program waits by itself.
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
    /// Takes this much of what is left for the session; false if less is left.
    fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        // Commands of several agents share the budget, so that the look and the change are one
        // step.
        self.budget.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
    }
}
