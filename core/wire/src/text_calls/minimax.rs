//! MiniMax M3's calls: elements named after the arguments, with a token of its own before each tag.
//! They nest as deep as the arguments do, and the schema says which of them are lists and objects.

use super::{
    super::writer::JsonWriter,
    scan::SourceText,
    schema::{ArgumentSchema, SchemaType},
    text_findings::CallRegion,
    typed_arguments::{TypedCall, typed},
    xml,
};
use alloc::vec::Vec;
use innerloop_types::message::ToolCall;

/// The text that stands before each tag.
pub(super) const SPACE: &str = "]<]minimax[>[";

/// The maximum nesting depth of elements.
const DEPTH: u32 = 16;

/// Reads the calls that begin at `at`, in their block or without one.
pub(super) fn calls(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let mut from = tag(doc, at, "<tool_call>").unwrap_or(at);
    let (mut end, mut calls) = (at, Vec::new());
    while let Some((behind, call)) = invoke(doc, from).filter(|_| doc.has_room(&calls)) {
        calls.push(call);
        (end, from) = (behind, behind);
    }
    CallRegion::new(tag(doc, from, "</tool_call>").unwrap_or(end), calls)
}

/// Returns the position behind a tag that begins with `start`, the token before it included.
fn tag(doc: &SourceText<'_>, at: usize, start: &str) -> Option<usize> {
    let from = doc.after(doc.skip_space(at), SPACE)?;
    doc.after(doc.skip_space(from), start)
}

fn invoke(doc: &mut SourceText<'_>, at: usize) -> Option<(usize, ToolCall)> {
    let (name, mut at) = xml::head(doc, tag(doc, at, "<invoke name=")?)?;
    let mut found = TypedCall::new(name, doc.schema(name));
    loop {
        if let Some(end) = tag(doc, at, "</invoke>") {
            return Some((end, found.finish()));
        }
        let (name, tag, inner) = open(doc, at)?;
        let mut out = JsonWriter::new();
        at = element(doc, inner, (tag, found.schema().property(name)), &mut out, DEPTH)?;
        found.push_json(name, &out.0);
    }
}

/// Returns the name of the element that opens at `at`, its tag's name, and where the tag ends.
fn open<'a>(doc: &SourceText<'a>, at: usize) -> Option<(&'a str, &'a str, usize)> {
    let from = tag(doc, at, "<")?;
    let attribute = doc.after(from, "parameter name=");
    let (name, end) = xml::head(doc, attribute.unwrap_or(from))?;
    Some((name, if attribute.is_some() { "parameter" } else { name }, end))
}

/// Writes the element whose content begins at `from`; returns where it ends.
fn element(
    doc: &mut SourceText<'_>,
    from: usize,
    (tag_name, schema): (&str, Option<&ArgumentSchema>),
    out: &mut JsonWriter,
    depth: u32,
) -> Option<usize> {
    // The model decides how deep elements nest, and each level is a call of this function.
    let depth = depth.checked_sub(1)?;
    let to = doc.find(SPACE, from)?;
    let text = doc.between(from, to);
    let types = schema.map(ArgumentSchema::own_types).unwrap_or_default();
    let has = |kind| types.has(kind);
    // The token before the closing tag may be missing.
    let inner = text.trim_end().strip_suffix('>').and_then(|text| text.strip_suffix(tag_name));
    let inner = inner.and_then(|text| text.strip_suffix("</")).map(|text| (text, to));
    // Nothing between the tags is an empty list or object if the schema wants one, and else an
    // empty text.
    let is_empty = text.is_empty()
        && (has(SchemaType::Array) || has(SchemaType::Object))
        && !has(SchemaType::String);
    let closed = || closing(doc, to, tag_name).filter(|_| !is_empty).map(|end| (text, end));
    if let Some((text, end)) = inner.or_else(closed) {
        out.raw(&typed(text, types));
        return Some(end);
    }
    if !text.trim().is_empty() {
        return None;
    }
    // Where the schema does not say, a list is known by the name of its elements.
    let is_item = open(doc, to).is_some_and(|(name, ..)| name == "item");
    let is_list = has(SchemaType::Array) || is_item;
    let (mut at, mut before) = (to, "");
    out.raw(if is_list { "[" } else { "{" });
    loop {
        if let Some(end) = closing(doc, at, tag_name) {
            out.raw(if is_list { "]" } else { "}" });
            return Some(end);
        }
        let (name, tag, inner) = open(doc, at)?;
        out.raw(before);
        let part = if is_list {
            schema.and_then(ArgumentSchema::entry)
        } else {
            out.string(name).raw(":");
            schema.and_then(|schema| schema.property(name))
        };
        at = element(doc, inner, (tag, part), out, depth)?;
        before = ",";
    }
}

/// Returns the position behind the closing tag of that name, if it stands at `at`.
fn closing(doc: &SourceText<'_>, at: usize, name: &str) -> Option<usize> {
    doc.after(doc.after(tag(doc, at, "</")?, name)?, ">")
}
