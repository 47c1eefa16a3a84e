//! Rules for calls that need no more approval.

use innerloop_json::{Value, from_str};
use innerloop_types::{config::ApprovalRule, path::resolved};

/// Returns whether one of `rules` lets a call of the tool `name` with these arguments pass. Rules
/// name files from the workspace's root on: the argument that is the call's `path` is looked at as
/// an agent in `folder` means it.
#[must_use]
pub(crate) fn allows<'a>(
    rules: impl IntoIterator<Item = &'a ApprovalRule>,
    name: &str,
    arguments: &str,
    folder: &str,
    path: Option<&str>,
) -> bool {
    // Parsed for the first rule that looks at arguments, if there is one. What is not JSON has no
    // fields.
    let mut parsed = None;
    rules.into_iter().filter(|rule| rule.tool == name).any(|rule| {
        rule.starting.iter().all(|(field, start)| {
            let parsed = parsed.get_or_insert_with(|| from_str(arguments).unwrap_or(Value::Null));
            let found = parsed.get(field).and_then(Value::as_str);
            found.is_some_and(|text| {
                if path != Some(text) {
                    return text.starts_with(start.as_str());
                }
                let start = start.trim_start_matches("./").trim_start_matches('/');
                resolved(folder, text).is_some_and(|path| path.starts_with(start))
            })
        })
    })
}
