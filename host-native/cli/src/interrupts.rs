//! Signals: Ctrl-C and the system's requests to end, as a stream that loses none between two waits,
//! and their effect on a session. The first one interrupts and closes the session, the next one
//! ends the program, but never while something is under way that must not be left half done.

use super::{
    exit::{CliError, ExitReason},
    terminal::restore,
};
use crate::platform::{Signal, SystemSignal, signals};
use innerloop_core::input::Command;
use innerloop_host::host::CommandSender;
use std::{
    io, process,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};
use tokio::sync::{Mutex, MutexGuard, watch};

/// The time that the program has after the last signal to show its last lines.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The stream of signals. From its creation on, they no longer end the program by themselves.
#[derive(Debug)]
pub(super) struct SignalStream(Vec<(Signal, ExitReason)>);

impl SignalStream {
    pub(super) fn new() -> Result<Self, CliError> {
        installed().map(Self).map_err(|error| {
            CliError::new(ExitReason::Failed, format!("cannot listen for Ctrl-C: {error}"))
        })
    }

    /// Waits for the next signal; returns the exit reason for it.
    pub(super) async fn next(&mut self) -> ExitReason {
        std::future::poll_fn(|context| {
            for (signal, exit) in &mut self.0 {
                if signal.poll_recv(context) == Poll::Ready(Some(())) {
                    return Poll::Ready(*exit);
                }
            }
            Poll::Pending
        })
        .await
    }
}

fn installed() -> io::Result<Vec<(Signal, ExitReason)>> {
    let exit = |told| match told {
        SystemSignal::Interrupt => ExitReason::Interrupted,
        SystemSignal::Terminate => ExitReason::Terminated,
        SystemSignal::HangUp => ExitReason::HungUp,
        SystemSignal::Quit => ExitReason::Quit,
    };
    Ok(signals()?.into_iter().map(|(signal, told)| (signal, exit(told))).collect())
}

/// The handle of the task that handles signals. While the session runs, the first signal interrupts
/// and closes it, and the next one ends the program. Once the session is over, the first one does.
#[derive(Clone, Debug, Default)]
pub(super) struct ShutdownHandle(Arc<ShutdownState>);

#[derive(Debug, Default)]
struct ShutdownState {
    signal: OnceLock<ExitReason>,
    is_over: AtomicBool,
    /// True if the program should end at once.
    hurry: watch::Sender<bool>,
    /// Locked while something is under way that must not be left half done.
    held: Mutex<()>,
}

impl ShutdownHandle {
    pub(super) fn listen(interrupts: SignalStream, commands: CommandSender) -> Self {
        let ending = Self::default();
        tokio::spawn(ending.clone().hear(interrupts, commands));
        ending
    }

    async fn hear(self, mut interrupts: SignalStream, commands: CommandSender) {
        let first = interrupts.next().await;
        let exit = *self.0.signal.get_or_init(|| first);
        if !self.0.is_over.load(Ordering::Acquire) {
            commands.send(Command::Interrupt);
            commands.send(Command::Close);
            interrupts.next().await;
        }
        self.hurry_up();
        let _held = self.last_words().await;
        // The program has not ended by itself in time: whatever it still waits for is given up.
        restore();
        process::exit(i32::from(exit.code()));
    }

    /// Waits until nothing is held and the time for the last lines has passed since then.
    async fn last_words(&self) -> MutexGuard<'_, ()> {
        loop {
            drop(self.0.held.lock().await);
            tokio::time::sleep(LAST_WORDS).await;
            if let Ok(held) = self.0.held.try_lock() {
                return held;
            }
        }
    }

    /// Keeps signals from ending the program until the guard is dropped; they take effect then.
    pub(super) async fn hold(&self) -> MutexGuard<'_, ()> {
        self.0.held.lock().await
    }

    /// Does the same at once; `None` if the program is about to end.
    pub(super) fn try_hold(&self) -> Option<MutexGuard<'_, ()>> {
        self.0.held.try_lock().ok()
    }

    /// Has the rest of the program end at once, as after the last signal.
    pub(super) fn hurry_up(&self) {
        self.0.hurry.send_replace(true);
    }

    /// Returns the first signal so far.
    pub(super) fn signal(&self) -> Option<ExitReason> {
        self.0.signal.get().copied()
    }

    /// Returns the first signal, if the program should end at once.
    pub(super) fn last_signal(&self) -> Option<ExitReason> {
        self.signal().filter(|_| self.is_hurried())
    }

    /// Returns the first signal, if it means that nobody sits there any more.
    pub(super) fn ending_signal(&self) -> Option<ExitReason> {
        let is_ending = |exit: &ExitReason| {
            matches!(exit, ExitReason::HungUp | ExitReason::Terminated | ExitReason::Quit)
        };
        self.signal().filter(is_ending)
    }

    /// Returns whether the person may still be asked something: not if the program was told to end,
    /// or its terminal is closed.
    pub(super) fn may_ask(&self) -> bool {
        !self.is_hurried() && self.ending_signal().is_none()
    }

    /// Returns whether the program should end at once.
    pub(super) fn is_hurried(&self) -> bool {
        *self.0.hurry.borrow()
    }

    /// Waits until the program should end at once; returns immediately if it should already.
    pub(super) async fn hurry(&self) {
        let mut hurry = self.0.hurry.subscribe();
        // The sender lives as long as this.
        drop(hurry.wait_for(|is_hurried| *is_hurried).await);
    }

    /// Notes that there is no session to interrupt any more.
    pub(super) fn session_is_over(&self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, sleep};

    #[tokio::test]
    async fn everybody_who_waits_hears_that_it_is_time() {
        let ending = ShutdownHandle::default();
        let waits = tokio::spawn({
            let ending = ending.clone();
            async move { ending.hurry().await }
        });
        ending.0.hurry.send_replace(true);
        waits.await.unwrap();
        ending.hurry().await;
        assert!(ending.is_hurried());
    }

    #[test]
    fn nobody_is_asked_who_is_gone_or_in_a_hurry() {
        let after = |signal| {
            let ending = ShutdownHandle::default();
            ending.0.signal.get_or_init(|| signal);
            ending
        };
        assert!(ShutdownHandle::default().may_ask());
        assert!(after(ExitReason::Interrupted).may_ask());
        assert!(!after(ExitReason::HungUp).may_ask() && !after(ExitReason::Terminated).may_ask());
        let hurried = after(ExitReason::Interrupted);
        hurried.0.hurry.send_replace(true);
        assert!(!hurried.may_ask());
    }

    #[tokio::test]
    async fn what_is_held_is_waited_for_and_leaves_time_to_tell_of_it() {
        let ending = ShutdownHandle::default();
        let held = ending.hold().await;
        let begun = Instant::now();
        let end = tokio::spawn({
            let ending = ending.clone();
            async move {
                drop(ending.last_words().await);
                begun.elapsed()
            }
        });
        sleep(2 * LAST_WORDS).await;
        assert!(!end.is_finished());
        drop(held);
        assert!(end.await.unwrap() >= 3 * LAST_WORDS);
        drop(ending.last_words().await);
    }
}
