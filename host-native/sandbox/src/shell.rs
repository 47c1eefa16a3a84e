//! A running shell in the host: the programs that it has started, and its reply. Each program is a
//! guest of the shell's run, in a task of its own, and reads and prints by pipes. None outlives the
//! shell.

use super::pipe::{Pipe, TransferCount};
use innerloop_shell_protocol::ProgramLaunch;
use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI32, Ordering},
    },
};
use tokio::{sync::Notify, task::JoinSet};

/// The most programs that a shell has at the same time.
const MOST: usize = 64;

/// The status of a program that has not ended.
const RUNNING: i32 = -1;

/// The status of a program that does not exist, as after SIGKILL.
const KILLED: i32 = 137;

/// A program that runs, and gives its exit status.
pub(super) type ProgramFuture = Pin<Box<dyn Future<Output = i32> + Send>>;

/// A function that runs a program with these pipes; `None` if there is none of that name.
pub(super) type ProgramLauncher =
    Box<dyn Fn(ProgramLaunch, StdioPipes) -> Option<ProgramFuture> + Send>;

/// A program's standard input, output and error.
#[derive(Clone, Debug)]
pub(super) struct StdioPipes {
    pub(super) stdin: Pipe,
    pub(super) stdout: Pipe,
    pub(super) stderr: Pipe,
}

/// A running shell and its programs.
pub(super) struct ShellProcess {
    launcher: ProgramLauncher,
    running: BTreeMap<i32, ShellChild>,
    next: i32,
    /// The signal that a program has read, printed or ended.
    news: Arc<Notify>,
    replied: ReplySlot,
    /// The result of a bulk call that the shell has not taken yet.
    found: Vec<u8>,
}

/// A program that was started. Dropping it ends the program.
struct ShellChild {
    pipes: StdioPipes,
    status: Arc<AtomicI32>,
    _task: JoinSet<()>,
}

/// The slot for a shell's reply. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplySlot(Arc<Mutex<Option<String>>>);

impl ReplySlot {
    /// The reply, if there was one.
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ShellProcess {
    pub(super) fn new(launcher: ProgramLauncher, replied: ReplySlot) -> Self {
        let (running, next, news) = (BTreeMap::new(), 0, Arc::default());
        Self { launcher, running, next, news, replied, found: Vec::new() }
    }

    /// Keeps the result of a bulk call until it is taken.
    pub(super) fn keep(&mut self, found: Vec<u8>) {
        // Only the last one: a shell that does not take its results fills no memory.
        self.found = found;
    }

    /// Takes the result of the last bulk call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.found)
    }

    /// Notes the shell's reply.
    pub(super) fn reply(&self, reply: String) {
        *self.replied.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }

    /// Starts a program and returns its number; `None` if there is none of that name, or the shell
    /// has too many.
    pub(super) fn start(&mut self, launch: ProgramLaunch) -> Option<i32> {
        if self.running.len() >= MOST {
            return None;
        }
        let pipe = || Pipe::new(&self.news);
        let pipes = StdioPipes { stdin: pipe(), stdout: pipe(), stderr: pipe() };
        let running = (self.launcher)(launch, pipes.clone())?;
        let status = Arc::new(AtomicI32::new(RUNNING));
        let (news, ended, theirs) = (self.news(), Arc::clone(&status), pipes.clone());
        // A `JoinSet` ends its task when it is dropped; a task of `spawn` would go on.
        let mut task = JoinSet::new();
        task.spawn(async move {
            let status = running.await;
            theirs.stdin.break_off();
            theirs.stdout.end();
            theirs.stderr.end();
            // The status comes after the pipes: a shell that sees it knows that nothing more is
            // printed. The notification comes last, or the shell would look too early.
            ended.store(status, Ordering::Release);
            news.notify_one();
        });
        // Numbers are not used again soon, so that a stale one means no other program.
        let number = self.next;
        self.next = self.next.wrapping_add(1).max(0);
        self.running.insert(number, ShellChild { pipes, status, _task: task });
        Some(number)
    }

    /// Writes bytes to a program's standard input, as much as fits.
    pub(super) fn write(&self, number: i32, bytes: &[u8]) -> TransferCount {
        self.running.get(&number).map_or(-1, |child| child.pipes.stdin.write(bytes))
    }

    /// Closes a program's standard input.
    pub(super) fn close(&self, number: i32) {
        if let Some(child) = self.running.get(&number) {
            child.pipes.stdin.end();
        }
    }

    /// Reads at most `len` bytes of a program's output; `channel` is 1 or 2.
    pub(super) fn read(&self, number: i32, channel: i32, len: usize) -> (TransferCount, Vec<u8>) {
        match (self.running.get(&number), channel) {
            (Some(child), 1) => child.pipes.stdout.read(len),
            (Some(child), 2) => child.pipes.stderr.read(len),
            _ => (-1, Vec::new()),
        }
    }

    /// The exit status of a program, or -1 while it runs.
    pub(super) fn status(&self, number: i32) -> i32 {
        let status = self.running.get(&number).map(|child| child.status.load(Ordering::Acquire));
        status.unwrap_or(KILLED)
    }

    /// Ends a program, if it still runs, and forgets it.
    pub(super) fn end(&mut self, number: i32) {
        self.running.remove(&number);
    }

    /// The signal that a program has read, printed or ended.
    pub(super) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }
}
