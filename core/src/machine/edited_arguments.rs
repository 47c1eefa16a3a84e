//! Notes in a result about a call that ran with other arguments than the model gave: a person or a
//! hook has changed them, or they came under the names of another agent's tools. The history keeps
//! the call as the model made it, so that only the result can tell what ran.

use super::{ctx::StepContext, pipeline};
use alloc::{format, string::String, vec::Vec};
use innerloop_json::{IntoList, Value, from_str, joined, to_string};
use innerloop_types::{
    message::{Part, ToolCall, ToolResult},
    text::nth_char,
};

/// The number of characters that the model reads of one changed argument.
const MOST_CHARS: usize = 4_000;

/// Adds to the result of a call what ran in its place.
pub(super) fn tell(call: &ToolCall, result: &mut ToolResult, ctx: &StepContext<'_>) {
    let Some(made) = ctx.body.history.open_calls().find(|made| made.id == call.id) else { return };
    // Compared under the tool's own names: renaming alone is not a change that somebody made.
    let own = pipeline::with_own_arguments(made.clone(), ctx.setup);
    if let Some(changes) = changes(&own.arguments, &call.arguments) {
        let text = format!(
            "[The user or a hook changed the arguments before the call ran. What ran: {changes}]"
        );
        // A failure keeps its own words first: they are what stays of it when the result is shown
        // as one line.
        add(&text, !result.is_error, result);
    }
    if let Some((_, renamed)) = pipeline::renamed(made, ctx.setup) {
        let names: Vec<String> =
            renamed.iter().map(|(name, known)| format!("`{known}`, not `{name}`")).into_list();
        let text = format!("[Note: this tool's argument is {}.]", joined(&names, "; "));
        add(&text, false, result);
    }
}

/// Puts a line before or behind the result. A result that is a single text stays one.
pub(super) fn add(line: &str, before: bool, result: &mut ToolResult) {
    match result.parts.as_mut_slice() {
        [Part::Text { text }] if before => *text = format!("{line}\n{text}"),
        [Part::Text { text }] => *text = format!("{text}\n{line}"),
        _ if before => result.parts.insert(0, Part::text(line)),
        _ => result.parts.push(Part::text(line)),
    }
}

/// Returns the arguments that differ, as they are now; `None` if all are the same.
fn changes(before: &str, now: &str) -> Option<String> {
    let (old, new): (Value, Value) =
        match (from_str::<Value>(before).ok(), from_str::<Value>(now).ok()) {
            (Some(old), Some(new)) => (old, new),
            _ if before == now => return None,
            _ => return Some(shown(now)),
        };
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return (old != new).then(|| shown(now));
    };
    let mut changes = Vec::new();
    for (name, value) in new {
        if old.get(name) != Some(value) {
            changes.push(format!("{name} = {}", shown(&to_string(value))));
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(name)) {
        changes.push(format!("without {name}"));
    }
    (!changes.is_empty()).then(|| joined(&changes, ", "))
}

fn shown(json: &str) -> String {
    let end = nth_char(json, MOST_CHARS);
    let rest = json.get(end..).unwrap_or_default().chars().count();
    let cut = json.get(..end).unwrap_or_default();
    if rest == 0 { cut.into() } else { format!("{cut} […{rest} more characters]") }
}
