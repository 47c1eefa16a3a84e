//! Turns for what else goes on in a command line. All of it is one task, so that a command that
//! never pauses keeps what was printed before it from going out, and if it is ended that is lost.

use std::sync::atomic::{AtomicBool, Ordering};

/// The number of turns that others must get until what was printed is out, whatever pipes it goes
/// through.
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
