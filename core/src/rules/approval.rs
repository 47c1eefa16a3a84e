//! Rules that let calls pass without another approval. They come from the configuration or from a
//! person's answer, and say how the arguments of a tool's calls must begin.

use innerloop_json::{Value, from_str};
use innerloop_types::{config::ApprovalRule, path::resolved};

/// Returns whether one of `rules` lets a call of the tool `name` with these arguments pass. Rules
/// name files from the workspace's root on, so the argument that is the call's `path` is resolved
/// as an agent in `folder` means it.
#[must_use]
pub(crate) fn allows<'a>(
    rules: impl IntoIterator<Item = &'a ApprovalRule>,
    name: &str,
    arguments: &str,
    folder: &str,
    path: Option<&str>,
) -> bool {
    // Parsed when the first rule looks at arguments, which most calls never need. Arguments that
    // are not JSON have no fields, so that no such rule lets them pass.
    let mut parsed = None;
    rules.into_iter().filter(|rule| rule.tool == name).any(|rule| {
        rule.starting.iter().all(|(field, start)| {
            let parsed = parsed.get_or_insert_with(|| from_str(arguments).unwrap_or(Value::Null));
            let found = parsed.get(field).and_then(Value::as_str);
            found.is_some_and(|text| {
                if path != Some(text) {
                    // Other arguments are compared as they are written: they may be commands or
                    // patterns, which must not be changed before a rule looks at them.
                    return text.starts_with(start.as_str());
                }
                let start = start.trim_start_matches("./").trim_start_matches('/');
                // Resolved first: `docs/../x` is no file of `docs`, and a path that climbs out of
                // the workspace passes no rule.
                resolved(folder, text).is_some_and(|path| path.starts_with(start))
            })
        })
    })
}
