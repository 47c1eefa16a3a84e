//! Ctrl-C and the system's requests to end: as something to wait for, of which none is lost between
//! two waits; and what follows from them while a session runs and while its end is shown.

use super::exit::{Exit, Failure};
use crate::host::Commands;
use innerloop_core::input::Command;
use std::{
    io, process,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// How long the last signal waits for the program to end in good order.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// From its creation on, these signals no longer end the program.
#[derive(Debug)]
pub(super) struct Interrupts(Vec<(Signal, Exit)>);

impl Interrupts {
    pub(super) fn new() -> Result<Self, Failure> {
        installed().map(Self).map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot listen for Ctrl-C: {error}"))
        })
    }

    /// Waits for the next signal; gives how the program ends by it.
    pub(super) async fn next(&mut self) -> Exit {
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

fn installed() -> io::Result<Vec<(Signal, Exit)>> {
    Ok(vec![
        (signal(SignalKind::interrupt())?, Exit::Interrupted),
        (signal(SignalKind::terminate())?, Exit::Terminated),
        (signal(SignalKind::hangup())?, Exit::HungUp),
    ])
}

/// Hears signals until the program ends. While the session runs, the first one interrupts it and
/// closes it, and the next one ends the program. When the session is over, the first one does.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending(Arc<State>);

#[derive(Debug, Default)]
struct State {
    signal: OnceLock<Exit>,
    is_over: AtomicBool,
    is_hurried: AtomicBool,
    hurry: Notify,
}

impl Ending {
    pub(super) fn listen(interrupts: Interrupts, commands: Commands) -> Self {
        let ending = Self::default();
        tokio::spawn(ending.clone().hear(interrupts, commands));
        ending
    }

    async fn hear(self, mut interrupts: Interrupts, commands: Commands) {
        let first = interrupts.next().await;
        let exit = *self.0.signal.get_or_init(|| first);
        if !self.0.is_over.load(Ordering::Acquire) {
            commands.send(Command::Interrupt);
            commands.send(Command::Close);
            interrupts.next().await;
        }
        self.0.is_hurried.store(true, Ordering::Release);
        self.0.hurry.notify_one();
        tokio::time::sleep(LAST_WORDS).await;
        // Whoever should read the last lines does not.
        process::exit(i32::from(exit.code()));
    }

    /// The first signal so far.
    pub(super) fn signal(&self) -> Option<Exit> {
        self.0.signal.get().copied()
    }

    /// Whether the program is to end at once.
    pub(super) fn is_hurried(&self) -> bool {
        self.0.is_hurried.load(Ordering::Acquire)
    }

    /// Waits until the program is to end at once.
    pub(super) async fn hurry(&self) {
        self.0.hurry.notified().await;
    }

    /// From now on there is no session to interrupt.
    pub(super) fn session_is_over(&self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}
