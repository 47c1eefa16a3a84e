//! Session time and wall time, both in milliseconds. The core reads no clock: both come in.

use innerloop_json::{FromJson, ToJson};

/// Milliseconds of session time: 0 when the session opened, never going back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
pub struct SessionInstant(pub u64);

impl SessionInstant {
    /// This time and `ms` milliseconds, saturating.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this time, 0 if `earlier` is later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Milliseconds since 1970-01-01T00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
pub struct UnixMillis(pub u64);
