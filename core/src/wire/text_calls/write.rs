//! Calls told in text, for models and endpoints that have none of the protocol's own: the
//! section of the system prompt that tells the tools, and turns in which calls and results are
//! text. What is written is in Hermes' format, which most models know.

use super::found::Parsed;
use crate::{
    base::json::push_string,
    types::{
        message::{Block, Finish, Part, Reasoning, Reply, ToolCall, ToolResult, TurnKind},
        tool::ToolSpec,
    },
};
use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use serde_json::Value;

/// The section of the system prompt that tells the tools and how to call them; nothing if there
/// are no tools.
pub(crate) fn section<'a>(tools: impl Iterator<Item = &'a ToolSpec>) -> String {
    let (mut told, mut example) = (String::new(), None);
    for tool in tools {
        let (name, description) = (quoted(&tool.name), quoted(&tool.description));
        let parameters = tool.parameters.text();
        let head = format!("{{\"name\": {name}, \"description\": {description}");
        told += &format!("{head}, \"parameters\": {parameters}}}\n");
        example.get_or_insert_with(|| written(&tool.name, &sample(parameters)));
    }
    let Some(example) = example else { return String::new() };
    format!(
        "\n\n# Calling tools\n\nThese are your tools, one a line, each with the JSON Schema of its \
         arguments:\n\n<tools>\n{told}</tools>\n\nYou call a tool by writing a block of two tags \
         with one JSON object between them. For example:\n\n{example}\n\nWrite nothing behind a \
         call: stop there, and the result comes in the next message between <tool_response> \
         tags. Several calls are several blocks. Never write a <tool_response> yourself, put no \
         call into a code block, and call only the tools above. When the task is done, answer in \
         plain text without a call."
    )
}

/// Arguments for an example: a value of the right type for each required property.
fn sample(schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let fields: Vec<String> = names
        .map(|name| {
            let property = schema.get("properties").and_then(|all| all.get(name));
            let kind = property.and_then(|property| property.get("type")).and_then(Value::as_str);
            let value = match kind {
                Some("integer" | "number") => "1",
                Some("boolean") => "true",
                Some("array") => "[]",
                Some("object") => "{}",
                _ => "\"...\"",
            };
            format!("{}: {value}", quoted(name))
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

/// The turn with its calls and results as text; nothing if it has none.
pub(crate) fn in_text(turn: &TurnKind) -> Option<TurnKind> {
    match turn {
        TurnKind::Assistant(reply) if reply.tool_calls().next().is_some() => {
            Some(TurnKind::Assistant(Box::new(said(reply))))
        }
        TurnKind::ToolResults(results) => {
            Some(TurnKind::User(results.iter().flat_map(response).collect()))
        }
        TurnKind::Assistant(_)
        | TurnKind::User(_)
        | TurnKind::System(_)
        | TurnKind::Steering(_) => None,
    }
}

/// A reply with all that it says in one text, the calls behind it.
fn said(reply: &Reply) -> Reply {
    let mut text = reply.text().trim_end().to_string();
    for call in reply.tool_calls() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&written(&call.name, &arguments(call)));
    }
    let is_kept = |block: &&Block| matches!(block, Block::Reasoning(_) | Block::Opaque(_));
    let mut blocks: Vec<Block> = reply.blocks.iter().filter(is_kept).cloned().collect();
    blocks.push(Block::Text(text));
    Reply { blocks, finish: Finish::Stop, ..reply.clone() }
}

fn response(result: &ToolResult) -> Vec<Part> {
    let text: Vec<&str> = result.parts.iter().filter_map(Part::as_text).collect();
    let text = format!("<tool_response>\n{}\n</tool_response>", text.join("\n"));
    let mut parts = vec![Part::text(text)];
    parts.extend(result.parts.iter().filter(|part| part.as_text().is_none()).cloned());
    parts
}

fn written(name: &str, arguments: &str) -> String {
    let name = quoted(name);
    format!("<tool_call>\n{{\"name\": {name}, \"arguments\": {arguments}}}\n</tool_call>")
}

/// A call's arguments as JSON; what is none as a string.
fn arguments(call: &ToolCall) -> String {
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(_) => call.arguments.trim().to_string(),
        Err(_) => quoted(&call.arguments),
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

/// The reply with what its text holds in its place: thinking, text, and calls behind all. Nothing
/// if its text holds only text.
pub(crate) fn taken_apart(reply: &Reply, parsed: Parsed) -> Option<Reply> {
    if parsed.calls.is_empty() && parsed.reasoning.is_empty() {
        return None;
    }
    let (mut text, mut reasoning) = (Some(parsed.text), Some(parsed.reasoning));
    let mut blocks = Vec::new();
    for block in &reply.blocks {
        if !matches!(block, Block::Text(_) | Block::MarkedText(_)) {
            blocks.push(block.clone());
            continue;
        }
        let thought = reasoning.take().filter(|thought| !thought.is_empty());
        blocks.extend(
            thought.map(|text| Block::Reasoning(Reasoning { text, ..Reasoning::default() })),
        );
        blocks.extend(text.take().filter(|text| !text.is_empty()).map(Block::Text));
    }
    let finish = match reply.finish {
        Finish::Stop | Finish::Unknown if !parsed.calls.is_empty() => Finish::ToolCalls,
        finish => finish,
    };
    blocks.extend(parsed.calls.into_iter().map(Block::ToolCall));
    Some(Reply { blocks, finish, ..reply.clone() })
}
