//! A message as Chat Completions sends it, its thinking in DeepSeek's field.

use super::reasons::reason;
use crate::anthropic::{Block, Kind, Message, pieces};
use serde_json::{Value, json};

pub(super) fn body(message: &Message) -> String {
    let of = |kind: Kind| -> String {
        let blocks = message.content.iter().filter(|block| block.kind == kind);
        blocks.map(|block| block.text.as_str()).collect()
    };
    let calls: Vec<Value> = message.content.iter().filter(|b| b.is_call()).map(call).collect();
    let text = of(Kind::Text);
    let mut said = json!({"role": "assistant", "content": text});
    let thought = of(Kind::Thinking);
    if !thought.is_empty() {
        said["reasoning_content"] = thought.into();
    }
    if message.stop_reason == "refusal" {
        said["refusal"] = said["content"].take();
    }
    if !calls.is_empty() {
        said["tool_calls"] = calls.into();
    }
    let choice =
        json!({"index": 0, "message": said, "finish_reason": reason(message, 1), "logprobs": null});
    json!({
        "id": "chatcmpl-01", "object": "chat.completion", "created": 1, "model": "mock",
        "choices": [choice], "usage": usage(message),
    })
    .to_string()
}

pub(super) fn events(message: &Message) -> Vec<String> {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    let mut calls = 0;
    for block in &message.content {
        let name = match block.kind {
            Kind::Text if message.stop_reason == "refusal" => "refusal",
            Kind::Text => "content",
            Kind::Thinking => "reasoning_content",
            Kind::ToolUse | Kind::Freeform => {
                deltas.extend(call_deltas(block, calls, message.delta_chars));
                calls += 1;
                continue;
            }
            Kind::Note => continue,
        };
        let pieces = pieces(&block.text, message.delta_chars);
        deltas.extend(pieces.map(|piece| json!({ name: piece })));
    }
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": "chatcmpl-01", "object": "chat.completion.chunk", "created": 1,
            "model": "mock", "choices": choices, "usage": usage,
        })
        .to_string()
    };
    let choice = |delta: Value, reason: Value| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": reason}]), Value::Null)
    };
    let mut events: Vec<String> =
        deltas.into_iter().map(|delta| choice(delta, Value::Null)).collect();
    events.push(choice(json!({}), reason(message, 1).into()));
    events.push(chunk(json!([]), usage(message)));
    events.push("[DONE]".to_owned());
    events
}

/// A call whole.
fn call(block: &Block) -> Value {
    match block.kind {
        Kind::Freeform => {
            let custom = json!({"name": block.name, "input": block.text});
            json!({"id": block.id, "type": "custom", "custom": custom})
        }
        _ => {
            let function = json!({"name": block.name, "arguments": block.input});
            json!({"id": block.id, "type": "function", "function": function})
        }
    }
}

/// A call in pieces: the first names it, the others bring its arguments.
fn call_deltas(block: &Block, index: usize, size: usize) -> Vec<Value> {
    let (kind, field, text) = match block.kind {
        Kind::Freeform => ("custom", "input", &block.text),
        _ => ("function", "arguments", &block.input),
    };
    let mut first = call(block);
    first["index"] = index.into();
    first[kind][field] = "".into();
    let rest = pieces(text, size).map(|piece| json!({"index": index, kind: {field: piece}}));
    let calls = std::iter::once(first).chain(rest);
    calls.map(|call| json!({"tool_calls": [call]})).collect()
}

fn usage(message: &Message) -> Value {
    let (input, output) = (message.usage.input_tokens, message.usage.output_tokens);
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
    })
}
