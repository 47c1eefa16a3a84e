//! The clocks of the platform: session time, which never goes back, and wall time.

use innerloop_core::time::{SessionInstant, UnixMillis};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;
}

/// A clock of session time, over the platform's monotonic clock.
#[derive(Debug)]
pub(crate) struct SessionClock {
    /// The time that the platform's clock showed at session time 0, in milliseconds.
    zero: f64,
}

impl SessionClock {
    /// Makes a clock that shows `now`.
    pub(crate) fn at(now: SessionInstant) -> Self {
        // A restored session goes on from the time at which it stood, so zero may be before the
        // platform's own zero.
        Self { zero: performance_now() - to_f64(now.0) }
    }

    /// Returns the session time.
    pub(crate) fn now(&self) -> SessionInstant {
        SessionInstant(to_u64(performance_now() - self.zero))
    }
}

/// Returns the wall time.
pub(crate) fn wall() -> UnixMillis {
    UnixMillis(to_u64(js_sys::Date::now()))
}

/// Converts to a number of JavaScript.
#[expect(clippy::cast_precision_loss, reason = "milliseconds and effects stay far below 2^53")]
pub(crate) const fn to_f64(number: u64) -> f64 {
    number as f64
}

/// Converts from a number of JavaScript; negative ones and `NaN` become 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) const fn to_u64(number: f64) -> u64 {
    number as u64
}
