//! Work that can be stopped: by the session's `Cancel`, and by a time limit.

use crate::clock::Sleep;
use futures::{
    channel::oneshot,
    future::{Either, pending, select},
};
use js_sys::Promise;
use std::{
    future::Future,
    pin::{Pin, pin},
};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal};

/// Why work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The session asked for it.
    Cancelled,
    /// Its time was up.
    TimedOut,
}

/// Calls a function of JavaScript and waits for what it resolves to, but no longer than until
/// `cancel` fires or `limit_ms` have passed: then the signal that the function was given fires.
///
/// # Errors
/// Which of the two ended the wait.
pub(crate) async fn call(
    function: &dyn Fn(&AbortSignal) -> Result<Promise, JsValue>,
    cancel: oneshot::Receiver<()>,
    limit_ms: Option<u64>,
) -> Result<Result<JsValue, JsValue>, Stop> {
    let abort = match AbortController::new() {
        Ok(abort) => abort,
        Err(error) => return Ok(Err(error)),
    };
    let promise = match function(&abort.signal()) {
        Ok(promise) => promise,
        Err(error) => return Ok(Err(error)),
    };
    let mut result = Err(JsValue::UNDEFINED);
    let work = async { result = JsFuture::from(promise).await };
    let stop = stopped(pin!(work), cancel, limit_ms).await;
    match stop {
        None => Ok(result),
        Some(stop) => {
            abort.abort();
            Err(stop)
        }
    }
}

/// Waits for `work`, but no longer than until `cancel` fires or `limit_ms` have passed. Which of
/// the two ended the wait; nothing if the work is done.
pub(crate) async fn stopped(
    work: Pin<&mut dyn Future<Output = ()>>,
    cancel: oneshot::Receiver<()>,
    limit_ms: Option<u64>,
) -> Option<Stop> {
    let limit = async {
        match limit_ms {
            Some(ms) => Sleep::new(ms).await,
            None => pending().await,
        }
    };
    match select(work, select(cancel, pin!(limit))).await {
        Either::Left(_) => None,
        Either::Right((Either::Left(_), _)) => Some(Stop::Cancelled),
        Either::Right((Either::Right(_), _)) => Some(Stop::TimedOut),
    }
}
