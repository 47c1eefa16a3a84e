//! The masking of keys that the session assembles itself, from several pieces of a stream or from
//! escaped text. No piece holds such a key, so it gets into the session; it is masked in events,
//! and taken out of the session as soon as that is idle (`docs/decisions.md#keys`).

use crate::masking::SecretKeys;
use alloc::string::String;
use innerloop_core::{event::EventKind, json::Json};

/// Masks all text of an event that may come from a model. Returns whether a key was there.
pub(crate) fn mask(keys: &SecretKeys, kind: &mut EventKind) -> bool {
    if keys.is_empty() {
        return false;
    }
    match kind {
        EventKind::AssistantTextDelta { text }
        | EventKind::AssistantReasoningDelta { text }
        | EventKind::ToolCallDelta { text, .. }
        | EventKind::ProcessingEnd { text, .. }
        | EventKind::AgentEnded { output: text, .. }
        | EventKind::Compacted { text: Some(text), .. }
        | EventKind::CompactionFailed { message: text, .. }
        | EventKind::Retry { message: text, .. }
        | EventKind::Warning { message: text }
        | EventKind::LoopDetection { message: text, .. }
        | EventKind::Corrected { text, .. }
        | EventKind::ResultKept { text, .. }
        | EventKind::Error { message: text, .. } => in_text(keys, text),
        // `|` and not `||`, here and below: each text has to be masked, also behind a key.
        EventKind::AssistantTextEnd { text, reasoning, .. } => {
            in_text(keys, text) | in_text(keys, reasoning)
        }
        EventKind::ToolCallStart { name, arguments, .. } => {
            in_text(keys, name) | in_json(keys, arguments)
        }
        EventKind::AgentStarted { task, folder, .. } => in_text(keys, task) | in_text(keys, folder),
        EventKind::Plan { items } => {
            items.iter_mut().fold(false, |found, item| in_text(keys, &mut item.text) | found)
        }
        EventKind::FinalAnswer { value } => in_value(keys, value),
        // The texts of all other events were inputs, and are masked already.
        _ => false,
    }
}

fn in_text(keys: &SecretKeys, text: &mut String) -> bool {
    let before = text.len();
    let masked = keys.masked(text);
    let found = masked.len() != before || *masked != **text;
    if found {
        *text = masked.into_owned();
    }
    found
}

/// Masks the arguments of a call, which are JSON as far as the model has written it well.
fn in_json(keys: &SecretKeys, text: &mut String) -> bool {
    // As JSON for keys that are escaped, and then as text for those outside of its strings.
    let masked = keys.masked_json(text);
    let found = masked.is_some();
    if let Some(masked) = masked {
        *text = masked;
    }
    in_text(keys, text) || found
}

fn in_value(keys: &SecretKeys, value: &mut Json) -> bool {
    let masked = keys.masked_json(value.text()).and_then(|masked| Json::parse(masked).ok());
    let found = masked.is_some();
    if let Some(masked) = masked {
        *value = masked;
    }
    found
}
