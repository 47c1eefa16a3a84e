//! Ctrl-C and the system's requests to end as something to wait for. None is lost between two
//! waits.

use super::exit::{Exit, Failure};
use std::{io, task::Poll};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC as Signal, ctrl_c};

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

#[cfg(unix)]
fn installed() -> io::Result<Vec<(Signal, Exit)>> {
    Ok(vec![
        (signal(SignalKind::interrupt())?, Exit::Interrupted),
        (signal(SignalKind::terminate())?, Exit::Terminated),
        (signal(SignalKind::hangup())?, Exit::HungUp),
    ])
}

#[cfg(windows)]
fn installed() -> io::Result<Vec<(Signal, Exit)>> {
    Ok(vec![(ctrl_c()?, Exit::Interrupted)])
}
