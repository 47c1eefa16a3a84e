//! A tool of the user: a JavaScript function, sync or async.

use crate::{
    callbacks::Callbacks,
    js::{field, message_of},
    task::{self, Stop},
};
use futures::channel::oneshot;
use innerloop_core::{
    action::{Outcome, ToolError},
    id::EffectId,
    json::Json,
};
use innerloop_driver::custom;
use js_sys::JSON;
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
        Ok(Ok(value)) => outcome(&value),
        Ok(Err(error)) => custom::failed(name, &message_of(&error)),
        Err(Stop::Cancelled) => custom::interrupted(),
        Err(Stop::TimedOut) => custom::timed_out(),
    }
}

/// A text is the result; of `{text, isError}` the text; anything else is shown as JSON. The
/// package has refused before what JSON cannot hold: only `undefined` has nothing to show.
fn outcome(value: &JsValue) -> Outcome {
    if let Some(text) = value.as_string() {
        return Outcome::text(text);
    }
    if let Some(text) = field(value, "text").as_string().filter(|_| value.is_object()) {
        let failed = field(value, "isError").is_truthy();
        return if failed { Outcome::error(ToolError::Crashed, text) } else { Outcome::text(text) };
    }
    match JSON::stringify(value).ok().and_then(|text| text.as_string()) {
        Some(text) => Outcome::text(text),
        None => Outcome::text(""),
    }
}
