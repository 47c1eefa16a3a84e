//! Calls whose arguments are elements: Qwen3-Coder's `<function=…><parameter=…>`, the `<invoke>`
//! of DeepSeek's DSML and others, and GLM's `<arg_key>` and `<arg_value>`.

use super::{
    found::{Region, call},
    scan::Doc,
    typed::Typed,
};
use crate::types::message::ToolCall;
use alloc::vec::Vec;

/// `<tool_call><function=name><parameter=key>value</parameter></function></tool_call>`, also
/// without the outer tags and with closing tags missing.
pub(super) fn qwen(doc: &mut Doc<'_>, at: usize) -> Option<Region> {
    let outer = doc.after(at, "<tool_call>");
    let mut from = doc.skip_space(outer.unwrap_or(at));
    let mut calls = Vec::new();
    let mut end = from;
    while let Some(next) = doc.after_any(from, &["<function=", "<function name="]) {
        let Some((behind, call)) = qwen_function(doc, next) else { break };
        calls.push(call);
        end = behind;
        from = doc.skip_space(behind);
    }
    // Models leave the opening tag out and write the closing one.
    end = doc.after(doc.skip_space(end), "</tool_call>").unwrap_or(end);
    Region::new(end, calls)
}

fn qwen_function(doc: &mut Doc<'_>, from: usize) -> Option<(usize, ToolCall)> {
    let (name, mut at) = head(doc, from)?;
    let mut found = Typed::new(name, doc.schema(name));
    let mut is_begun = false;
    loop {
        at = doc.skip_space(at);
        if let Some(end) = doc.after(at, "</function>") {
            return Some((end, found.finish()));
        }
        let is_end = doc.after_any(at, &["</tool_call>", "<tool_call>", "<function="]).is_some();
        if is_end || (is_begun && doc.rest(at).is_empty()) {
            return Some((at, found.finish()));
        }
        let from = doc.after_any(at, &["<parameter=", "<parameter name="])?;
        let (key, value_from) = head(doc, from)?;
        let (value_to, end) = qwen_value(doc, value_from)?;
        let value = doc.between(value_from, value_to);
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        found.push(key, value);
        is_begun = true;
        at = end;
    }
}

/// What stands up to the next `>` on the same line, without quotes, and where it ends.
pub(super) fn head<'a>(doc: &Doc<'a>, from: usize) -> Option<(&'a str, usize)> {
    let name_end = doc.near(from, &['>', '\n', '<'])?;
    let end = doc.after(name_end, ">")?;
    let name = doc.between(from, name_end).trim().trim_matches(['"', '\'']).trim();
    (!name.is_empty()).then_some((name, end))
}

/// Where a parameter's value ends, and where its closing tag ends. The next parameter or the
/// function's end closes it too.
fn qwen_value(doc: &mut Doc<'_>, from: usize) -> Option<(usize, usize)> {
    let close = doc.find("</parameter>", from);
    let others = ["<parameter=", "<parameter name=", "<function=", "<tool_call>"];
    let next = others.into_iter().filter_map(|tag| doc.find(tag, from)).min();
    if let Some(close) = close
        && next.is_none_or(|next| close < next)
    {
        return Some((close, close + "</parameter>".len()));
    }
    let ends = ["</function>", "</tool_call>"].into_iter().filter_map(|tag| doc.find(tag, from));
    let end = ends.chain(next).min()?;
    Some((end, end))
}

/// The words before `invoke` and `parameter` in the dialects that use them; where one begins
/// like another, the longer comes first.
const PREFIXES: [&str; 7] =
    ["｜DSML｜ ", "｜DSML｜", "|DSML| ", "|DSML|", "minimax:", "steptml:", ""];

/// Elements that hold `<invoke>`s.
const BLOCKS: [&str; 4] = ["function_calls>", "tool_calls>", "tool_call>", "calls>"];

/// `<invoke name="…">` with its parameters, or several in a block, with or without a dialect's
/// prefix.
pub(super) fn invokes(doc: &mut Doc<'_>, at: usize) -> Option<Region> {
    let from = doc.after_any(doc.after(at, "<")?, &PREFIXES)?;
    let block = doc.after_any(from, &BLOCKS);
    let mut next = block.map_or(at, |inner| doc.skip_space(inner));
    let (mut end, mut calls) = (at, Vec::new());
    while let Some((behind, call)) = invoke(doc, next) {
        calls.push(call);
        end = behind;
        next = doc.skip_space(behind);
    }
    // The block's closing tag often comes without the opening one.
    end = BLOCKS.iter().find_map(|name| closing(doc, next, name)).unwrap_or(end);
    Region::new(end, calls)
}

/// The call of the `<invoke>` that opens at `at`, and where it ends.
pub(super) fn invoke(doc: &mut Doc<'_>, at: usize) -> Option<(usize, ToolCall)> {
    let from = doc.after_any(doc.after(at, "<")?, &PREFIXES)?;
    let from = doc.after(from, "invoke name=")?;
    let (name, _, inner) = attributes(doc, from)?;
    let mut at = doc.skip_space(inner);
    if doc.rest(at).starts_with('{') {
        let (end, json) = doc.json(at)?;
        let end = closing(doc, doc.skip_space(end), "invoke>")?;
        return Some((end, call(name, json)));
    }
    let mut found = Typed::new(name, doc.schema(name));
    loop {
        at = doc.skip_space(at);
        if let Some(end) = closing(doc, at, "invoke>") {
            return Some((end, found.finish()));
        }
        let from = doc.after_any(doc.after(at, "<")?, &PREFIXES)?;
        let from = doc.after(from, "parameter name=")?;
        let (key, is_text, value_from) = attributes(doc, from)?;
        let (value_to, end) = parameter_end(doc, value_from)?;
        let value = doc.between(value_from, value_to);
        if doc.is_spent() {
            return None;
        }
        if is_text == Some(false) {
            found.push_value(key, value);
        } else {
            found.push(key, value);
        }
        at = end;
    }
}

/// Behind a closing tag of that name, with any prefix.
fn closing(doc: &Doc<'_>, at: usize, name: &str) -> Option<usize> {
    let from = doc.after(at, "</")?;
    PREFIXES.iter().find_map(|prefix| doc.after(doc.after(from, prefix)?, name))
}

/// Where a parameter's value ends, and where its closing tag ends.
fn parameter_end(doc: &mut Doc<'_>, from: usize) -> Option<(usize, usize)> {
    let mut search = from;
    loop {
        let at = doc.find("parameter>", search)?;
        let end = at + "parameter>".len();
        let before = doc.between(from, at);
        let open = PREFIXES
            .iter()
            .find_map(|prefix| before.strip_suffix(prefix)?.strip_suffix("</").map(str::len));
        if let Some(length) = open {
            return Some((from + length, end));
        }
        search = end;
    }
}

/// `"name" string="true">`: the name, whether the value is said to be text, and where the tag
/// ends.
fn attributes<'a>(doc: &Doc<'a>, from: usize) -> Option<(&'a str, Option<bool>, usize)> {
    let tag_end = doc.near(from, &['>', '\n'])?;
    let end = doc.after(tag_end, ">")?;
    let tag = doc.between(from, tag_end);
    let quote = tag.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (name, others) = match quote {
        Some(quote) => tag.get(1..)?.split_once(quote)?,
        None => tag.split_once(' ').unwrap_or((tag, "")),
    };
    let is_text = match others.trim() {
        "string=\"true\"" => Some(true),
        "string=\"false\"" => Some(false),
        _ => None,
    };
    (!name.is_empty()).then_some((name, is_text, end))
}

/// `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`, or several in
/// `<tool_calls>`. Hunyuan writes a token behind the name and a suffix in each tag.
pub(super) fn glm(doc: &mut Doc<'_>, at: usize) -> Option<Region> {
    let block = tag(doc, at, "<tool_calls");
    let mut next = block.map_or(at, |inner| doc.skip_space(inner));
    let (mut end, mut calls) = (at, Vec::new());
    while let Some((behind, call)) = glm_call(doc, next) {
        calls.push(call);
        end = behind;
        if block.is_none() {
            break;
        }
        next = doc.skip_space(behind);
    }
    let closed = block.and_then(|_| tag(doc, next, "</tool_calls"));
    Region::new(closed.unwrap_or(end), calls)
}

/// Behind a tag that begins so, with or without a suffix.
fn tag(doc: &Doc<'_>, at: usize, start: &str) -> Option<usize> {
    let end = doc.after(at, start)?;
    let end = doc.after(end, ":").and_then(|from| doc.near(from, &['>', '<', ' '])).unwrap_or(end);
    doc.after(end, ">")
}

fn glm_call(doc: &mut Doc<'_>, at: usize) -> Option<(usize, ToolCall)> {
    let from = doc.skip_space(tag(doc, at, "<tool_call")?);
    let name_end = doc.near(from, &['<', '\n', '{', '['])?;
    let name = doc.between(from, name_end).trim();
    let name = name.strip_suffix("\\n").unwrap_or(name);
    if name.is_empty() || name.contains(['(', '"', '}', ']']) {
        return None;
    }
    let mut found = Typed::new(name, doc.schema(name));
    let mut at = tag(doc, name_end, "<tool_sep").unwrap_or(name_end);
    loop {
        at = skip_breaks(doc, at);
        if let Some(end) = tag(doc, at, "</tool_call") {
            return Some((end, found.finish()));
        }
        let key_from = tag(doc, at, "<arg_key")?;
        let key_to = doc.find("</arg_key", key_from)?;
        let key = doc.between(key_from, key_to).trim();
        let (value, end) = glm_value(doc, tag(doc, key_to, "</arg_key")?)?;
        if key.contains("<arg_value") || doc.is_spent() {
            return None;
        }
        found.push(key, value);
        at = end;
    }
}

/// The value behind a key, one of whose tags may be missing, and where it ends.
fn glm_value<'a>(doc: &mut Doc<'a>, from: usize) -> Option<(&'a str, usize)> {
    let open = tag(doc, skip_breaks(doc, from), "<arg_value");
    let value_from = open.unwrap_or(from);
    let close = doc.find("</arg_value", value_from);
    let others = ["<arg_key", "</tool_call"];
    let next = others.into_iter().filter_map(|tag| doc.find(tag, value_from)).min();
    let (to, end) = match (close, next) {
        (Some(close), next) if next.is_none_or(|next| close < next) => {
            (close, tag(doc, close, "</arg_value")?)
        }
        (_, Some(next)) if open.is_some() => (next, next),
        _ => return None,
    };
    let value = doc.between(value_from, to);
    Some((if open.is_some() { value } else { value.trim() }, end))
}

/// Behind white space and line breaks that are written out as `\n`.
fn skip_breaks(doc: &Doc<'_>, at: usize) -> usize {
    let mut at = doc.skip_space(at);
    while let Some(behind) = doc.after(at, "\\n") {
        doc.read(2);
        at = doc.skip_space(behind);
    }
    at
}
