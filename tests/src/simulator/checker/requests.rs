//! What holds of a request's body: what its provider demands, and that it only adds to the one
//! before.

use super::seen::require;
use crate::wires::rules::{self, MARKER};
use innerloop_core::{
    config::WireKind,
    event::EventKind,
    id::AgentId,
    message::{FinishReason, Turn, TurnKind},
    output::{Effect, Output, OutputBatch, RequestPurpose},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The newest request of each agent.
#[derive(Debug, Default)]
pub(super) struct Requests {
    newest: BTreeMap<AgentId, String>,
}

impl Requests {
    pub(super) fn on_outputs<'a>(
        &mut self,
        wire: WireKind,
        outputs: &OutputBatch,
        turns: impl Fn(AgentId) -> &'a [Turn],
    ) -> Result<(), String> {
        for output in outputs {
            match output {
                Output::Event(event) => {
                    if let EventKind::PrefixRebased { .. } = event.kind {
                        self.newest.remove(&event.agent);
                    }
                }
                Output::Effect(Effect::Http { agent, request, purpose, .. }) => {
                    let is_reply = *purpose == RequestPurpose::Model;
                    let body = core::str::from_utf8(&request.body).map_err(|e| e.to_string())?;
                    check_body(wire, body, is_reply && is_paused(turns(*agent)))
                        .map_err(|fault| format!("{fault}, in the request {body}"))?;
                    if is_reply {
                        self.extends(wire, *agent, body)?;
                    }
                }
                Output::Effect(_) => {}
            }
        }
        Ok(())
    }

    fn extends(&mut self, wire: WireKind, agent: AgentId, body: &str) -> Result<(), String> {
        let Some(before) = self.newest.insert(agent, body.to_owned()) else { return Ok(()) };
        rules::extends(wire, &before, body)
            .map_err(|fault| format!("the request of {agent} rewrites the one before: {fault}"))
    }
}

/// Whether the model's last word is a reply that it wants to go on with. Empty ones do not count.
fn is_paused(turns: &[Turn]) -> bool {
    let is_fold = |turn: &&Turn| matches!(turn.kind, TurnKind::Folded(_));
    for turn in turns.iter().rev().filter(|turn| !is_fold(turn)) {
        let TurnKind::Assistant(reply) = &turn.kind else { return false };
        let is_paused = reply.finish == FinishReason::Pause;
        if is_paused || !reply.text().trim().is_empty() || reply.tool_calls().next().is_some() {
            return is_paused;
        }
    }
    false
}

/// What a provider demands of a body.
pub(super) fn check_body(wire: WireKind, body: &str, is_paused: bool) -> Result<(), String> {
    if wire == WireKind::Anthropic {
        check_messages(body, is_paused)?;
    }
    let body = serde_json::from_str(body).map_err(|error| error.to_string())?;
    rules::check(wire, &body, is_paused)
}

/// What Anthropic demands of a body.
fn check_messages(body: &str, is_paused: bool) -> Result<(), String> {
    require(body.matches(MARKER).count() <= 4, || "more than 4 cache markers".into())?;
    let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let messages = body["messages"].as_array().ok_or("no messages")?;
    require(!messages.is_empty(), || "no message".into())?;
    let mut calls: Vec<&str> = Vec::new();
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = ["user", "assistant"][index % 2];
        require(message["role"] == role, || format!("message {index} is not of the {role}"))?;
        let blocks = message["content"].as_array().ok_or("content is not an array")?;
        require(!blocks.is_empty(), || format!("message {index} is empty"))?;
        blocks.iter().try_for_each(|block| check_block(block, index))?;
        check_results(&calls, blocks, index)?;
        calls = blocks.iter().filter(|b| b["type"] == "tool_use").map(id_of).collect();
        let unique = calls.iter().all(|call| ids.insert((*call).to_owned()));
        require(unique, || format!("a call of message {index} has an id of before: {calls:?}"))?;
    }
    require(calls.is_empty(), || format!("the calls {calls:?} dangle"))?;
    let is_users = messages.len() % 2 == 1;
    require(is_users || is_paused, || "the last message is the model's own".into())
}

fn id_of(block: &Value) -> &str {
    block["id"].as_str().unwrap_or_default()
}

/// The answers to the calls of the message before come first, each once and in call order.
fn check_results(calls: &[&str], blocks: &[Value], index: usize) -> Result<(), String> {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let name = |block: &Value| block["tool_use_id"].as_str().unwrap_or_default().to_owned();
    let first: Vec<String> = blocks.iter().take_while(is_result).map(name).collect();
    let all = blocks.iter().filter(is_result).count();
    require(first == calls && all == first.len(), || {
        format!("message {index} answers {first:?} ({all} results) where {calls:?} were called")
    })
}

fn check_block(block: &Value, index: usize) -> Result<(), String> {
    let is_good = match block["type"].as_str() {
        Some("text") => block["text"].as_str().is_some_and(|text| !text.trim().is_empty()),
        Some("tool_use") => block["input"].is_object() && !id_of(block).is_empty(),
        Some("thinking") => block["signature"].is_string(),
        Some("image" | "tool_result" | "note") => true,
        _ => false,
    };
    require(is_good, || format!("message {index} holds the block {block}"))
}
