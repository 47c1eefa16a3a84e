//! PLaMo 3's calls: name and arguments between tokens of their own, each call in a block and all of
//! them in another, which may be missing.

use super::{
    objects,
    scan::SourceText,
    text_findings::{CallRegion, call},
};
use alloc::vec::Vec;
use innerloop_types::message::ToolCall;

/// The tokens around all calls.
pub(super) const REQUESTS: [&str; 2] =
    ["<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"];

/// The tokens around a call.
pub(super) const REQUEST: [&str; 2] =
    ["<|plamo:begin_tool_request:plamo|>", "<|plamo:end_tool_request:plamo|>"];

const NAME: [&str; 2] = ["<|plamo:begin_tool_name:plamo|>", "<|plamo:end_tool_name:plamo|>"];
const ARGUMENTS: [&str; 2] =
    ["<|plamo:begin_tool_arguments:plamo|>", "<|plamo:end_tool_arguments:plamo|>"];

/// The token before a message's content.
const CONTENT: &str = "<|plamo:msg|>";

/// Reads the calls that begin at `at`.
pub(super) fn calls(doc: &mut SourceText<'_>, at: usize) -> Option<CallRegion> {
    let block = doc.after(at, REQUESTS[0]);
    let mut next = doc.skip_space(block.unwrap_or(at));
    let (mut end, mut calls) = (at, Vec::new());
    while let Some((behind, call)) = one(doc, next).filter(|_| doc.has_room(&calls)) {
        calls.push(call);
        (end, next) = (behind, doc.skip_space(behind));
    }
    CallRegion::new(doc.after(next, REQUESTS[1]).unwrap_or(end), calls)
}

fn one(doc: &mut SourceText<'_>, at: usize) -> Option<(usize, ToolCall)> {
    let at = doc.skip_space(doc.after(at, REQUEST[0])?);
    let from = doc.after(at, NAME[0])?;
    let to = doc.near(from, &['<', '\n'])?;
    let name = doc.between(from, to).trim();
    let at = doc.skip_space(doc.after(to, NAME[1])?);
    let from = doc.skip_space(doc.after(at, ARGUMENTS[0])?);
    let from = doc.skip_space(doc.after(from, CONTENT).unwrap_or(from));
    // JSON is followed to its end, since its strings may mention the tokens.
    let to = match doc.json(from) {
        Some((end, _)) => doc.skip_space(end),
        None => doc.find(ARGUMENTS[1], from)?,
    };
    let arguments = objects::arguments(doc.between(from, to));
    let at = doc.skip_space(doc.after(to, ARGUMENTS[1])?);
    let end = doc.after(at, REQUEST[1])?;
    (!name.is_empty() && !doc.is_spent()).then(|| (end, call(name, arguments)))
}
