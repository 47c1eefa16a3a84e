//! JSON between tags (Hermes and Qwen, Granite, Nemotron, Phi, Command R and their like), and JSON
//! in a fence of Markdown or bare in the text. `objects` finds the calls in it; the less the
//! surroundings say that a call is meant, the more its shape and name must say so.

use super::{
    literal::{self, LiteralReader},
    objects::{self, CallCertainty},
    pythonic,
    scan::{BracketBalance, SourceText, balanced},
    text_findings::CallRegion,
};
use alloc::{string::String, vec::Vec};
use innerloop_types::{message::ToolCall, text::listed};

/// Opening and closing tags around JSON that is meant as calls.
pub(super) const TAGS: [(&str, &str); 18] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<function_call>", "</function_call>"),
    ("<function_calls>", "</function_calls>"),
    ("<functioncall>", "</functioncall>"),
    ("<longcat_tool_call>", "</longcat_tool_call>"),
    ("<TOOLCALL>", "</TOOLCALL>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    ("<|START_ACTION|>", "<|END_ACTION|>"),
    ("<|python_start|>", "<|python_end|>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("<|action_start|><|plugin|>", "<|action_end|>"),
    ("<|action_start|> <|plugin|>", "<|action_end|>"),
    KEYED,
    INKLING,
    ("<tools>", "</tools>"),
    ("<tool>", "</tool>"),
];

/// Apertus' tokens, around objects whose keys are the tools' names.
const KEYED: (&str, &str) = ("<|tools_prefix|>", "<|tools_suffix|>");

/// Inkling's token before a call, and the one behind each of its messages.
pub(super) const INKLING: (&str, &str) = ("<|content_invoke_tool_json|>", "<|end_message|>");

/// Tags that hold calls or anything else, so that a call in them must look like one.
pub(super) const PLAIN_TAGS: [(&str, &str); 4] = [
    ("<response>", "</response>"),
    ("<json>", "</json>"),
    ("<JSON>", "</JSON>"),
    ("<xml>", "</xml>"),
];

/// The languages of fences that may hold a call, and not an example of something else.
// The first one is empty, for fences without a language.
const LANGUAGES: &str = "|json|jsonc|json5|xml|tool_call|tool_calls|tool|function_call|tool_code";

/// The language of fences in which Gemma 3 calls tools as Python does.
pub(super) const CODE: &str = "tool_code";

/// Returns whether a fence of that language may hold a call.
pub(super) fn is_language(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    listed(LANGUAGES).any(|known| known == name)
}

/// Reads `<tool_call>{…}</tool_call>`; the closing tag may be missing.
pub(super) fn tagged(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let is_keyed = doc.after(at, KEYED.0).is_some();
    let sure = if is_keyed { CallCertainty::Keyed } else { CallCertainty::Marked };
    let marked = pair(doc, at, &TAGS).map(|found| (found, sure));
    let ((inner, close), sure) =
        marked.or_else(|| pair(doc, at, &PLAIN_TAGS).map(|found| (found, CallCertainty::Bare)))?;
    let mut from = doc.skip_space(inner);
    // Some models put the JSON in a fence within the tags.
    let is_fenced = doc.after(from, "```").is_some();
    if is_fenced {
        let info = doc.find("\n", from)?;
        from = doc.skip_space(info);
    }
    let Some((mut end, calls)) = values(doc, from, sure) else {
        return quoted_like_python(doc, from, close);
    };
    if is_fenced {
        end = doc.after(doc.skip_space(end), "```").unwrap_or(end);
    }
    // Small models close a brace too many. The surplus belongs to the call, or it would show as
    // text.
    let mut behind = doc.skip_space(end);
    while let Some(next) = doc.after_any(behind, &["}", "]"]) {
        behind = doc.skip_space(next);
    }
    if let Some(closed) = doc.after(behind, close) {
        end = closed;
    } else if doc.rest(behind).is_empty() {
        end = behind;
    }
    CallRegion::new(end, calls)
}

fn pair(
    doc: &SourceText<'_>,
    at: usize,
    tags: &[(&str, &'static str)],
) -> Option<(usize, &'static str)> {
    tags.iter().find_map(|(open, close)| Some((doc.after(at, open)?, *close)))
}

/// Reads one JSON value after the other, with nothing but commas and semicolons between them, as
/// long as each holds a call or several.
fn values(
    doc: &mut SourceText<'_>,
    at: usize,
    sure: CallCertainty,
) -> Option<(usize, Vec<ToolCall>)> {
    let (mut end, mut calls) = (at, Vec::new());
    let mut from = at;
    while doc.rest(from).starts_with(['{', '[']) && doc.has_room(&calls) {
        let Some((behind, json)) = doc.json(from) else { break };
        let found = objects::calls(json, sure, doc);
        if found.is_empty() {
            break;
        }
        calls.extend(found);
        end = behind;
        from = doc.skip_space(behind);
        if let Some(next) = doc.after_any(from, &[",", ";", "<|python_tag|>"]) {
            from = doc.skip_space(next);
        }
    }
    if calls.is_empty() { None } else { Some((end, calls)) }
}

/// Reads an object that is not valid JSON but valid Python: single quotes, `True`, line breaks in
/// strings. The closing tag must be there.
fn quoted_like_python(
    doc: &mut SourceText<'_>,
    from: usize,
    close: &'static str,
) -> Option<CallRegion> {
    if !doc.rest(from).starts_with(['{', '[']) {
        return None;
    }
    // Python's quotes do not say as reliably as JSON's where a value ends; the tag does.
    let to = doc.find(close, from)?;
    let inner = doc.between(from, to).trim_end();
    let Some(json) = literal::to_json(inner) else {
        doc.spend(inner.len());
        return None;
    };
    CallRegion::new(to + close.len(), objects::calls(&json, CallCertainty::Marked, doc))
}

/// Reads `<function=name>{…}</function>` and `<function name="name">{…}</function>`.
pub(super) fn function_json(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let from = doc.after_any(at, &["<function=", "<function name="])?;
    let name_end = doc.near(from, &['>', '\n', '<'])?;
    let open_end = doc.after(name_end, ">")?;
    let name = doc.between(from, name_end).trim().trim_matches(['"', '\'']);
    if name.is_empty() {
        return None;
    }
    let (end, json) = doc.json(doc.skip_space(open_end))?;
    let behind = doc.skip_space(end);
    let end = match doc.after(behind, "</function>") {
        Some(closed) => closed,
        // Without its closing tag it counts only where nothing else could belong to it.
        None if doc.rest(behind).is_empty() || doc.rest(behind).starts_with("<function=") => end,
        None => return None,
    };
    CallRegion::new(end, [super::text_findings::call(name, json)].into())
}

/// Reads a call as bare JSON. If there are tools it must call one of them, since nothing but its
/// shape says that it is a call.
pub(super) fn bare(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let (end, json) = object(doc, at)?;
    let calls = objects::calls(&json, CallCertainty::Bare, doc);
    let is_foreign = |call: &ToolCall| doc.has_tools() && !doc.knows(&call.name);
    if calls.iter().any(is_foreign) {
        return None;
    }
    // A comma or semicolon between two calls belongs to neither, and would show as text.
    let behind = doc.skip_space(end);
    let end = match doc.after_any(behind, &[";", ","]) {
        Some(next) if doc.rest(doc.skip_space(next)).starts_with(['{', '[']) => next,
        _ => end,
    };
    CallRegion::new(end, calls)
}

/// Returns whether an object whose first key is in single quotes begins here, bare or in a list.
pub(super) fn is_python(rest: &str) -> bool {
    let inner = rest.strip_prefix('[').unwrap_or(rest).trim_start();
    inner.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with('\''))
}

/// Returns whether an object or a list of Python calls begins at `at` that the text's end cuts.
pub(super) fn is_open(doc: &SourceText<'_>, at: usize) -> bool {
    let rest = doc.rest(at);
    let Some(inner) = rest.get(1..).filter(|_| !doc.is_spent()) else { return false };
    let (is_object, list) = (rest.starts_with('{'), inner.trim_start());
    doc.read(inner.len() - list.len());
    if is_object && is_python(rest) || !is_object && pythonic::begins_call(list) {
        let end = pythonic::closing(inner).map(|(end, _)| end);
        doc.spend(end.unwrap_or(inner.len()));
        return end.is_none();
    }
    if !is_object {
        return false;
    }
    let found = balanced(rest);
    doc.spend(found.seen(rest));
    found == BracketBalance::Open
}

/// Returns the object or list at `at`, in JSON or as Python writes it, and where it ends.
pub(super) fn object(doc: &mut SourceText<'_>, at: usize) -> Option<(usize, String)> {
    if let Some((end, json)) = doc.json(at) {
        return Some((end, json.into()));
    }
    if !is_python(doc.rest(at)) || doc.is_spent() {
        return None;
    }
    let mut reader = LiteralReader::new(doc.body(), at);
    let json = reader.json();
    doc.spend(reader.at() - at);
    Some((reader.at(), json?))
}

/// The opening of a Markdown fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeFence<'a> {
    /// The language behind the opening backticks.
    pub(super) language: &'a str,
    /// The beginning of its content.
    pub(super) inner: usize,
}

/// Returns the fence that opens at `at`.
pub(super) fn fence_at<'a>(doc: &SourceText<'a>, at: usize) -> Option<CodeFence<'a>> {
    let info = doc.after(at, "```")?;
    // The JSON may begin on the line of the opening fence.
    let end = doc.near(info, &['\n', '{', '[', '<', '`']).unwrap_or(doc.body().len());
    Some(CodeFence { language: doc.between(info, end).trim(), inner: end })
}

/// Reads a fence that holds nothing but calls.
pub(super) fn fenced(doc: &mut SourceText<'_>, fence: CodeFence<'_>) -> Option<CallRegion> {
    let from = doc.skip_space(fence.inner);
    let inside = values(doc, from, CallCertainty::Bare);
    let (end, calls) = match inside {
        Some(found) => found,
        None if fence.language == CODE => {
            let region = pythonic::lines(doc, from)?;
            (region.end, region.calls)
        }
        None => {
            let region = tagged(doc, from).or_else(|| function_json(doc, from))?;
            (region.end, region.calls)
        }
    };
    let is_foreign = |call: &ToolCall| doc.has_tools() && !doc.knows(&call.name);
    if calls.iter().all(is_foreign) {
        return None;
    }
    let behind = doc.skip_space(end);
    if doc.rest(behind).is_empty() {
        return CallRegion::new(behind, calls);
    }
    CallRegion::new(doc.after(behind, "```")?, calls)
}

/// Returns the position behind the closing fence: the next one that begins a line, or else the next
/// one.
pub(super) fn fence_end(doc: &mut SourceText<'_>, fence: CodeFence<'_>) -> Option<usize> {
    let line = doc.find("\n```", fence.inner).map(|at| at + 4);
    line.or_else(|| doc.find("```", fence.inner).map(|at| at + 3))
}
