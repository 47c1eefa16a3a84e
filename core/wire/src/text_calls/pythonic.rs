//! Calls as Python writes them: `[f(a=1), g(b="x")]` (Llama 3.2 and 4, OLMo, LFM2), one call a line
//! (Gemma 3), and the built-in tools of Llama 3.1, `name.call(a=1)`. `literal` reads the values.

use super::{
    literal::LiteralReader,
    scan::{SourceText, find},
    text_findings::{CallRegion, call},
};
use alloc::vec::Vec;
use innerloop_types::{message::ToolCall, steps};

/// Tags that may stand around the list.
const TAGS: [(&str, &str); 3] = [
    ("<|python_start|>", "<|python_end|>"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    ("<function_calls>", "</function_calls>"),
];

/// Reads a list of calls in tags.
pub(super) fn tagged(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let (inner, close) =
        TAGS.iter().find_map(|(open, close)| Some((doc.after(at, open)?, *close)))?;
    let from = doc.skip_space(inner);
    let region = match doc.rest(from).chars().next()? {
        '[' => list(doc, from)?,
        _ => lines(doc, from)?,
    };
    let end = doc.after(doc.skip_space(region.end), close).unwrap_or(region.end);
    CallRegion::new(end, region.calls)
}

/// Returns whether the text begins with a name and a parenthesis.
pub(super) fn begins_call(text: &str) -> bool {
    let mut reader = LiteralReader::new(text, 0);
    reader.name().is_some() && reader.take("(")
}

/// Reads a list of calls. One that cannot be read does not void the others.
pub(super) fn list(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    if doc.is_spent() {
        return None;
    }
    let mut reader = LiteralReader::new(doc.body(), at);
    if !reader.take("[") {
        return None;
    }
    let mut calls = Vec::new();
    loop {
        reader.space();
        if reader.take("]") || !doc.has_room(&calls) {
            break;
        }
        let here = reader.at();
        match one(&mut reader) {
            Some(call) => calls.push(call),
            None => {
                // The budget pays only for lists that cannot be read: others are not gone through
                // again.
                let Some(behind) = skip_call(doc, here) else {
                    doc.spend(reader.at() - at);
                    return None;
                };
                reader = LiteralReader::new(doc.body(), behind);
            }
        }
        reader.space();
        if !reader.take(",") && !doc.rest(reader.at()).starts_with(']') {
            doc.spend(reader.at() - at);
            return None;
        }
    }
    CallRegion::new(reader.at(), calls)
}

/// Reads calls one below the other, each alone or printed.
pub(super) fn lines(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let mut reader = LiteralReader::new(doc.body(), at);
    let (mut end, mut calls) = (at, Vec::new());
    while let Some(call) = printed(&mut reader).filter(|_| doc.has_room(&calls)) {
        calls.push(call);
        end = reader.at();
        reader.space();
        reader.take(",");
        reader.space();
    }
    doc.spend(reader.at() - end);
    CallRegion::new(end, calls)
}

/// Reads a call, or `print` around one.
fn printed(reader: &mut LiteralReader<'_>) -> Option<ToolCall> {
    // Gemma 3 writes code that prints what a tool returns.
    let is_printed = reader.take("print(");
    let call = one(reader)?;
    reader.space();
    (!is_printed || reader.take(")")).then_some(call)
}

/// Reads `<|python_tag|>name.call(a=1)`.
pub(super) fn built_in(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let from = doc.skip_space(doc.after(at, "<|python_tag|>")?);
    let mut reader = LiteralReader::new(doc.body(), from);
    let found = one(&mut reader);
    doc.spend(reader.at() - from);
    let mut found = found?;
    if let Some(name) = found.name.strip_suffix(".call") {
        found.name = name.into();
    }
    CallRegion::new(reader.at(), [found].into())
}

fn one(reader: &mut LiteralReader<'_>) -> Option<ToolCall> {
    let name = reader.name()?;
    if !reader.take("(") {
        return None;
    }
    let arguments = reader.keyword_arguments()?;
    Some(call(name, arguments))
}

/// Returns the position behind a call that cannot be read: behind its closing parenthesis, strings
/// respected, where the list can go on.
fn skip_call(doc: &mut SourceText<'_>, at: usize) -> Option<usize> {
    let mut reader = LiteralReader::new(doc.body(), at);
    reader.name()?;
    if !reader.take("(") {
        return None;
    }
    let rest = doc.rest(reader.at());
    match closing(rest) {
        Some((offset, ')')) => {
            doc.spend(offset);
            Some(reader.at() + offset + 1)
        }
        // The quotes do not match, so nothing tells a parenthesis in a string from the call's own.
        // Only the list's end is certain.
        _ => {
            doc.spend(rest.len());
            let end = find(rest, ")]")?;
            Some(reader.at() + end + 1)
        }
    }
}

/// Returns where the bracket closes that was opened before `text`, and with which character.
/// Strings are respected.
pub(super) fn closing(text: &str) -> Option<(usize, char)> {
    let found = closing_bracket(text);
    steps::count(found.map_or(text.len(), |(at, _)| at));
    found
}

fn closing_bracket(text: &str) -> Option<(usize, char)> {
    let (mut depth, mut quote, mut escaped) = (1_u32, None, false);
    for (offset, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 {
            return Some((offset, c));
        }
    }
    None
}
