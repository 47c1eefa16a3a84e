//! Programs of the host as commands of the shell: input and output are moved between the host and
//! the shell's pipes piece by piece, while the shell goes on.

use crate::{
    files::ShellFileSystem,
    host::{OutputStream, ProgramHandle, TransferResult, wait_for_programs},
};
use bashkit::{Command, CommandContext, CommandOutput, CommandStatus, Result, async_trait};
use innerloop_shell_protocol::ProgramLaunch;
use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

/// The number of bytes that are moved at once.
const PIECE: usize = 64 << 10;

/// The time that the shell waits for programs before it looks at its own timers.
const WAIT_MS: i32 = 10;

/// The status of a command that can't be found.
const NOT_FOUND: i32 = 127;

thread_local! {
    /// The tasks that wait for programs.
    static WAITING: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
    /// True if anything was moved since the last wait.
    static MOVED: Cell<bool> = const { Cell::new(false) };
}

/// A program of the host, by its name, over these files.
pub(crate) struct HostProgram(pub(crate) Arc<ShellFileSystem>);

#[async_trait]
impl Command for HostProgram {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let mut env: Vec<(&String, &String)> = context.env.iter().collect();
        env.sort();
        let launch = ProgramLaunch {
            program: context.name.to_owned(),
            args: context.args.to_vec(),
            env: env.into_iter().flat_map(|(name, value)| [name.clone(), value.clone()]).collect(),
            folder: context.cwd.to_string_lossy().into_owned(),
        };
        let Some(started) = ProgramHandle::new(&launch) else {
            let words = format!("{}: the program can't be started now\n", context.name);
            context.stderr.write_all(words.as_bytes()).await?;
            return Ok(CommandStatus::with_code(NOT_FOUND));
        };
        let status = run(&started, &context).await;
        self.0.forget_lists();
        status
    }
}

/// Moves input and output until the program has ended and all of its output was taken.
async fn run(started: &ProgramHandle, context: &CommandContext<'_>) -> Result<CommandStatus> {
    let mut feeding = pin!(feed(started, context));
    let mut out = pin!(drain(started, OutputStream::Out, &context.stdout));
    let mut err = pin!(drain(started, OutputStream::Err, &context.stderr));
    let (mut is_fed, mut is_out, mut is_err) = (false, false, false);
    poll_fn(|cx| {
        is_fed = is_fed || poll(&mut feeding, cx)?;
        is_out = is_out || poll(&mut out, cx)?;
        is_err = is_err || poll(&mut err, cx)?;
        match started.status() {
            // Input may be left: a program need not read all of it, and the pipe before it must not
            // hold up its end.
            Some(status) if is_out && is_err => Poll::Ready(Ok(CommandStatus::with_code(status))),
            _ => {
                wait(cx);
                Poll::Pending
            }
        }
    })
    .await
}

/// Returns whether the future is done by now.
fn poll(
    future: &mut Pin<&mut impl Future<Output = Result<()>>>,
    cx: &mut Context<'_>,
) -> Result<bool> {
    match future.as_mut().poll(cx) {
        Poll::Ready(done) => done.map(|()| true),
        Poll::Pending => Ok(false),
    }
}

async fn feed(started: &ProgramHandle, context: &CommandContext<'_>) -> Result<()> {
    while let Some(chunk) = context.stdin.read_chunk().await? {
        let mut rest = chunk.as_slice();
        while !rest.is_empty() {
            match moved(|| started.write(rest)).await {
                Some(count) => rest = rest.get(count..).unwrap_or_default(),
                None => return Ok(()),
            }
        }
    }
    started.close();
    MOVED.set(true);
    Ok(())
}

async fn drain(started: &ProgramHandle, channel: OutputStream, into: &CommandOutput) -> Result<()> {
    let mut piece = vec![0; PIECE];
    while let Some(count) = moved(|| started.read(channel, &mut piece)).await {
        into.write_all(piece.get(..count).unwrap_or_default()).await?;
    }
    Ok(())
}

/// Returns the number of bytes that were moved, once some can be; `None` if none can be any more.
async fn moved(mut attempt: impl FnMut() -> TransferResult) -> Option<usize> {
    poll_fn(|cx| match attempt() {
        TransferResult::Bytes(count) => {
            MOVED.set(true);
            Poll::Ready(Some(count))
        }
        TransferResult::Ended => Poll::Ready(None),
        TransferResult::Nothing => {
            wait(cx);
            Poll::Pending
        }
    })
    .await
}

fn wait(cx: &Context<'_>) {
    WAITING.with_borrow_mut(|waiting| waiting.push(cx.waker().clone()));
}

/// Drives a future to its end. When nothing in it can go on by itself, it waits for programs, for a
/// moment if any is running.
pub(crate) async fn driven<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        let waiting = WAITING.with_borrow_mut(std::mem::take);
        if polled.is_pending() && !waiting.is_empty() {
            // If bytes were moved, a task may be able to go on, so that all are polled again before
            // the thread blocks. There is only one thread.
            if !MOVED.replace(false) {
                wait_for_programs(WAIT_MS);
            }
            waiting.into_iter().for_each(Waker::wake);
        }
        polled
    })
    .await
}
