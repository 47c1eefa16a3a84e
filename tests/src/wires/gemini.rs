//! A message as Gemini sends it: the signature of its thinking stands on the first call behind
//! it, or else on an empty text at the end.

use super::reasons::reason;
use crate::anthropic::{Kind, Message, object, pieces, quoted};
use serde_json::json;

pub(super) fn body(message: &Message) -> String {
    response(message, &parts(message, usize::MAX).join(","), true)
}

pub(super) fn events(message: &Message) -> Vec<String> {
    let parts = parts(message, message.delta_chars);
    let mut events: Vec<String> = parts.iter().map(|part| response(message, part, false)).collect();
    events.push(response(message, "", true));
    events
}

/// The parts, texts in pieces of so many characters.
fn parts(message: &Message, size: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut seal = None;
    for block in &message.content {
        match block.kind {
            Kind::Text => {
                parts.extend(pieces(&block.text, size).map(|t| json!({"text": t}).to_string()));
            }
            Kind::Thinking => {
                let thought = |text| json!({"text": text, "thought": true}).to_string();
                parts.extend(pieces(&block.text, size).map(thought));
                seal = block.signature();
            }
            Kind::ToolUse | Kind::Freeform => {
                let mut call = Vec::new();
                if !block.id.is_empty() {
                    call.push(("id", quoted(&block.id)));
                }
                call.extend([("name", quoted(&block.name)), ("args", block.input_json())]);
                let mut part = vec![("functionCall", object(&call))];
                part.extend(seal.take().map(|mark| ("thoughtSignature", quoted(mark))));
                parts.push(object(&part));
            }
            Kind::Note => parts.push(json!({"note": {"x": 1}}).to_string()),
        }
    }
    parts.extend(seal.map(|mark| json!({"text": "", "thoughtSignature": mark}).to_string()));
    parts
}

fn response(message: &Message, parts: &str, is_last: bool) -> String {
    let content = format!(r#"{{"role":"model","parts":[{parts}]}}"#);
    let mut candidate = vec![("content", content), ("index", "0".to_owned())];
    let (input, output) = (message.usage.input_tokens, message.usage.output_tokens);
    let mut counts = json!({"promptTokenCount": input});
    if is_last {
        candidate.push(("finishReason", quoted(reason(message, 2))));
        counts["candidatesTokenCount"] = output.into();
        counts["totalTokenCount"] = (input + output).into();
    }
    object(&[
        ("candidates", format!("[{}]", object(&candidate))),
        ("usageMetadata", counts.to_string()),
        ("modelVersion", quoted("mock")),
        ("responseId", quoted("r_01")),
    ])
}
