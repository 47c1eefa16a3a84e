//! The clocks of the page: session time, which never goes back, and wall time.

use innerloop_core::time::{SessionInstant, UnixMillis};
use std::time::Duration;
use web_time::{SystemTime, UNIX_EPOCH};

/// A clock of session time, over the page's monotonic clock.
#[derive(Debug)]
pub(crate) struct SessionClock {
    /// The session time at which the clock was made.
    from: SessionInstant,
    made: web_time::Instant,
}

impl SessionClock {
    /// Makes a clock that shows `now`.
    pub(crate) fn at(now: SessionInstant) -> Self {
        Self { from: now, made: web_time::Instant::now() }
    }

    /// Returns the session time in whole milliseconds, rounded up.
    pub(crate) fn now(&self) -> SessionInstant {
        // Rounded down, the time at which a timer fires could be just below its deadline, and a
        // timer of 0 ms would have to follow.
        let elapsed = self.made.elapsed() + Duration::from_micros(999);
        self.from.plus_ms(millis(elapsed))
    }
}

/// Returns the wall time.
pub(crate) fn wall_time() -> UnixMillis {
    UnixMillis(millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()))
}

/// Returns today's date in UTC, such as `2026-11-27`.
pub(crate) fn today() -> String {
    let now = String::from(js_sys::Date::new_0().to_iso_string());
    now.split_once('T').map_or(now.clone(), |(date, _)| date.to_owned())
}

/// Converts a time to whole milliseconds, rounded down.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
