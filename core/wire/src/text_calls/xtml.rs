//! Kimi K3's channels: `<|open|>tools<|sep|>` with calls whose arguments are elements. Its thinking
//! and its answer are channels, too; `think` and the walk's table of frames know their tokens.

use super::{
    scan::SourceText,
    text_findings::CallRegion,
    typed_arguments::TypedCall,
    value_end::{ValueTags, ends},
};
use alloc::{string::String, vec::Vec};
use innerloop_types::message::ToolCall;

/// The token that opens the channel of calls.
pub(super) const TOOLS: &str = "<|open|>tools<|sep|>";

/// The texts around a call and its arguments.
const CALL: &str = "<|open|>call ";
const CALL_END: &str = "<|close|>call<|sep|>";
const ARGUMENT: &str = "<|open|>argument ";
const ARGUMENT_END: &str = "<|close|>argument<|sep|>";

/// Reads the calls of the channel that opens at `at`.
pub(super) fn calls(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let mut from = doc.skip_space(doc.after(at, TOOLS)?);
    let (mut end, mut calls) = (from, Vec::new());
    while let Some(inner) = doc.after(from, CALL).filter(|_| doc.has_room(&calls)) {
        let Some((behind, call)) = one(doc, inner) else { break };
        calls.push(call);
        end = behind;
        from = doc.skip_space(behind);
    }
    end = doc.after(from, "<|close|>tools<|sep|>").unwrap_or(end);
    CallRegion::new(end, calls)
}

/// Returns the call whose attributes begin at `from`, and where it ends.
fn one(doc: &mut SourceText<'_>, from: usize) -> Option<(usize, ToolCall)> {
    let (head, mut at) = attributes(doc, from)?;
    let name = attribute(head, "tool=\"")?;
    let mut found = TypedCall::new(&name, doc.schema(&name));
    loop {
        at = doc.skip_space(at);
        if let Some(end) = doc.after(at, CALL_END) {
            return Some((end, found.finish()));
        }
        let from = doc.after(at, ARGUMENT)?;
        let (head, value_from) = attributes(doc, from)?;
        let value_to = value_end(doc, value_from)?;
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
        at = value_to + ARGUMENT_END.len();
    }
}

/// Returns where the value that begins at `from` is closed, behind all arguments that it shows.
fn value_end(doc: &mut SourceText<'_>, from: usize) -> Option<usize> {
    let goes_on = |doc: &SourceText<'_>, at: usize| {
        doc.after_any(doc.skip_space(at), &[ARGUMENT, CALL_END]).is_some()
    };
    let is_open = |_: &SourceText<'_>, _: usize| true;
    let tags =
        ValueTags { opens: &[ARGUMENT], is_open: &is_open, close: ARGUMENT_END, goes_on: &goes_on };
    // Not the first closing tag as a second choice: a value that shows an argument would end at
    // that one's.
    ends(doc, from, &tags).own
}

/// Returns the attributes up to the token that ends them, and where that token ends.
fn attributes<'a>(doc: &mut SourceText<'a>, from: usize) -> Option<(&'a str, usize)> {
    let to = doc.find("<|sep|>", from)?;
    Some((doc.between(from, to), to + "<|sep|>".len()))
}

/// Returns the value of the attribute that opens with `open`, its escapes undone; `None` if it is
/// empty.
fn attribute(head: &str, open: &str) -> Option<String> {
    let (_, rest) = head.split_once(open)?;
    let (value, _) = rest.split_once('"')?;
    // In this order, since `&amp;quot;` stands for the text `&quot;`.
    let value = value.replace("&quot;", "\"").replace("&amp;", "&");
    (!value.is_empty()).then_some(value)
}
