//! Calls between special tokens: Mistral's `[TOOL_CALLS]`, DeepSeek's `<｜tool▁calls▁begin｜>` and
//! Kimi's `<|tool_calls_section_begin|>`. Each reader begins at such a token and returns the
//! stretch of calls behind it, or `None`, and the walk tries other formats.

use super::{
    super::lenient::JsonDocument,
    objects::{self, CallCertainty},
    scan::{BracketBalance, SourceText, balanced},
    text_findings::{CallRegion, call},
    xml,
};
use alloc::{string::String, vec::Vec};
use innerloop_types::message::ToolCall;

/// The token before Mistral's calls.
pub(super) const MISTRAL: &str = "[TOOL_CALLS]";

/// Reads `[TOOL_CALLS][{…}]`, `[TOOL_CALLS]name{…}` and `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`.
pub(super) fn mistral(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let mut from = doc.skip_space(doc.after(at, MISTRAL)?);
    // Some models repeat the token.
    while let Some(next) = doc.after(from, MISTRAL) {
        doc.spend(next - from);
        if doc.is_spent() {
            return None;
        }
        from = doc.skip_space(next);
    }
    if let Some(region) = mistral_list(doc, from) {
        return Some(region);
    }
    let name_end = doc.near(from, &['{', '[', '\n'])?;
    let name = doc.between(from, name_end).trim();
    let is_list = doc.rest(name_end).starts_with("[{");
    if name.is_empty() || name.contains(char::is_whitespace) || is_list {
        // Some models write a few words between the token and its list.
        let list = doc.find("[{", from)?;
        let next = doc.find(MISTRAL, from).unwrap_or(doc.body().len());
        return if list < next { mistral_list(doc, list) } else { None };
    }
    let mut at = doc.skip_space(name_end);
    let mut id = "";
    if let Some(begin) = doc.after(at, "[CALL_ID]") {
        at = doc.near(begin, &['[', '{'])?;
        id = doc.between(begin, at).trim();
    }
    let marked = doc.after(at, "[ARGS]");
    at = doc.skip_space(marked.unwrap_or(at));
    let named = |arguments: &str| {
        let id = String::from(id);
        [ToolCall { id, ..call(name, objects::arguments(arguments)) }].into()
    };
    if let Some((end, json)) = doc.json(at) {
        return CallRegion::new(end, named(json));
    }
    // Invalid arguments extend to the next call. They are kept, so that the model is told of its
    // error.
    let next = doc.find(MISTRAL, at).unwrap_or(doc.body().len());
    let raw = doc.between(at, next).trim();
    // A call without arguments counts only if another one follows: at the end of the text they may
    // have been cut.
    if raw.is_empty() && marked.is_some() && next < doc.body().len() {
        return CallRegion::new(next, named(""));
    }
    // Arguments that are not closed were cut, so this is not a call.
    let is_closed = !matches!(balanced(raw), BracketBalance::Open);
    doc.spend(raw.len());
    if raw.starts_with('{') && is_closed { CallRegion::new(next, named(raw)) } else { None }
}

fn mistral_list(doc: &mut SourceText<'_>, from: usize) -> Option<CallRegion> {
    let (mut end, json) = doc.json(from)?;
    let calls = objects::calls(json, CallCertainty::Marked, doc);
    if let Some(closed) = doc.after(doc.skip_space(end), "[/TOOL_CALLS]") {
        end = closed;
    }
    CallRegion::new(end, calls)
}

/// DeepSeek's tokens, with whichever bars and blanks they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeepseekToken {
    CallsBegin,
    CallsEnd,
    CallBegin,
    CallEnd,
    Separator,
    /// Tokens around a tool's output, which models repeat. Only the tokens are dropped, not the
    /// text.
    Output,
}

/// Returns DeepSeek's token at `at` and where it ends.
pub(super) fn deepseek_token(doc: &SourceText<'_>, at: usize) -> Option<(DeepseekToken, usize)> {
    // Only the letters count: models write the bars full-width or plain, and between the words `▁`,
    // `_`, a blank, or `\_` where they escape Markdown.
    let from = doc.after_any(at, &["<｜", "<|"])?;
    let rest = doc.rest(from);
    let mut word = String::new();
    for (offset, c) in rest.char_indices() {
        doc.read(1);
        match c {
            '｜' | '|' => {
                let end = doc.after(from + offset + c.len_utf8(), ">")?;
                return Some((named(&word)?, end));
            }
            'a'..='z' => word.push(c),
            '▁' | '_' | ' ' | '\\' => {}
            _ => return None,
        }
        // No token has more than 16 letters, so this is some other text between bars.
        if word.len() > 20 {
            return None;
        }
    }
    None
}

fn named(word: &str) -> Option<DeepseekToken> {
    match word {
        "toolcallsbegin" | "toolcalls" => Some(DeepseekToken::CallsBegin),
        "toolcallsend" => Some(DeepseekToken::CallsEnd),
        "toolcallbegin" => Some(DeepseekToken::CallBegin),
        "toolcallend" => Some(DeepseekToken::CallEnd),
        "toolsep" => Some(DeepseekToken::Separator),
        "tooloutputsbegin" | "tooloutputbegin" | "tooloutputend" | "tooloutputsend" => {
            Some(DeepseekToken::Output)
        }
        _ => None,
    }
}

/// Reads DeepSeek's calls. V3 and R1 write `function`, a separator and the name, and the arguments
/// in a fence; V3.1 writes the name, a separator and the arguments.
pub(super) fn deepseek(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let (mut end, mut calls) = (at, Vec::new());
    let mut from = match deepseek_token(doc, at)? {
        (DeepseekToken::CallsBegin, inner) => inner,
        (DeepseekToken::CallBegin, _) => at,
        _ => return None,
    };
    while doc.has_room(&calls) {
        from = doc.skip_space(from);
        match deepseek_token(doc, from) {
            Some((DeepseekToken::CallBegin, inner)) => {
                let Some((behind, call)) = deepseek_call(doc, inner) else { break };
                calls.push(call);
                (end, from) = (behind, behind);
            }
            Some((DeepseekToken::CallsEnd, behind)) => {
                end = behind;
                break;
            }
            // Step 3 also writes the separator between calls.
            Some((DeepseekToken::Separator, behind)) if end > at => from = behind,
            // R1's distillations leave out the token before a call.
            None if doc.rest(from).starts_with("function<") => {
                let Some((behind, call)) = deepseek_call(doc, from) else { break };
                // Without the token behind it either, it is text.
                if call_end(doc, behind) == behind && !ends_call(doc, from, behind) {
                    break;
                }
                calls.push(call);
                (end, from) = (behind, behind);
            }
            _ => break,
        }
    }
    CallRegion::new(end, calls)
}

fn deepseek_call(doc: &mut SourceText<'_>, from: usize) -> Option<(usize, ToolCall)> {
    let head_end = doc.near(from, &['<'])?;
    let head = doc.between(from, head_end).trim();
    let inner = match deepseek_token(doc, head_end) {
        Some((DeepseekToken::Separator, inner)) => inner,
        None if head.is_empty() => head_end,
        _ => return None,
    };
    let mut at = doc.skip_space(inner);
    if let Some((end, call)) = xml::invoke(doc, at) {
        return Some((call_end(doc, end), call));
    }
    // V3.1 has the name before the separator; where V3 has `function`, the name comes below it.
    let mut name = head;
    if !doc.rest(at).starts_with('{') {
        let name_end = doc.near(at, &['\n', '`', '{', '<'])?;
        name = doc.between(at, name_end).trim();
        at = doc.skip_space(name_end);
    }
    if name.is_empty() {
        return None;
    }
    if let Some(fence) = doc.after(at, "```") {
        at = doc.skip_space(doc.near(fence, &['\n', '{'])?);
    }
    if let Some((end, json)) = doc.json(at) {
        let mut behind = doc.skip_space(end);
        behind = doc.after(behind, "```").map_or(behind, |next| doc.skip_space(next));
        let end = match deepseek_token(doc, behind) {
            Some((DeepseekToken::CallEnd, end)) => end,
            Some((DeepseekToken::CallsEnd | DeepseekToken::CallBegin, _)) => behind,
            _ => end,
        };
        return Some((end, call(name, json)));
    }
    // Arguments that are closed but are not valid JSON are kept, so that the model is told of its
    // error.
    let (to, end) = deepseek_call_end(doc, at)?;
    let mut raw = doc.between(at, to).trim();
    while let Some(rest) = raw.strip_suffix("```") {
        raw = rest;
    }
    let raw = raw.trim();
    doc.spend(raw.len());
    let is_open = raw.starts_with('{') && balanced(raw) == BracketBalance::Open;
    (!is_open).then(|| (end, call(name, objects::arguments(raw))))
}

/// Returns whether the text between these positions ends with the token that ends a call.
fn ends_call(doc: &SourceText<'_>, from: usize, to: usize) -> bool {
    let text = doc.between(from, to).trim_end();
    ["end｜>", "end|>"].iter().any(|end| text.ends_with(end))
}

/// Returns the position behind the token that ends a call, or `at` if there is none.
fn call_end(doc: &SourceText<'_>, at: usize) -> usize {
    match deepseek_token(doc, doc.skip_space(at)) {
        Some((DeepseekToken::CallEnd, end)) => end,
        _ => at,
    }
}

fn deepseek_call_end(doc: &mut SourceText<'_>, from: usize) -> Option<(usize, usize)> {
    let mut first: Option<(usize, usize)> = None;
    for end in ["<｜tool▁call▁end｜>", "<|tool▁call▁end|>"] {
        if let Some(at) = doc.find(end, from)
            && first.is_none_or(|(earlier, _)| at < earlier)
        {
            first = Some((at, at + end.len()));
        }
    }
    first
}

const SECTION_BEGIN: [&str; 2] = ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"];
const SECTION_END: [&str; 2] = ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];

/// Reads Kimi's calls, in their section or without one.
pub(super) fn kimi(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let section = doc.after_any(at, &SECTION_BEGIN);
    let mut from = section.unwrap_or(at);
    // An empty section calls nothing and is left out of the text; calls that name no tool were
    // meant, and stay in it.
    let (mut end, mut calls, mut is_meant) = (at, Vec::new(), section.is_none());
    while doc.has_room(&calls) {
        from = doc.skip_space(from);
        if let Some(behind) = doc.after_any(from, &SECTION_END) {
            return Some(CallRegion { end: behind, calls, is_meant });
        }
        let inner = doc.after(from, "<|tool_call_begin|>").or_else(|| behind_noise(doc, at, from));
        let Some(inner) = inner else { break };
        let Some((behind, call)) = kimi_call(doc, inner) else { break };
        calls.extend(call);
        is_meant = true;
        (end, from) = (behind, behind);
    }
    (end > at).then_some(CallRegion { end, calls, is_meant })
}

/// Returns the position behind the token of the section's first call, if meaningless text stands
/// before it.
fn behind_noise(doc: &mut SourceText<'_>, section: usize, from: usize) -> Option<usize> {
    let begin = doc.after_any(section, &SECTION_BEGIN)?;
    if doc.skip_space(begin) != from {
        return None;
    }
    let next = doc.near(from, &['<'])?;
    doc.after(next, "<|tool_call_begin|>")
}

/// Returns a call and where it ends; no call if its id names no tool.
fn kimi_call(doc: &mut SourceText<'_>, from: usize) -> Option<(usize, Option<ToolCall>)> {
    const ARGUMENTS: &str = "<|tool_call_argument_begin|>";
    let id_end = doc.near(from, &['<'])?;
    let id = doc.between(from, id_end).trim();
    let at = doc.skip_space(doc.after(id_end, ARGUMENTS)?);
    // The brackets come before the token: a string in the arguments may mention the token.
    let found = balanced(doc.rest(at));
    doc.spend(found.seen(doc.rest(at)));
    let (to, end) = match found {
        BracketBalance::End(length) => {
            let to = at + length;
            (to, doc.after(doc.skip_space(to), "<|tool_call_end|>").unwrap_or(to))
        }
        BracketBalance::Open | BracketBalance::Broken(_) => {
            let to = doc.find("<|tool_call_end|>", at)?;
            (to, to + "<|tool_call_end|>".len())
        }
    };
    let arguments = objects::arguments(doc.between(at, to));
    let name = kimi_name(doc, id, &arguments);
    let call = name.map(|name| ToolCall { id: id.into(), ..call(&name, arguments) });
    Some((end, call))
}

/// Returns the name of the tool in an id such as `functions.name:0`. A bare number stands for the
/// only tool, or for the only one that has all the arguments.
fn kimi_name(doc: &mut SourceText<'_>, id: &str, arguments: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some((name, number)) = id.rsplit_once(':')
        && is_number(number)
    {
        let name = name.strip_prefix("functions.").unwrap_or(name);
        return (!name.is_empty()).then(|| name.into());
    }
    if !is_number(id) {
        return None;
    }
    if let [only] = doc.tools() {
        return Some(only.name.clone());
    }
    let given = JsonDocument::of(arguments);
    let given = given.root().some().filter(|given| given.is_object())?;
    let tools = doc.tools().iter();
    let mut fitting = tools.filter(|tool| {
        let schema = doc.schema(&tool.name);
        let knows = |name: &str| {
            doc.read(1);
            !doc.is_spent() && schema.knows(name)
        };
        schema.has_properties() && given.names().all(|name| knows(&name))
    });
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Some(one.name.clone()),
        _ => None,
    }
}
