//! Questions to people and hooks: functions of the user that answer with JSON.

use crate::{callbacks::Callbacks, js::message_of, task::until_stopped};
use futures::channel::oneshot;
use innerloop_core::{
    id::AgentId,
    input::{Answer, HookReply},
    output::{Ask, HookRun},
};
use innerloop_json::ToJson;
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal};

/// Puts a question to the user's function. Nothing if the answer is no longer needed; a function
/// that fails denies.
pub(crate) async fn ask(
    callbacks: &Callbacks,
    agent: AgentId,
    ask: &Ask,
    cancel: oneshot::Receiver<()>,
) -> Option<Answer> {
    let put = |question: &str, signal: &AbortSignal| callbacks.ask(agent.0, question, signal);
    let answer = call(ask, put, cancel).await?;
    let answer = answer.and_then(|text| {
        innerloop_json::from_str(&text).map_err(|error| format!("the answer does not fit: {error}"))
    });
    Some(answer.unwrap_or_else(|error| Answer::Deny {
        reason: format!("the person could not be asked: {error}"),
    }))
}

/// Runs a hook of the user. Nothing if the reply is no longer needed.
pub(crate) async fn run_hook(
    callbacks: &Callbacks,
    agent: AgentId,
    hook: &HookRun,
    cancel: oneshot::Receiver<()>,
) -> Option<HookReply> {
    let run = |hook: &str, signal: &AbortSignal| callbacks.run_hook(agent.0, hook, signal);
    let reply = call(hook, run, cancel).await?;
    let reply = reply.and_then(|text| {
        innerloop_json::from_str(&text).map_err(|error| format!("its reply does not fit: {error}"))
    });
    Some(reply.unwrap_or_else(|message| HookReply::Failed { message }))
}

/// Calls a function of the user with JSON and a signal that fires when `cancel` does. Nothing if
/// it did; else the JSON that the function resolves to, or why it fails.
async fn call(
    said: &impl ToJson,
    function: impl FnOnce(&str, &AbortSignal) -> Result<Promise, JsValue>,
    cancel: oneshot::Receiver<()>,
) -> Option<Result<String, String>> {
    let said = innerloop_json::to_string(said);
    let abort = match AbortController::new() {
        Ok(abort) => abort,
        Err(error) => return Some(Err(message_of(&error))),
    };
    let promise = function(&said, &abort.signal());
    let work = async { JsFuture::from(promise?).await };
    match until_stopped(work, cancel, None).await {
        Ok(Ok(value)) => Some(value.as_string().ok_or_else(|| "it returned nothing".into())),
        Ok(Err(error)) => Some(Err(message_of(&error))),
        Err(_stop) => {
            abort.abort();
            None
        }
    }
}
