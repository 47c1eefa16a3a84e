//! Kimi K3's channels: `<|open|>tools<|sep|>` with calls whose arguments are elements.

use super::{found::Region, scan::Doc, typed::Typed};
use crate::types::message::ToolCall;
use alloc::{string::String, vec::Vec};

/// What opens the channel of calls.
pub(super) const TOOLS: &str = "<|open|>tools<|sep|>";

/// The calls of the channel that opens at `at`.
pub(super) fn calls(doc: &mut Doc<'_>, at: usize) -> Option<Region> {
    let mut from = doc.skip_space(doc.after(at, TOOLS)?);
    let (mut end, mut calls) = (from, Vec::new());
    while let Some(inner) = doc.after(from, "<|open|>call ") {
        let Some((behind, call)) = one(doc, inner) else { break };
        calls.push(call);
        end = behind;
        from = doc.skip_space(behind);
    }
    end = doc.after(from, "<|close|>tools<|sep|>").unwrap_or(end);
    Region::new(end, calls)
}

/// The call whose attributes begin at `from`, and where it ends.
fn one(doc: &mut Doc<'_>, from: usize) -> Option<(usize, ToolCall)> {
    let (head, mut at) = attributes(doc, from)?;
    let name = attribute(head, "tool=\"")?;
    let mut found = Typed::new(&name, doc.schema(&name));
    loop {
        at = doc.skip_space(at);
        if let Some(end) = doc.after(at, "<|close|>call<|sep|>") {
            return Some((end, found.finish()));
        }
        let from = doc.after(at, "<|open|>argument ")?;
        let (head, value_from) = attributes(doc, from)?;
        let close = "<|close|>argument<|sep|>";
        let value_to = doc.find(close, value_from)?;
        let value = doc.between(value_from, value_to);
        if doc.is_spent() {
            return None;
        }
        let key = attribute(head, "key=\"")?;
        if attribute(head, "type=\"").as_deref() == Some("string") {
            found.push_text(&key, value);
        } else {
            found.push_value(&key, value);
        }
        at = value_to + close.len();
    }
}

/// The attributes up to the token that ends them, and where it ends.
fn attributes<'a>(doc: &mut Doc<'a>, from: usize) -> Option<(&'a str, usize)> {
    let to = doc.find("<|sep|>", from)?;
    Some((doc.between(from, to), to + "<|sep|>".len()))
}

/// The value of the attribute that opens so, its escapes undone; none if it is empty.
fn attribute(head: &str, open: &str) -> Option<String> {
    let (_, rest) = head.split_once(open)?;
    let (value, _) = rest.split_once('"')?;
    let value = value.replace("&quot;", "\"").replace("&amp;", "&");
    (!value.is_empty()).then_some(value)
}
