//! Turns for the other tasks of a command line. The shell runs in one thread, so that a command
//! that never pauses would hold back what was printed before it, and that would be lost if it is
//! killed.

use std::sync::atomic::{AtomicBool, Ordering};

/// The number of turns that the others need until output has passed through all pipes.
const TURNS: usize = 4;

/// True if a command has begun since others had a turn.
static ARE_DUE: AtomicBool = AtomicBool::new(true);

/// Notes that a command begins.
pub(crate) fn due() {
    ARE_DUE.store(true, Ordering::Relaxed);
}

/// Lets the others go on, once for each command.
pub(crate) async fn give() {
    if ARE_DUE.swap(false, Ordering::Relaxed) {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
    }
}
