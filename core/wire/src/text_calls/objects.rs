//! Calls as JSON: one object, a list of them, or an object that holds a list, under every name that
//! models give to a tool's name and its arguments, in any order of keys. The caller says how
//! certain it is that a call is meant; the less certain, the stricter the shape.

use super::{
    super::lenient::{JsonDocument, ValueRef, is_json},
    scan::SourceText,
    text_findings::call,
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::IntoList;
use innerloop_types::message::ToolCall;

/// The degree of certainty that a value is meant as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallCertainty {
    /// A marker says so: arguments may be missing or of any type.
    Marked,
    /// A marker says so, and the tool's name is the key of its arguments.
    Keyed,
    /// Only its shape says so: a name and an object of arguments.
    Bare,
}

const LISTS: &str = "tool_calls|function_calls|tool_uses";
const INNER: &str = "function|function_call|tool_call";
const NAMES: &str = "name|tool_name|tool|function|function_name|recipient_name|action";
const ARGUMENTS: &str = "arguments|parameters|args|params|input|tool_input|tool_args|action_input";
const IDS: &str = "id|tool_call_id|call_id";

/// The maximum depth to which lists and wrappers are searched.
const DEPTH: u32 = 4;

/// Returns the calls in a JSON value; none if it is anything else. In a list each entry must be a
/// call, unless a marker says that the list holds calls. Of too many, at most one too many is read.
pub(super) fn calls(json: &str, sure: CallCertainty, doc: &SourceText<'_>) -> Vec<ToolCall> {
    value(JsonDocument::of(json).root(), sure, doc, DEPTH).unwrap_or_default()
}

fn value(
    raw: ValueRef<'_>,
    sure: CallCertainty,
    doc: &SourceText<'_>,
    depth: u32,
) -> Option<Vec<ToolCall>> {
    let depth = depth.checked_sub(1)?;
    if raw.is_array() {
        let mut calls = Vec::new();
        for entry in raw.elements() {
            match (value(entry, sure, doc, depth), sure) {
                (Some(found), _) => calls.extend(found),
                (None, CallCertainty::Marked | CallCertainty::Keyed) => {}
                // One entry that is no call shows that the list is data.
                (None, CallCertainty::Bare) => return None,
            }
            if !doc.has_room(&calls) {
                break;
            }
        }
        return Some(calls);
    }
    if !raw.is_object() {
        return None;
    }
    if sure == CallCertainty::Keyed {
        // One tool for each object, as the template writes it.
        let calls = raw.entries().filter(|(name, _)| !name.is_empty());
        return Some(calls.take(1).map(|(name, given)| keyed(&name, given)).into_list());
    }
    let list = raw.first_of(LISTS);
    if list.is_array() {
        return value(list, sure, doc, depth);
    }
    let inner = raw.first_of(INNER);
    if inner.is_object() {
        let mut found = value(inner, sure, doc, depth)?;
        // OpenAI's form has the id beside the function, not within it.
        if let (Some(id), [one]) = (text(raw, IDS), found.as_mut_slice())
            && one.id.is_empty()
        {
            one.id = id;
        }
        return Some(found);
    }
    one(raw, sure).map(|call| [call].into())
}

fn keyed(name: &str, given: ValueRef<'_>) -> ToolCall {
    call(name, arguments(given.json()))
}

fn one(raw: ValueRef<'_>, sure: CallCertainty) -> Option<ToolCall> {
    let name = text(raw, NAMES)?;
    // The prefix is the namespace in which some prompts list the tools, not a part of the name.
    let name = name.strip_prefix("functions.").unwrap_or(&name).trim();
    // An object with a description is the definition of a tool, which the model repeats.
    if name.is_empty() || !raw.field("description").is_null() {
        return None;
    }
    let arguments = match (raw.first_of(ARGUMENTS).some(), sure) {
        (Some(given), _) => arguments(given.json()),
        (None, CallCertainty::Marked | CallCertainty::Keyed) => String::from("{}"),
        (None, CallCertainty::Bare) => return None,
    };
    // A name beside a string or a number may be any data.
    if sure == CallCertainty::Bare && !arguments.starts_with('{') {
        return None;
    }
    Some(ToolCall { id: text(raw, IDS).unwrap_or_default(), ..call(name, arguments) })
}

/// Returns the text of the first of these fields that has one.
fn text(object: ValueRef<'_>, names: &'static str) -> Option<String> {
    object.each_of(names).find_map(ValueRef::string).map(Into::into)
}

/// Returns a call's arguments from their JSON text. An object that was written as a string counts
/// as an object, and nothing as an empty one.
pub(super) fn arguments(json: &str) -> String {
    let json = json.trim();
    if json.is_empty() || json == "null" {
        return String::from("{}");
    }
    let document = JsonDocument::of(json);
    let Some(inner) = document.root().string() else { return json.to_string() };
    let inner = inner.trim();
    if inner.is_empty() {
        return String::from("{}");
    }
    // Only objects and lists are unwrapped. Any other string is wrong either way, and the model is
    // told of what it wrote.
    let is_meant = inner.starts_with(['{', '[']) && is_json(inner);
    if is_meant { inner.to_string() } else { json.to_string() }
}
