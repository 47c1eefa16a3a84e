//! Elided results: the model sees one line for each, which names the call and the length of the
//! result. The log keeps the results whole. A line follows from the log alone, so that the view
//! shows the same one in every request.

use alloc::{format, string::String, vec, vec::Vec};
use innerloop_json::{IntoList, Value, from_str};
use innerloop_types::{
    message::{Part, ToolCall, ToolResult, Turn, TurnKind, joined_text},
    text::{counted, nth_char},
};

/// The number of characters that a line shows of an argument.
const ARGUMENT: usize = 80;

/// Returns the results of the calls in the turn `before`, one line for each.
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
        // A result that is shorter than its line stays: eliding it would only lose it.
        let parts = if is_text && text.len() <= line.len() {
            result.parts.clone()
        } else {
            vec![Part::text(line)]
        };
        ToolResult { call_id: result.call_id.clone(), parts, is_error: result.is_error }
    };
    results.iter().map(stub).into_list()
}

/// Returns the line of a result, for example `[read_file src/a.rs: 212 lines, 8,140 characters,
/// left out; call it again if you need it]`. A failure keeps its first line.
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

/// Returns the first argument that is a text of one line, behind a blank.
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
