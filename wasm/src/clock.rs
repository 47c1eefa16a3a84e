//! The clocks of the platform: session time, wall time, and waiting.

use futures::channel::oneshot;
use innerloop_core::time::{Instant, UnixMillis};
use js_sys::Function;
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use wasm_bindgen::{JsCast, JsValue, closure::Closure, prelude::wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, ms: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// The longest wait that platforms keep, 2^31 - 1 ms; a longer one would end at once.
const LONGEST_MS: f64 = 2_147_483_647.0;

/// Maps the platform's monotonic clock onto session time.
#[derive(Debug)]
pub(crate) struct Clock {
    /// What the platform's clock showed at session time 0, in milliseconds.
    zero: f64,
}

impl Clock {
    /// A clock that shows `now`.
    pub(crate) fn at(now: Instant) -> Self {
        Self { zero: performance_now() - to_f64(now.0) }
    }

    /// The session's time.
    pub(crate) fn now(&self) -> Instant {
        Instant(to_u64(performance_now() - self.zero))
    }
}

/// The wall time.
pub(crate) fn wall() -> UnixMillis {
    UnixMillis(to_u64(js_sys::Date::now()))
}

/// Waits. Dropped early, it leaves no timer behind that would keep the process alive.
pub(crate) struct Sleep {
    timer: JsValue,
    done: oneshot::Receiver<()>,
    _callback: Closure<dyn FnMut()>,
}

impl Sleep {
    /// A wait of `ms` milliseconds.
    pub(crate) fn new(ms: u64) -> Self {
        let (fire, done) = oneshot::channel();
        let mut fire = Some(fire);
        let callback = Closure::new(move || {
            if let Some(fire) = fire.take() {
                // Whoever waited may be gone; then nobody needs to know.
                let _sent = fire.send(());
            }
        });
        let timer = set_timeout(callback.as_ref().unchecked_ref(), to_f64(ms).min(LONGEST_MS));
        Self { timer, done, _callback: callback }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.done).poll(context).map(|_| ())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        clear_timeout(&self.timer);
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay far below 2^53")]
const fn to_f64(ms: u64) -> f64 {
    ms as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
const fn to_u64(ms: f64) -> u64 {
    ms as u64
}
