//! A running shell, as the host knows it: the programs that it has started, and its reply. Each
//! program is a guest of the shell's run, in a task of its own, which reads and prints by pipes.

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

/// Most programs that run at the same time.
const MOST: usize = 64;

/// The status of a program that has not ended.
const RUNNING: i32 = -1;

/// The status of a program that is not there.
const KILLED: i32 = 137;

/// A program that runs, to its exit status.
pub(super) type ProgramFuture = Pin<Box<dyn Future<Output = i32> + Send>>;

/// Runs a program that reads and prints by these pipes; nothing if there is none of that name.
pub(super) type ProgramLauncher =
    Box<dyn Fn(ProgramLaunch, StdioPipes) -> Option<ProgramFuture> + Send>;

/// A program's standard input, output and error.
#[derive(Clone, Debug)]
pub(super) struct StdioPipes {
    pub(super) stdin: Pipe,
    pub(super) stdout: Pipe,
    pub(super) stderr: Pipe,
}

/// A running shell.
pub(super) struct ShellProcess {
    launcher: ProgramLauncher,
    running: BTreeMap<i32, ShellChild>,
    next: i32,
    /// Tells that a program has done something.
    news: Arc<Notify>,
    replied: ReplySlot,
    /// The bytes that were found for it and that it has not taken yet.
    found: Vec<u8>,
}

/// A program that was started. Dropping it ends it.
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

    /// Keeps what was found until it is taken.
    pub(super) fn keep(&mut self, found: Vec<u8>) {
        self.found = found;
    }

    /// Returns what was found last, once.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.found)
    }

    /// Takes the shell's reply.
    pub(super) fn reply(&self, reply: String) {
        *self.replied.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }

    /// Starts a program and gives its number; nothing if there is none of that name, or too many
    /// are running.
    pub(super) fn start(&mut self, launch: ProgramLaunch) -> Option<i32> {
        if self.running.len() >= MOST {
            return None;
        }
        let pipe = || Pipe::new(&self.news);
        let pipes = StdioPipes { stdin: pipe(), stdout: pipe(), stderr: pipe() };
        let running = (self.launcher)(launch, pipes.clone())?;
        let status = Arc::new(AtomicI32::new(RUNNING));
        let (news, ended, theirs) = (self.news(), Arc::clone(&status), pipes.clone());
        let mut task = JoinSet::new();
        task.spawn(async move {
            let status = running.await;
            theirs.stdin.break_off();
            theirs.stdout.end();
            theirs.stderr.end();
            ended.store(status, Ordering::Release);
            news.notify_one();
        });
        let number = self.next;
        self.next = self.next.wrapping_add(1).max(0);
        self.running.insert(number, ShellChild { pipes, status, _task: task });
        Some(number)
    }

    /// The shell hands over bytes for a program to read.
    pub(super) fn write(&self, number: i32, bytes: &[u8]) -> TransferCount {
        self.running.get(&number).map_or(-1, |child| child.pipes.stdin.write(bytes))
    }

    /// There is nothing more for a program to read.
    pub(super) fn close(&self, number: i32) {
        if let Some(child) = self.running.get(&number) {
            child.pipes.stdin.end();
        }
    }

    /// The shell takes what a program has printed.
    pub(super) fn read(&self, number: i32, channel: i32, len: usize) -> (TransferCount, Vec<u8>) {
        match (self.running.get(&number), channel) {
            (Some(child), 1) => child.pipes.stdout.read(len),
            (Some(child), 2) => child.pipes.stderr.read(len),
            _ => (-1, Vec::new()),
        }
    }

    /// A program's exit status, or -1 while it runs.
    pub(super) fn status(&self, number: i32) -> i32 {
        let status = self.running.get(&number).map(|child| child.status.load(Ordering::Acquire));
        status.unwrap_or(KILLED)
    }

    /// Ends a program and forgets it.
    pub(super) fn end(&mut self, number: i32) {
        self.running.remove(&number);
    }

    /// Returns what tells that a program has done something.
    pub(super) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }
}
