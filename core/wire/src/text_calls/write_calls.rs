//! Calls in text as they are written for models and endpoints without native ones: the section of
//! the system prompt that describes the tools, and turns whose calls and results are text. The
//! format is that of Hermes, which most models know; `tagged` reads what comes back.

use super::super::lenient::{JsonDocument, ValueRef, is_json};
use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{IntoList, joined, quoted};
use innerloop_types::{
    json::Json,
    message::{Block, FinishReason, Part, Reply, ToolCall, ToolResult, VisibleTurn},
    tool::ToolSpec,
};

/// Returns the section of the system prompt that describes the tools and how to call them; empty if
/// there are no tools.
pub(crate) fn section(tools: &[&ToolSpec]) -> String {
    let (mut told, mut example) = (String::new(), None);
    for tool in tools {
        let (name, description) = (quoted(&tool.name), quoted(&tool.description));
        let parameters = tool.parameters.text();
        let head = format!("{{\"name\": {name}, \"description\": {description}");
        told += &format!("{head}, \"parameters\": {parameters}}}\n");
        example.get_or_insert_with(|| written(&tool.name, &sample(&tool.parameters)));
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

/// Returns arguments for an example: a value of the right type for each required property.
fn sample(schema: &Json) -> String {
    let schema = JsonDocument::of(schema.text());
    let [required, properties] = schema.root().fields(&["required", "properties"]);
    let names = required.elements().filter_map(ValueRef::string);
    let fields: Vec<String> = names
        .map(|name| {
            let value = match properties.field(&name).field("type").string().as_deref() {
                Some("integer" | "number") => "1",
                Some("boolean") => "true",
                Some("array") => "[]",
                Some("object") => "{}",
                _ => "\"...\"",
            };
            format!("{}: {value}", quoted(&name))
        })
        .into_list();
    format!("{{{}}}", joined(&fields, ", "))
}

/// Returns a turn with its calls and results as text.
pub(crate) fn in_text(said: VisibleTurn<'_>) -> VisibleTurn<'_> {
    match &said {
        VisibleTurn::Assistant(reply) if reply.tool_calls().next().is_some() => {
            VisibleTurn::Assistant(Cow::Owned(in_one_text(reply)))
        }
        VisibleTurn::ToolResults(results) => {
            let mut parts = Vec::new();
            results.iter().for_each(|result| push_response(result, &mut parts));
            VisibleTurn::User(parts.into())
        }
        VisibleTurn::Assistant(_)
        | VisibleTurn::User(_)
        | VisibleTurn::System(_)
        | VisibleTurn::Steering(_) => said,
    }
}

/// Returns a reply with all that it says in one text, the calls at its end.
fn in_one_text(reply: &Reply) -> Reply {
    let mut text = reply.text().trim_end().to_string();
    for call in reply.tool_calls() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&written(&call.name, &arguments(call)));
    }
    let mut told = Reply { finish: FinishReason::Stop, ..reply.clone() };
    // A provider wants its thinking and its sealed blocks back as they came.
    told.blocks.retain(|block| matches!(block, Block::Reasoning(_) | Block::Opaque(_)));
    told.blocks.push(Block::Text(text));
    told
}

/// Appends a result, its text between tags.
fn push_response(result: &ToolResult, parts: &mut Vec<Part>) {
    let text: Vec<&str> = result.parts.iter().filter_map(Part::as_text).into_list();
    let text = format!("<tool_response>\n{}\n</tool_response>", joined(&text, "\n"));
    parts.push(Part::text(text));
    // Pictures and files are parts of their own, so they stand behind the tags.
    parts.extend(result.parts.iter().filter(|part| part.as_text().is_none()).cloned());
}

fn written(name: &str, arguments: &str) -> String {
    // Formatted by hand, so that the keys keep their order: earlier turns must have the same bytes
    // in every request.
    let name = quoted(name);
    format!("<tool_call>\n{{\"name\": {name}, \"arguments\": {arguments}}}\n</tool_call>")
}

/// Returns a call's arguments as JSON, or as a string if they are not valid.
fn arguments(call: &ToolCall) -> String {
    match is_json(&call.arguments) {
        true => call.arguments.trim().to_string(),
        // As they are, they would break the JSON of the call; as a string the model still sees what
        // it wrote.
        false => quoted(&call.arguments),
    }
}
