//! MiniMax M3's calls: elements named after the arguments, a token of its own before each tag.

use super::{
    super::writer::{Fields, Writer},
    found::Region,
    scan::Doc,
    schema::{Schema, Type},
    typed::{Typed, typed},
};
use crate::types::message::ToolCall;
use alloc::{string::String, vec::Vec};

/// What stands before each tag.
pub(super) const SPACE: &str = "]<]minimax[>[";

/// How deep elements may nest.
const DEPTH: u32 = 16;

/// The calls that begin at `at`, in their block or without one.
pub(super) fn calls(doc: &mut Doc<'_>, at: usize) -> Option<Region> {
    let mut from = tag(doc, at, "<tool_call>").unwrap_or(at);
    let (mut end, mut calls) = (at, Vec::new());
    while let Some((behind, call)) = invoke(doc, from) {
        calls.push(call);
        (end, from) = (behind, behind);
    }
    Region::new(tag(doc, from, "</tool_call>").unwrap_or(end), calls)
}

/// Behind a tag that begins so, with the token before it.
fn tag(doc: &Doc<'_>, at: usize, start: &str) -> Option<usize> {
    let from = doc.after(doc.skip_space(at), SPACE)?;
    doc.after(doc.skip_space(from), start)
}

fn invoke(doc: &mut Doc<'_>, at: usize) -> Option<(usize, ToolCall)> {
    let (name, mut at) = name(doc, tag(doc, at, "<invoke name=")?)?;
    let mut found = Typed::new(name, doc.schema(name));
    loop {
        if let Some(end) = tag(doc, at, "</invoke>") {
            return Some((end, found.finish()));
        }
        let (name, tag, inner) = open(doc, at)?;
        let mut out = Writer::new();
        at = element(doc, inner, (tag, found.schema().property(name)), &mut out, DEPTH)?;
        found.push_json(name, &out.0);
    }
}

/// What the element is that opens at `at`, its tag's name, and where that ends.
fn open<'a>(doc: &Doc<'a>, at: usize) -> Option<(&'a str, &'a str, usize)> {
    let from = tag(doc, at, "<")?;
    let attribute = doc.after(from, "parameter name=");
    let (name, end) = name(doc, attribute.unwrap_or(from))?;
    Some((name, if attribute.is_some() { "parameter" } else { name }, end))
}

/// A name up to the end of its tag, with or without quotes.
fn name<'a>(doc: &Doc<'a>, from: usize) -> Option<(&'a str, usize)> {
    let to = doc.near(from, &['>', '<', '\n'])?;
    let name = doc.between(from, to).trim().trim_matches(['"', '\'']);
    Some((name, doc.after(to, ">").filter(|_| !name.is_empty() && !doc.is_spent())?))
}

/// Writes the element whose content begins at `from`; returns where it ends.
fn element(
    doc: &mut Doc<'_>,
    from: usize,
    (tag_name, schema): (&str, Option<&Schema>),
    out: &mut Writer,
    depth: u32,
) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    let to = doc.find(SPACE, from)?;
    let text = doc.between(from, to);
    let types = schema.map(Schema::own_types).unwrap_or_default();
    // The token before the closing tag may be missing.
    let inner = text.trim_end().strip_suffix('>').and_then(|text| text.strip_suffix(tag_name));
    if let Some(text) = inner.and_then(|text| text.strip_suffix("</")) {
        out.raw(&typed(text, types));
        return Some(to);
    }
    if let Some(end) = closing(doc, to, tag_name) {
        let is = |kind| text.is_empty() && types.contains(&kind) && !types.contains(&Type::String);
        let json = match (is(Type::Array), is(Type::Object)) {
            (true, _) => String::from("[]"),
            (_, true) => String::from("{}"),
            _ => typed(text, types),
        };
        out.raw(&json);
        return Some(end);
    }
    if !text.trim().is_empty() {
        return None;
    }
    let (mut at, mut fields, mut list) = (to, Fields::default(), Writer::new());
    let mut is_list = true;
    loop {
        if let Some(end) = closing(doc, at, tag_name) {
            match is_list {
                true => _ = out.raw("[").raw(&list.0).raw("]"),
                false => fields.write(out),
            }
            doc.read(list.len());
            return Some(end);
        }
        let (name, tag, inner) = open(doc, at)?;
        is_list &= name == "item";
        let schema = schema.and_then(|schema| match is_list {
            true => schema.entry(),
            false => schema.property(name),
        });
        let mut value = Writer::new();
        at = element(doc, inner, (tag, schema), &mut value, depth)?;
        list.raw(if list.len() == 0 { "" } else { "," }).raw(&value.0);
        fields.set(name).raw(&value.0);
    }
}

/// Behind the closing tag of that name, if it stands at `at`.
fn closing(doc: &Doc<'_>, at: usize, name: &str) -> Option<usize> {
    doc.after(doc.after(tag(doc, at, "</")?, name)?, ">")
}
