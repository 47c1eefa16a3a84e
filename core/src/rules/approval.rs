//! Rules for calls that need no more approval.

use crate::types::config::ApprovalRule;
use innerloop_json::{Value, from_str};

/// Whether one of `rules` lets a call of the tool `name` with these arguments pass.
#[must_use]
pub fn allows<'a>(
    rules: impl IntoIterator<Item = &'a ApprovalRule>,
    name: &str,
    arguments: &str,
) -> bool {
    let mut named = rules.into_iter().filter(|rule| rule.tool == name).peekable();
    if named.peek().is_none() {
        return false;
    }
    // What is not JSON has no fields.
    let arguments = from_str(arguments).unwrap_or(Value::Null);
    named.any(|rule| {
        rule.starting.iter().all(|(field, start)| {
            let found = arguments.get(field).and_then(Value::as_str);
            found.is_some_and(|text| text.starts_with(start.as_str()))
        })
    })
}
