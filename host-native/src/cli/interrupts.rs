//! Ctrl-C as something to wait for. None is lost between two waits.

use super::exit::{Exit, Failure};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC as Signal, ctrl_c};

/// From its creation on, Ctrl-C no longer ends the program.
#[derive(Debug)]
pub(super) struct Interrupts(Signal);

impl Interrupts {
    pub(super) fn new() -> Result<Self, Failure> {
        #[cfg(unix)]
        let installed = signal(SignalKind::interrupt());
        #[cfg(windows)]
        let installed = ctrl_c();
        installed.map(Self).map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot listen for Ctrl-C: {error}"))
        })
    }

    /// Waits for the next Ctrl-C.
    pub(super) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
