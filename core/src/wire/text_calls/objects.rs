//! Calls as JSON: one object, a list of them, or an object that holds a list, under every name
//! that models give to a tool's name and its arguments, in any order of keys.

use super::found::call;
use crate::{
    base::json::{Json, Object, without_lone_surrogates},
    types::message::ToolCall,
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::Value;

/// How sure it is that a value is meant as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    /// A marker says so: arguments may be missing or of any type.
    Marked,
    /// Nothing says so but its shape: a name and an object of arguments.
    Bare,
}

const LISTS: [&str; 3] = ["tool_calls", "function_calls", "tool_uses"];
const INNER: [&str; 3] = ["function", "function_call", "tool_call"];
const NAMES: [&str; 7] =
    ["name", "tool_name", "tool", "function", "function_name", "recipient_name", "action"];
const ARGUMENTS: [&str; 8] = [
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "tool_input",
    "tool_args",
    "action_input",
];
const IDS: [&str; 3] = ["id", "tool_call_id", "call_id"];

/// How deep lists and wrappers are looked into.
const DEPTH: u32 = 4;

/// The calls that a JSON value is; none if it is anything else. In a list each entry must be a
/// call, unless a marker says that the list holds calls.
pub(super) fn calls(json: &str, sure: Sure) -> Vec<ToolCall> {
    value(json, sure, DEPTH).unwrap_or_default()
}

fn value(json: &str, sure: Sure, depth: u32) -> Option<Vec<ToolCall>> {
    let depth = depth.checked_sub(1)?;
    if json.trim_start().starts_with('[') {
        let entries: Vec<Json> = serde_json::from_str(json).ok()?;
        let found = entries.iter().map(|entry| value(entry.text(), sure, depth));
        return match sure {
            Sure::Marked => Some(found.flatten().flatten().collect()),
            Sure::Bare => found.collect::<Option<Vec<_>>>().map(|all| all.concat()),
        };
    }
    let object: Object = serde_json::from_str(json).ok()?;
    if let Some(list) = LISTS.iter().find_map(|key| object.field(key))
        && list.text().starts_with('[')
    {
        return value(list.text(), sure, depth);
    }
    if let Some(inner) = INNER.iter().find_map(|key| object.field(key))
        && inner.text().starts_with('{')
    {
        let mut found = value(inner.text(), sure, depth)?;
        if let (Some(id), [one]) = (text(&object, &IDS), found.as_mut_slice())
            && one.id.is_empty()
        {
            one.id = id;
        }
        return Some(found);
    }
    one(&object, sure).map(|call| [call].into())
}

fn one(object: &Object, sure: Sure) -> Option<ToolCall> {
    let name = text(object, &NAMES)?;
    let name = name.strip_prefix("functions.").unwrap_or(&name).trim();
    // What has a description is a tool's definition, told back.
    if name.is_empty() || object.field("description").is_some() {
        return None;
    }
    let given = ARGUMENTS.iter().find_map(|key| object.field(key));
    let arguments = match (given, sure) {
        (Some(given), _) => arguments(given.text()),
        (None, Sure::Marked) => String::from("{}"),
        (None, Sure::Bare) => return None,
    };
    if sure == Sure::Bare && !arguments.starts_with('{') {
        return None;
    }
    Some(ToolCall { id: text(object, &IDS).unwrap_or_default(), ..call(name, arguments) })
}

/// The text of the first of these fields that has one.
fn text(object: &Object, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| string(object.field(key)?.text()))
}

/// The string that JSON text stands for.
fn string(json: &str) -> Option<String> {
    if !json.starts_with('"') {
        return None;
    }
    serde_json::from_str(json)
        .or_else(|_| serde_json::from_str(&without_lone_surrogates(json)))
        .ok()
}

/// A call's arguments from their JSON text: an object that was written as a string is one, and
/// nothing is an empty object.
pub(super) fn arguments(json: &str) -> String {
    let json = json.trim();
    if json.is_empty() || json == "null" {
        return String::from("{}");
    }
    let Some(inner) = string(json) else { return json.to_string() };
    let inner = inner.trim();
    if inner.is_empty() {
        return String::from("{}");
    }
    match serde_json::from_str::<Value>(inner) {
        Ok(Value::Object(_) | Value::Array(_)) => inner.to_string(),
        _ => json.to_string(),
    }
}
