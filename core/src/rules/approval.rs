//! Rules for calls that need no more approval.

use crate::types::config::ApprovalRule;
use innerloop_json::{Value, from_str};

/// Whether one of `rules` lets a call of the tool `name` with these arguments pass.
#[must_use]
pub(crate) fn allows<'a>(
    rules: impl IntoIterator<Item = &'a ApprovalRule>,
    name: &str,
    arguments: &str,
) -> bool {
    // Parsed for the first rule that looks at arguments, if there is one. What is not JSON has no
    // fields.
    let mut parsed = None;
    rules.into_iter().filter(|rule| rule.tool == name).any(|rule| {
        rule.starting.iter().all(|(field, start)| {
            let parsed = parsed.get_or_insert_with(|| from_str(arguments).unwrap_or(Value::Null));
            let found = parsed.get(field).and_then(Value::as_str);
            found.is_some_and(|text| text.starts_with(start.as_str()))
        })
    })
}
