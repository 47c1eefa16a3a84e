//! Fields of a request that an endpoint says it does not know. Gateways take different parts of
//! OpenAI's protocols, so the request is made again without the field, and so are all later ones of
//! the session.

use super::failure::{FailureKind, ModelCallError};
use alloc::vec::Vec;
use innerloop_json::IntoList;
use innerloop_types::model::{
    MaxTokensField, ModelConfig, SystemRole, ThinkingFormat, ToolChoice, WireKind,
};

/// The words with which an endpoint refuses a field that it does not know, in lower case.
const REFUSED: [&str; 12] = [
    "unknown",
    "unsupported",
    "not support",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "not permitted",
    "not allowed",
    "not one of",
    "extra",
    "invalid",
    "should be",
];

/// A field that can be done without.
struct OptionalField {
    /// Its name for people, which is among `names` as it stands in messages.
    name: &'static str,
    names: &'static [&'static str],
    /// The check for whether requests have it.
    is_sent: fn(&ModelConfig) -> bool,
    leave_out: fn(&mut ModelConfig),
}

const FIELDS: [OptionalField; 8] = [
    OptionalField {
        name: "role developer",
        names: &["developer", "role", "roles"],
        is_sent: |model| model.compat.system_role == SystemRole::Developer,
        leave_out: |model| model.compat.system_role = SystemRole::System,
    },
    OptionalField {
        name: "max_completion_tokens",
        names: &["max_completion_tokens"],
        is_sent: |model| model.compat.max_tokens_field == MaxTokensField::MaxCompletionTokens,
        leave_out: |model| model.compat.max_tokens_field = MaxTokensField::MaxTokens,
    },
    OptionalField {
        name: "stream_options",
        names: &["stream_options", "include_usage"],
        is_sent: |model| model.stream && model.compat.usage_in_stream,
        leave_out: |model| model.compat.usage_in_stream = false,
    },
    OptionalField {
        name: "store",
        names: &["store"],
        is_sent: |model| model.compat.store,
        leave_out: |model| model.compat.store = false,
    },
    OptionalField {
        name: "prompt_cache_key",
        names: &["prompt_cache_key"],
        is_sent: |model| model.compat.prompt_cache_key,
        leave_out: |model| model.compat.prompt_cache_key = false,
    },
    OptionalField {
        name: "reasoning effort",
        names: &[
            "reasoning_effort",
            "reasoning",
            "thinking",
            "enable_thinking",
            "chat_template_kwargs",
        ],
        is_sent: |model| {
            model.reasoning_effort.is_some() && model.compat.thinking != ThinkingFormat::None
        },
        leave_out: |model| model.compat.thinking = ThinkingFormat::None,
    },
    OptionalField {
        name: "parallel_tool_calls",
        names: &["parallel_tool_calls"],
        is_sent: |model| model.parallel_tool_calls.is_some() && model.compat.parallel_tool_calls,
        leave_out: |model| model.compat.parallel_tool_calls = false,
    },
    OptionalField {
        name: "tool_choice",
        names: &["tool_choice"],
        is_sent: |model| model.compat.tool_choice && model.tool_choice != ToolChoice::Auto,
        leave_out: |model| model.compat.tool_choice = false,
    },
];

/// Returns the fields of a request to that model that the endpoint has refused as unknown, by name.
pub fn unknown_fields(model: &ModelConfig, failure: &ModelCallError) -> Vec<&'static str> {
    let is_openai = matches!(model.wire, WireKind::OpenaiChat | WireKind::OpenaiResponses);
    let is_refused = failure.kind == FailureKind::InvalidRequest
        && matches!(failure.status, 400 | 422)
        && is_openai;
    if !is_refused {
        return Vec::new();
    }
    let said = failure.message.to_ascii_lowercase();
    // These words are broad. They count only beside the name of a field that we send by ourselves.
    if !REFUSED.iter().any(|words| said.contains(words)) {
        return Vec::new();
    }
    let is_named = |field: &&OptionalField| field.names.iter().any(|name| has_word(&said, name));
    // A field that has been left out is not sent any more, so that the same refusal cannot come
    // twice and the call ends.
    let fields = FIELDS.iter().filter(|field| (field.is_sent)(model)).filter(is_named);
    let mut names: Vec<&str> = fields.map(|field| field.name).into_list();
    // OpenAI's newer models refuse `max_tokens` and name the other field in its place. Both names
    // must be there: the one alone may be about its value.
    if has_max_tokens(model) && has_word(&said, "max_tokens") && has_word(&said, COMPLETION) {
        names.push("max_tokens");
    }
    names
}

/// The output limit's other name.
const COMPLETION: &str = "max_completion_tokens";

fn has_max_tokens(model: &ModelConfig) -> bool {
    model.wire == WireKind::OpenaiChat && model.compat.max_tokens_field == MaxTokensField::MaxTokens
}

/// Changes the model so that requests to it are made without those fields.
pub fn leave_out(model: &mut ModelConfig, names: &[&str]) {
    // Only one name of the output limit is ever sent, so that the two rules never undo each other.
    if names.contains(&"max_tokens") {
        model.compat.max_tokens_field = MaxTokensField::MaxCompletionTokens;
    }
    for field in FIELDS.iter().filter(|field| names.contains(&field.name)) {
        (field.leave_out)(model);
    }
}

/// Returns whether a name stands in a text as a word of its own.
fn has_word(text: &str, name: &str) -> bool {
    // `store` must not be found in `restore`, nor `reasoning` in `reasoning_effort`.
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}
