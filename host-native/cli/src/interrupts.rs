//! Ctrl-C and the system's requests to end: as something to wait for, of which none is lost between
//! two waits; and what follows from them while a session runs and while its end is shown.

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

/// The time that the last signal gives the program to end in good order.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// From its creation on, these signals no longer end the program.
#[derive(Debug)]
pub(super) struct SignalStream(Vec<(Signal, ExitReason)>);

impl SignalStream {
    pub(super) fn new() -> Result<Self, CliError> {
        installed().map(Self).map_err(|error| {
            CliError::new(ExitReason::Failed, format!("cannot listen for Ctrl-C: {error}"))
        })
    }

    /// Waits for the next signal; gives how the program ends by it.
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

/// Hears signals until the program ends. While the session runs, the first one interrupts it and
/// closes it, and the next one ends the program. When the session is over, the first one does.
#[derive(Clone, Debug, Default)]
pub(super) struct ShutdownHandle(Arc<ShutdownState>);

#[derive(Debug, Default)]
struct ShutdownState {
    signal: OnceLock<ExitReason>,
    is_over: AtomicBool,
    /// True if the program is to end at once.
    hurry: watch::Sender<bool>,
    /// Held while something goes on that must not be left half done.
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
        self.0.hurry.send_replace(true);
        let _held = self.last_words().await;
        // Whoever should read the last lines does not.
        restore();
        process::exit(i32::from(exit.code()));
    }

    /// Waits until there was time for the last lines, counted from the end of what was held.
    async fn last_words(&self) -> MutexGuard<'_, ()> {
        loop {
            drop(self.0.held.lock().await);
            tokio::time::sleep(LAST_WORDS).await;
            if let Ok(held) = self.0.held.try_lock() {
                return held;
            }
        }
    }

    /// Until this is dropped no signal ends the program; it is heard afterwards.
    pub(super) async fn hold(&self) -> MutexGuard<'_, ()> {
        self.0.held.lock().await
    }

    /// The first signal so far.
    pub(super) fn signal(&self) -> Option<ExitReason> {
        self.0.signal.get().copied()
    }

    /// The first signal, if the program is to end at once.
    pub(super) fn last_signal(&self) -> Option<ExitReason> {
        self.signal().filter(|_| self.is_hurried())
    }

    /// The first signal, if it is one behind which nobody sits any more.
    pub(super) fn ending_signal(&self) -> Option<ExitReason> {
        let is_ending = |exit: &ExitReason| {
            matches!(exit, ExitReason::HungUp | ExitReason::Terminated | ExitReason::Quit)
        };
        self.signal().filter(is_ending)
    }

    /// Returns whether anybody may still be asked something: not where the program was told to end,
    /// or its terminal is closed.
    pub(super) fn may_ask(&self) -> bool {
        !self.is_hurried() && self.ending_signal().is_none()
    }

    /// Returns whether the program is to end at once.
    pub(super) fn is_hurried(&self) -> bool {
        *self.0.hurry.borrow()
    }

    /// Waits until the program is to end at once, also if that was said before.
    pub(super) async fn hurry(&self) {
        let mut hurry = self.0.hurry.subscribe();
        // The sender lives as long as this.
        drop(hurry.wait_for(|is_hurried| *is_hurried).await);
    }

    /// From now on there is no session to interrupt.
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
