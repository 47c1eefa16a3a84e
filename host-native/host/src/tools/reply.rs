//! The reply of a module that has more to say than a text: one JSON object with the fields of a
//! tool's reply, printed to standard output. The npm package reads the same format
//! (`wasm/npm/src/programs/outcome.ts`).

use innerloop_core::{
    action::{Outcome, Part, ToolError},
    json::Json,
};
use innerloop_driver::custom_tool_outcome;
use innerloop_json::{FromJson, Value, from_str};

/// The fields of a reply.
const FIELDS: [&str; 4] = ["text", "parts", "is_error", "details"];

#[derive(Default, FromJson)]
#[json(default)]
struct ModuleReply {
    text: Option<String>,
    parts: Vec<Part>,
    is_error: bool,
    details: Option<Json>,
}

/// Returns the outcome of a module's run, with its output read as a reply if it is one: an object
/// of such fields alone, with a `text` that is a string or `parts` that are a list. Any other
/// output stays text, and that of a failed run is never read as a reply.
pub(super) fn read(name: &str, outcome: Outcome) -> Outcome {
    // Output that was cut is no longer the object that was printed.
    if outcome.error.is_some() || outcome.capped_at_source {
        return outcome;
    }
    let printed = outcome.parts.first().and_then(Part::as_text).map(str::trim);
    let Some(text) = printed.filter(|text| is_reply(text)) else { return outcome };
    let replied = match from_str::<ModuleReply>(text) {
        Ok(reply) => reply.outcome(),
        Err(error) => custom_tool_outcome::failed(
            name,
            &format_args!("what it printed does not fit: {error}"),
        ),
    };
    let Outcome { parts, error, details, .. } = replied;
    // The first two parts are the streams; behind them stand notes on the run itself, which stay.
    let parts = parts.into_iter().chain(outcome.parts.into_iter().skip(2)).collect();
    Outcome { parts, streams: false, error, details, ..outcome }
}

/// Returns whether a text is a reply.
fn is_reply(text: &str) -> bool {
    if !text.starts_with('{') {
        return false;
    }
    let Ok(Value::Object(fields)) = from_str(text) else { return false };
    let has_text = matches!(fields.get("text"), Some(Value::String(_)));
    let has_parts = matches!(fields.get("parts"), Some(Value::Array(_)));
    // Strict, as many programs print JSON that is meant as text.
    (has_text || has_parts) && fields.iter().all(|(name, _)| FIELDS.contains(&name))
}

impl ModuleReply {
    fn outcome(self) -> Outcome {
        let text = self.text.map(Part::text);
        Outcome {
            parts: text.into_iter().chain(self.parts).collect(),
            error: self.is_error.then_some(ToolError::Crashed),
            details: self.details.map(Box::new),
            ..Outcome::default()
        }
    }
}
