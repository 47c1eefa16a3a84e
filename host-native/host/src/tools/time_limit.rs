//! The time limit of a call. It stands still while the call waits for something that may take any
//! time, such as the answer of a person.

use std::{future::pending, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// A time limit that runs from its creation. Clones are the same one.
#[derive(Clone, Debug)]
pub(super) struct TimeLimit(Arc<watch::Sender<CountdownState>>);

#[derive(Clone, Copy, Debug)]
struct CountdownState {
    /// The number of holds that are open.
    holds: usize,
    /// The time at which the limit is reached, unless it is held.
    until: Instant,
    /// The time that was left when the first hold began.
    left: Duration,
}

/// Holds a time limit until it is dropped.
struct TimeLimitHold<'a>(&'a TimeLimit);

impl TimeLimit {
    pub(super) fn of(left: Duration) -> Self {
        let until = Instant::now() + left;
        Self(Arc::new(watch::Sender::new(CountdownState { holds: 0, until, left })))
    }

    /// Waits until no more than `reserve` is left.
    pub(super) async fn is_near(&self, reserve: Duration) {
        let mut clock = self.0.subscribe();
        loop {
            let CountdownState { holds, until, .. } = *clock.borrow_and_update();
            let near = async {
                match holds {
                    0 => sleep_until(until.checked_sub(reserve).unwrap_or(until)).await,
                    _ => pending().await,
                }
            };
            tokio::select! {
                () = near => return,
                // A hold has begun or ended, so that the time is computed anew. The sender is this
                // limit's own and never gone.
                _ = clock.changed() => {}
            }
        }
    }

    /// Waits for something, while the limit stands still.
    pub(super) async fn hold<F: Future>(&self, waiting: F) -> F::Output {
        self.0.send_modify(|clock| {
            // Several waits of one call may overlap; only the first stops the time, and only the
            // last lets it run.
            if clock.holds == 0 {
                clock.left = clock.until.saturating_duration_since(Instant::now());
            }
            clock.holds += 1;
        });
        // A guard and not a call after the await: the wait may be dropped, and the limit must run
        // again then.
        let held = TimeLimitHold(self);
        let output = waiting.await;
        drop(held);
        output
    }
}

impl Drop for TimeLimitHold<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|clock| {
            clock.holds = clock.holds.saturating_sub(1);
            if clock.holds == 0 {
                clock.until = Instant::now() + clock.left;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{sleep, timeout};

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[tokio::test]
    async fn d4_a_time_limit_stands_still_while_it_is_held() {
        let limit = TimeLimit::of(ms(200));
        let begun = Instant::now();
        let (.., early) = tokio::join!(
            limit.hold(sleep(ms(300))),
            limit.hold(sleep(ms(600))),
            timeout(ms(550), limit.is_near(ms(100))),
        );
        assert!(early.is_err(), "it is held by two");
        limit.is_near(ms(100)).await;
        assert!(begun.elapsed() >= ms(700), "{:?}", begun.elapsed());
        // Whoever gives up lets go.
        let _given_up = timeout(ms(300), limit.hold(pending::<()>())).await;
        timeout(ms(300_000), limit.is_near(Duration::ZERO)).await.unwrap();
        assert!(begun.elapsed() >= ms(1_100), "{:?}", begun.elapsed());
    }
}
