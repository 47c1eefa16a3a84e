//! How much of a call's time is left. It stands still while somebody is waited for who may take
//! any time, such as a person.

use std::{future::pending, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// A time limit that runs from now on. Clones are of the same one.
#[derive(Clone, Debug)]
pub(super) struct TimeLimit(Arc<watch::Sender<CountdownState>>);

#[derive(Clone, Copy, Debug)]
struct CountdownState {
    /// The number of holds that are open.
    holds: usize,
    /// The time at which the limit is reached, as long as nobody holds it.
    until: Instant,
    /// The time that was left when it was held.
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
                // The sender is this limit's own.
                _ = clock.changed() => {}
            }
        }
    }

    /// Waits for something, and the limit does not run meanwhile.
    pub(super) async fn hold<F: Future>(&self, waiting: F) -> F::Output {
        self.0.send_modify(|clock| {
            if clock.holds == 0 {
                clock.left = clock.until.saturating_duration_since(Instant::now());
            }
            clock.holds += 1;
        });
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
