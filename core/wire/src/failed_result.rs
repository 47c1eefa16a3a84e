//! Results of failed tools. Where the protocol has no field that says so, the result's text begins
//! with the word `Error`.

use alloc::{format, string::String, vec::Vec};
use innerloop_types::{
    message::{Part, ToolResult, VisibleTurn, joined_text},
    model::WireKind,
};

/// The text for a failure that says nothing itself.
const SILENT: &str = "The tool failed without a word.";

/// Returns a turn as a model reads it over that protocol, or in text.
pub(super) fn told(said: VisibleTurn<'_>, wire: WireKind, in_text: bool) -> VisibleTurn<'_> {
    let VisibleTurn::ToolResults(results) = &said else { return said };
    // Some kinds of item in Responses have a mark of their own, and only their encoder knows which
    // kind a result becomes: it calls `parts` itself.
    let is_told_later = !in_text && wire == WireKind::OpenaiResponses;
    if is_told_later || !results.iter().any(|result| result.is_error) {
        return said;
    }
    let told = |result: &ToolResult| {
        let is_text = result.parts.iter().all(|part| part.as_text().is_some());
        // Anthropic refuses an error with an image in it.
        let can_mark = wire == WireKind::Gemini || (wire == WireKind::Anthropic && is_text);
        let parts = parts(result, can_mark && !in_text);
        ToolResult { call_id: result.call_id.clone(), parts, is_error: result.is_error }
    };
    VisibleTurn::ToolResults(results.iter().map(told).collect())
}

/// Returns the parts of a result. Those of a failed one without a mark begin with the word `Error`.
pub(super) fn parts(result: &ToolResult, has_mark: bool) -> Vec<Part> {
    let said = joined_text(&result.parts);
    let is_silent = said.trim().is_empty();
    let word = said.trim_start().get(..5).unwrap_or_default();
    // A text that calls itself an error is not called one twice.
    let is_told = has_mark || word.eq_ignore_ascii_case("error");
    // Even with a mark an error may not be empty: Anthropic refuses one, and the model would learn
    // nothing from it.
    if !result.is_error || (is_told && !is_silent) {
        return result.parts.clone();
    }
    let said = if is_silent { String::from(SILENT) } else { format!("Error: {said}") };
    let mut parts = Vec::new();
    parts.push(Part::text(said));
    for part in &result.parts {
        if part.as_text().is_none() {
            parts.push(part.clone());
        }
    }
    parts
}
