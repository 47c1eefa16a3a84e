//! Questions to people and hooks: functions of the user that answer with JSON.

use crate::{callbacks::Callbacks, js::message_of, task};
use futures::channel::oneshot;
use innerloop_core::{
    id::AgentId,
    input::{Answer, HookReply},
    output::{Ask, HookRun},
};
use js_sys::Promise;
use wasm_bindgen::JsValue;
use web_sys::AbortSignal;

/// Puts a question to the user's function. Nothing if the answer is no longer needed; a function
/// that fails denies.
pub(crate) async fn ask(
    callbacks: &Callbacks,
    agent: AgentId,
    ask: &Ask,
    cancel: oneshot::Receiver<()>,
) -> Option<Answer> {
    let question = innerloop_json::to_string(ask);
    let put = |signal: &AbortSignal| callbacks.ask(agent.0, &question, signal);
    let answer = call(&put, cancel).await?;
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
    let hook = innerloop_json::to_string(hook);
    let run = |signal: &AbortSignal| callbacks.run_hook(agent.0, &hook, signal);
    let reply = call(&run, cancel).await?;
    let reply = reply.and_then(|text| {
        innerloop_json::from_str(&text).map_err(|error| format!("its reply does not fit: {error}"))
    });
    Some(reply.unwrap_or_else(|message| HookReply::Failed { message }))
}

/// Calls a function of the user, with a signal that fires when `cancel` does. Nothing if it did;
/// else the JSON that the function resolves to, or why it fails.
async fn call(
    function: &dyn Fn(&AbortSignal) -> Result<Promise, JsValue>,
    cancel: oneshot::Receiver<()>,
) -> Option<Result<String, String>> {
    match task::call(function, cancel, None).await {
        Ok(Ok(value)) => Some(value.as_string().ok_or_else(|| "it returned nothing".into())),
        Ok(Err(error)) => Some(Err(message_of(&error))),
        Err(_stop) => None,
    }
}
