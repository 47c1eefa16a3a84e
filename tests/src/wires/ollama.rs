//! A message as Ollama sends it, a line for each piece.

use super::reasons::reason;
use crate::anthropic::{Block, Kind, Message, object, pieces, quoted};
use serde_json::json;

pub(super) fn body(message: &Message) -> String {
    let of = |kind: Kind| -> String {
        let blocks = message.content.iter().filter(|block| block.kind == kind);
        blocks.map(|block| block.text.as_str()).collect()
    };
    let calls = message.content.iter().filter(|block| block.is_call());
    let calls: Vec<String> = calls.enumerate().map(|(at, block)| call(block, at)).collect();
    let mut said = vec![("role", quoted("assistant")), ("content", quoted(&of(Kind::Text)))];
    let thought = of(Kind::Thinking);
    if !thought.is_empty() {
        said.push(("thinking", quoted(&thought)));
    }
    if !calls.is_empty() {
        said.push(("tool_calls", format!("[{}]", calls.join(","))));
    }
    line(&object(&said), Some(message))
}

pub(super) fn events(message: &Message) -> Vec<String> {
    let mut lines = Vec::new();
    let mut calls = 0;
    let say = |content: &str, field: &'static str, value: String| {
        let role = ("role", quoted("assistant"));
        line(&object(&[role, ("content", quoted(content)), (field, value)]), None)
    };
    for block in &message.content {
        match block.kind {
            Kind::Text => {
                let role = ("role", quoted("assistant"));
                let said = |piece: String| object(&[role.clone(), ("content", quoted(&piece))]);
                lines.extend(
                    pieces(&block.text, message.delta_chars).map(|piece| line(&said(piece), None)),
                );
            }
            Kind::Thinking => {
                let pieces = pieces(&block.text, message.delta_chars);
                lines.extend(pieces.map(|piece| say("", "thinking", quoted(&piece))));
            }
            Kind::ToolUse | Kind::Freeform => {
                lines.push(say("", "tool_calls", format!("[{}]", call(block, calls))));
                calls += 1;
            }
            Kind::Note => {}
        }
    }
    let end = object(&[("role", quoted("assistant")), ("content", quoted(""))]);
    lines.push(line(&end, Some(message)));
    lines
}

fn call(block: &Block, index: usize) -> String {
    let function = object(&[
        ("index", index.to_string()),
        ("name", quoted(&block.name)),
        ("arguments", block.input_json()),
    ]);
    let mut call = Vec::new();
    if !block.id.is_empty() {
        call.push(("id", quoted(&block.id)));
    }
    call.push(("function", function));
    object(&call)
}

/// A line; the last one tells how the message ended.
fn line(said: &str, ended: Option<&Message>) -> String {
    let mut fields = vec![
        ("model", quoted("mock")),
        ("created_at", quoted("2026-11-22T00:00:00Z")),
        ("message", said.to_owned()),
        ("done", ended.is_some().to_string()),
    ];
    if let Some(message) = ended {
        fields.extend([
            ("done_reason", quoted(reason(message, 3))),
            ("prompt_eval_count", json!(message.usage.input_tokens).to_string()),
            ("eval_count", json!(message.usage.output_tokens).to_string()),
        ]);
    }
    object(&fields)
}
