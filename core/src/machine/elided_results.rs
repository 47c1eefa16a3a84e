//! Results of which the model sees one line each: which call it was and how long the result is.

use alloc::{format, string::String, vec, vec::Vec};
use innerloop_json::{Value, from_str};
use innerloop_types::{
    message::{Part, ToolCall, ToolResult, Turn, TurnKind, joined_text},
    text::{counted, nth_char},
};

/// Most characters of what a call names.
const ARGUMENT: usize = 80;

/// The results of the calls in the turn before, a line each. What is no longer than its line stays.
pub(super) fn stubbed(before: Option<&Turn>, results: &[ToolResult]) -> Vec<ToolResult> {
    let reply = match before {
        Some(Turn { kind: TurnKind::Assistant(reply), .. }) => Some(reply),
        _ => None,
    };
    let stub = |result: &ToolResult| {
        let call = reply.and_then(|r| r.tool_calls().find(|call| call.id == result.call_id));
        let text = joined_text(&result.parts);
        let line = line(call, &text, result.is_error);
        let is_text = result.parts.iter().all(|part| part.as_text().is_some());
        let parts = if is_text && text.len() <= line.len() {
            result.parts.clone()
        } else {
            vec![Part::text(line)]
        };
        ToolResult { call_id: result.call_id.clone(), parts, is_error: result.is_error }
    };
    results.iter().map(stub).collect()
}

/// For example `[read_file src/a.rs: 212 lines, 8,140 characters, left out; call it again if you
/// need it]`. Of a failure the first line stays.
fn line(call: Option<&ToolCall>, text: &str, is_error: bool) -> String {
    let error = if is_error { text.lines().next() } else { None };
    let (error, blank) = error.map_or(("", ""), |line| (line, " "));
    let (lines, chars) = (text.lines().count() as u64, text.chars().count() as u64);
    let (lines, chars) = (counted(lines, "line"), counted(chars, "character"));
    let name = call.map_or("result", |call| &call.name);
    let argument = call.map(argument).unwrap_or_default();
    format!(
        "{error}{blank}[{name}{argument}: {lines}, {chars}, left out; call it again if you need \
         it]"
    )
}

/// The first text among a call's arguments that is one line, behind a blank.
fn argument(call: &ToolCall) -> String {
    let Ok(Value::Object(fields)) = from_str::<Value>(&call.arguments) else {
        return String::new();
    };
    let texts = fields.iter().filter_map(|(_, value)| value.as_str());
    let found = texts.filter(|text| !text.is_empty()).find(|text| !text.contains('\n'));
    found.map_or_else(String::new, |text| {
        format!(" {}", text.get(..nth_char(text, ARGUMENT)).unwrap_or_default())
    })
}
