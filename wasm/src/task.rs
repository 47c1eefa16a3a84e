//! Work that can be stopped: by the session's `Cancel`, and by a time limit.

use crate::clock::Sleep;
use futures::{
    channel::oneshot,
    future::{Either, pending, select},
};
use std::{future::Future, pin::pin};

/// Why work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The session asked for it.
    Cancelled,
    /// Its time was up.
    TimedOut,
}

/// Waits for `work`, but no longer than until `cancel` fires or `limit_ms` have passed.
///
/// # Errors
/// Which of the two ended the wait; the work is then dropped.
pub(crate) async fn until_stopped<T>(
    work: impl Future<Output = T>,
    cancel: oneshot::Receiver<()>,
    limit_ms: Option<u64>,
) -> Result<T, Stop> {
    let limit = async {
        match limit_ms {
            Some(ms) => Sleep::new(ms).await,
            None => pending().await,
        }
    };
    let stop = async {
        match select(cancel, pin!(limit)).await {
            Either::Left(_) => Stop::Cancelled,
            Either::Right(_) => Stop::TimedOut,
        }
    };
    match select(pin!(work), pin!(stop)).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right((stop, _)) => Err(stop),
    }
}
