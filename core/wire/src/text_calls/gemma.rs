//! Gemma's calls, between the tokens of Gemma 4 or of FunctionGemma: `call:name{key:value}`, with
//! text between tokens of its own and words without quotes. `literal` reads the values.

use super::{
    literal::LiteralReader, scan::SourceText, schema::SchemaType, text_findings::CallRegion,
    typed_arguments::TypedCall,
};
use alloc::{string::String, vec::Vec};
use innerloop_types::message::ToolCall;

/// The tokens around a call.
pub(super) const TAGS: [(&str, &str); 2] =
    [("<|tool_call>", "<tool_call|>"), ("<start_function_call>", "<end_function_call>")];

/// Reads the calls that begin at `at`, one directly behind the other.
pub(super) fn calls(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let (mut from, mut end, mut calls) = (at, at, Vec::new());
    while let Some((inner, close)) =
        TAGS.iter().find_map(|(open, close)| Some((doc.after(from, open)?, *close)))
    {
        let Some((behind, call)) = one(doc, inner).filter(|_| doc.has_room(&calls)) else { break };
        calls.push(call);
        // The brace ends the call, so the closing token may be missing.
        end = doc.after(doc.skip_space(behind), close).unwrap_or(behind);
        from = doc.skip_space(end);
    }
    CallRegion::new(end, calls)
}

/// Returns the call that begins at `from`, and where its brace closes.
fn one(doc: &mut SourceText<'_>, from: usize) -> Option<(usize, ToolCall)> {
    let from = doc.skip_space(doc.after(doc.skip_space(from), "call:")?);
    let name_end = doc.near(from, &['{', '<', '\n'])?;
    let open_end = doc.after(name_end, "{")?;
    let name = doc.between(from, name_end).trim();
    if name.is_empty() || doc.is_spent() {
        return None;
    }
    let mut found = TypedCall::new(name, doc.schema(name));
    let mut reader = LiteralReader::gemma(doc.body(), open_end);
    let is_whole = arguments(&mut reader, &mut found);
    doc.spend(reader.at() - from);
    is_whole.map(|()| (reader.at(), found.finish()))
}

fn arguments(reader: &mut LiteralReader<'_>, found: &mut TypedCall) -> Option<()> {
    loop {
        reader.space();
        if reader.take("}") {
            return Some(());
        }
        let mut key = String::new();
        match reader.bare_key().or_else(|| reader.marked()) {
            Some(name) => key.push_str(name),
            None => reader.string(&mut key)?,
        }
        reader.space();
        if !reader.take(":") {
            return None;
        }
        reader.space();
        match reader.marked() {
            Some(text) => {
                let types = found.schema().types(&key);
                // The tokens say that a value is text, but models put numbers between them, too:
                // the schema decides.
                if types.is_empty() || types.has(SchemaType::String) {
                    found.push_text(&key, text);
                } else {
                    found.push(&key, text);
                }
            }
            None => found.push_json(&key, &reader.json()?),
        }
        reader.space();
        reader.take(",");
    }
}
