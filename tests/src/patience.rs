//! Waiting in tests. No verdict may depend on how fast the machine is, so a test waits for a
//! condition, and gives up only when what it waits for can no longer be slow: it hangs.

use std::{
    future::Future,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// For how long anything may take, on the slowest machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until `there` holds.
///
/// # Panics
/// It takes longer than [`PATIENCE`].
pub fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !there() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Does some work on another thread and gives what it leads to.
///
/// # Panics
/// It takes longer than [`PATIENCE`], or panics.
pub fn ends<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    let worker = thread::spawn(move || drop(sender.send(work())));
    match receiver.recv_timeout(PATIENCE) {
        Ok(done) => done,
        Err(RecvTimeoutError::Timeout) => panic!("{what} does not end"),
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => panic!("{what} has come to nothing"),
        },
    }
}

/// What the future leads to.
///
/// # Panics
/// It takes longer than [`PATIENCE`].
pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    let Ok(done) = tokio::time::timeout(PATIENCE, future).await else {
        panic!("{what} does not end")
    };
    done
}
