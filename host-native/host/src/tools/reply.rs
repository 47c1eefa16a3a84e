//! What a module prints to say more than a text: one JSON object with the fields of a tool's reply.
//! The npm package reads the same (`wasm/npm/src/programs/outcome.ts`).

use innerloop_core::{
    action::{Outcome, Part, ToolError},
    json::Json,
};
use innerloop_driver::custom_tool_outcome;
use innerloop_json::{FromJson, Value, from_str};

/// Its fields.
const FIELDS: [&str; 4] = ["text", "parts", "is_error", "details"];

#[derive(Default, FromJson)]
#[json(default)]
struct ModuleReply {
    text: Option<String>,
    parts: Vec<Part>,
    is_error: bool,
    details: Option<Json>,
}

/// The outcome of a module's run, with what it printed taken for a reply if it is one: all of it an
/// object of such fields alone, with a `text` that is text or `parts` that are a list. Anything
/// else stays text. What fails is told as it is.
pub(super) fn read(name: &str, outcome: Outcome) -> Outcome {
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
    // Behind the two streams stand words on the run itself.
    let parts = parts.into_iter().chain(outcome.parts.into_iter().skip(2)).collect();
    Outcome { parts, streams: false, error, details, ..outcome }
}

fn is_reply(text: &str) -> bool {
    if !text.starts_with('{') {
        return false;
    }
    let Ok(Value::Object(fields)) = from_str(text) else { return false };
    let has_text = matches!(fields.get("text"), Some(Value::String(_)));
    let has_parts = matches!(fields.get("parts"), Some(Value::Array(_)));
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
