//! Session time and wall time, both in milliseconds. The core reads no clock: both come in with
//! inputs, so that a replay has the same times.

use innerloop_json::{FromJson, ToJson};

/// A point in session time: milliseconds since the session opened. It never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
// Deadlines are in session time alone: a wall clock may be set back or jump, and the system's
// monotonic clock does not outlive a restart.
pub struct SessionInstant(pub u64);

impl SessionInstant {
    /// Returns the time `ms` milliseconds after this one, saturating.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        // Durations come from configurations, models and servers: one that overflows means a time
        // that never comes, and must not wrap round to the past.
        Self(self.0.saturating_add(ms))
    }

    /// Returns the milliseconds from `earlier` to this time; 0 if `earlier` is later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A point in wall time: milliseconds since 1970-01-01T00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
pub struct UnixMillis(pub u64);
