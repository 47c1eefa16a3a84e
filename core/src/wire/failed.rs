//! A result of a tool that failed says so in its text where the protocol has no field that does.

use crate::types::{
    message::{Part, ToolResult, TurnKind},
    model::WireKind,
};
use alloc::{format, vec::Vec};

/// What is said of a failure that says nothing itself.
const SILENT: &str = "The tool failed without a word.";

/// The turn as a model reads it over that protocol, or in text; `None` where that changes nothing.
pub(super) fn told(turn: &TurnKind, wire: WireKind, in_text: bool) -> Option<TurnKind> {
    let TurnKind::ToolResults(results) = turn else { return None };
    // Some of the items of Responses have a mark: there each result is told by itself.
    let is_told_later = !in_text && wire == WireKind::OpenaiResponses;
    if is_told_later || !results.iter().any(|result| result.is_error) {
        return None;
    }
    let told = |result: &ToolResult| {
        let is_text = result.parts.iter().all(|part| part.as_text().is_some());
        // Anthropic refuses an error with an image in it.
        let can_mark = wire == WireKind::Gemini || (wire == WireKind::Anthropic && is_text);
        ToolResult { parts: parts(result, can_mark && !in_text), ..result.clone() }
    };
    Some(TurnKind::ToolResults(results.iter().map(told).collect()))
}

/// The parts of a result; those of one that failed and has no other mark begin with the word.
pub(super) fn parts(result: &ToolResult, has_mark: bool) -> Vec<Part> {
    let mut parts = result.parts.clone();
    if !result.is_error {
        return parts;
    }
    let said = parts.iter_mut().find_map(|part| match part {
        Part::Text { text } if !text.trim().is_empty() => Some(text),
        _ => None,
    });
    match said {
        Some(text) if !has_mark && !says_so(text) => *text = format!("Error: {text}"),
        Some(_) => {}
        None => {
            parts.retain(|part| part.as_text().is_none());
            parts.insert(0, Part::text(SILENT));
        }
    }
    parts
}

/// Whether a text begins with the word, however it is written.
fn says_so(text: &str) -> bool {
    text.trim_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error"))
}
