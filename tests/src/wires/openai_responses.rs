//! A message as OpenAI Responses sends it.

use super::reasons::reason;
use crate::anthropic::{Block, Kind, Message, pieces};
use serde_json::{Value, json};

pub(super) fn body(message: &Message) -> String {
    response(message, true).to_string()
}

pub(super) fn events(message: &Message) -> Vec<String> {
    let begun = response(message, false);
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, block) in message.content.iter().enumerate() {
        let added = item(message, index, false);
        let at = json!({"output_index": index, "item_id": added["id"]});
        events.push(json!({
            "type": "response.output_item.added", "output_index": index, "item": added,
        }));
        if let Some((name, place, text)) = strand(message, block) {
            let event = |suffix: &str, field: &str, text: &str| {
                let mut event = at.clone();
                event["type"] = format!("response.{name}.{suffix}").into();
                event[place] = 0.into();
                event[field] = text.into();
                event
            };
            events.extend(
                pieces(text, message.delta_chars).map(|piece| event("delta", "delta", &piece)),
            );
            let field = match block.kind {
                Kind::ToolUse => "arguments",
                Kind::Freeform => "input",
                Kind::Text if is_refusal(message) => "refusal",
                _ => "text",
            };
            events.push(event("done", field, text));
        }
        let done = item(message, index, true);
        events.push(json!({
            "type": "response.output_item.done", "output_index": index, "item": done,
        }));
    }
    let whole = response(message, true);
    let status = whole["status"].as_str().unwrap_or_default().to_owned();
    events.push(json!({"type": format!("response.{status}"), "response": whole}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events.iter().map(Value::to_string).collect()
}

fn is_refusal(message: &Message) -> bool {
    message.stop_reason == "refusal"
}

/// The name of the events that bring a block's text, the name of the part's place, and the text.
fn strand<'a>(
    message: &Message,
    block: &'a Block,
) -> Option<(&'static str, &'static str, &'a str)> {
    Some(match block.kind {
        Kind::Text if is_refusal(message) => ("refusal", "content_index", &block.text),
        Kind::Text => ("output_text", "content_index", &block.text),
        Kind::Thinking => ("reasoning_summary_text", "summary_index", &block.text),
        Kind::ToolUse => ("function_call_arguments", "content_index", &block.input),
        Kind::Freeform => ("custom_tool_call_input", "content_index", &block.text),
        Kind::Note => return None,
    })
}

/// The item of the block number `index`, whole or as it is announced.
fn item(message: &Message, index: usize, is_done: bool) -> Value {
    let block = &message.content[index];
    let status = if is_done { "completed" } else { "in_progress" };
    let text = |text: &str| if is_done { text.to_owned() } else { String::new() };
    match block.kind {
        Kind::Text => {
            let part = if is_refusal(message) {
                json!({"type": "refusal", "refusal": block.text})
            } else {
                json!({"type": "output_text", "annotations": [], "text": block.text})
            };
            let content = if is_done { vec![part] } else { Vec::new() };
            json!({
                "type": "message", "id": format!("msg_{index}"), "status": status,
                "role": "assistant", "content": content,
            })
        }
        Kind::Thinking => {
            let summary = json!({"type": "summary_text", "text": block.text});
            let summary = if is_done { vec![summary] } else { Vec::new() };
            let sealed = block.signature().filter(|_| is_done);
            json!({
                "type": "reasoning", "id": format!("rs_{index}"), "summary": summary,
                "encrypted_content": sealed,
            })
        }
        Kind::ToolUse => json!({
            "type": "function_call", "id": format!("fc_{index}"), "call_id": block.id,
            "name": block.name, "arguments": text(&block.input), "status": status,
        }),
        Kind::Freeform => json!({
            "type": "custom_tool_call", "id": format!("ctc_{index}"), "call_id": block.id,
            "name": block.name, "input": text(&block.text), "status": status,
        }),
        Kind::Note => json!({"type": "note", "id": format!("nt_{index}"), "x": 1}),
    }
}

fn response(message: &Message, is_done: bool) -> Value {
    let why = reason(message, 0);
    let status = match why {
        _ if !is_done => "in_progress",
        "" => "completed",
        _ => "incomplete",
    };
    let details = (status == "incomplete").then(|| json!({ "reason": why }));
    let output: Vec<Value> = (0..message.content.len())
        .filter(|_| is_done)
        .map(|index| item(message, index, true))
        .collect();
    let (input, out) = (message.usage.input_tokens, message.usage.output_tokens);
    let usage = is_done.then(|| {
        json!({
            "input_tokens": input, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": out, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + out,
        })
    });
    json!({
        "id": "resp_01", "object": "response", "created_at": 1, "status": status,
        "model": "mock", "output": output, "error": null, "incomplete_details": details,
        "usage": usage,
    })
}
