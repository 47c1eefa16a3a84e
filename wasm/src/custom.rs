//! A tool of the user: a JavaScript function, sync or async.

use crate::{
    callbacks::Callbacks,
    js::message_of,
    task::{self, Stop},
};
use futures::channel::oneshot;
use innerloop_core::{action::Outcome, id::EffectId, json::Json};
use innerloop_driver::custom;
use wasm_bindgen::JsValue;
use web_sys::AbortSignal;

/// A call of a tool of the user.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) call_id: &'a str,
    /// The folder of the workspace that the calling agent works in.
    pub(crate) folder: &'a str,
    /// They fit the tool's schema.
    pub(crate) arguments: &'a Json,
}

/// Calls the function and waits for what it returns. What it throws is an error for the model.
pub(crate) async fn run(
    callbacks: &Callbacks,
    id: EffectId,
    call: &Call<'_>,
    cancel: oneshot::Receiver<()>,
    timeout_ms: u64,
) -> Outcome {
    let Call { name, call_id, folder, arguments } = call;
    let function = |signal: &AbortSignal| {
        callbacks.call_tool(id.0, name, arguments.text(), call_id, folder, signal)
    };
    match task::call(&function, cancel, Some(timeout_ms)).await {
        Ok(Ok(value)) => outcome(name, &value),
        Ok(Err(error)) => custom::failed(name, &message_of(&error)),
        Err(Stop::Cancelled) => custom::interrupted(),
        Err(Stop::TimedOut) => custom::timed_out(),
    }
}

/// The package has made the outcome's JSON of what the function returned.
fn outcome(name: &str, value: &JsValue) -> Outcome {
    let text = value.as_string().unwrap_or_default();
    innerloop_json::from_str(&text)
        .unwrap_or_else(|error| custom::failed(name, &format!("its result does not fit: {error}")))
}
