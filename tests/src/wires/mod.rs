//! One scripted message in the form of each provider: as a stream's events, as a whole body, and
//! errors beside it. `read` and `rules` look at requests the other way round.

mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
pub mod read;
mod reasons;
pub mod rules;

use crate::anthropic::Message;
use innerloop_core::config::{ModelConfig, ProfileKind, WireKind};
use serde_json::json;

/// Each protocol with the family of models that mostly speaks it, and one of its models.
pub const FAMILIES: [(WireKind, ProfileKind, &str); 5] = [
    (WireKind::OpenaiResponses, ProfileKind::Openai, "gpt-5.2"),
    (WireKind::OpenaiChat, ProfileKind::Openai, "gpt-5.2"),
    (WireKind::Anthropic, ProfileKind::Anthropic, "claude-sonnet-4-6"),
    (WireKind::Gemini, ProfileKind::Gemini, "gemini-3-flash"),
    (WireKind::Ollama, ProfileKind::Small, "qwen3:8b"),
];

/// Each protocol.
pub const WIRES: [WireKind; 5] = [
    WireKind::OpenaiResponses,
    WireKind::OpenaiChat,
    WireKind::Anthropic,
    WireKind::Gemini,
    WireKind::Ollama,
];

/// The kinds of errors by Anthropic's names, and OpenAI's and Gemini's.
const ERRORS: [(&str, &str, &str); 8] = [
    ("authentication_error", "invalid_api_key", "UNAUTHENTICATED"),
    ("permission_error", "permission_denied", "PERMISSION_DENIED"),
    ("rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"),
    ("overloaded_error", "server_is_overloaded", "UNAVAILABLE"),
    ("api_error", "server_error", "INTERNAL"),
    ("timeout_error", "server_error", "DEADLINE_EXCEEDED"),
    ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
    ("not_found_error", "model_not_found", "NOT_FOUND"),
];

/// Makes a model's configuration that of the family that speaks `wire`.
pub fn speak(model: &mut ModelConfig, wire: WireKind) {
    for (kind, profile, name) in FAMILIES {
        if kind == wire {
            model.wire = kind;
            model.profile = profile;
            model.name = name.to_owned();
        }
    }
}

/// The message as a stream, one event, or line, per item.
#[must_use]
pub fn events(wire: WireKind, message: &Message) -> Vec<String> {
    let data = match wire {
        WireKind::OpenaiResponses => openai_responses::events(message),
        WireKind::OpenaiChat => openai_chat::events(message),
        WireKind::Gemini => gemini::events(message),
        WireKind::Ollama => ollama::events(message),
        _ => return message.events(),
    };
    data.iter().map(|data| framed(wire, data)).collect()
}

/// The message as the whole body of an answer without streaming.
#[must_use]
pub fn body(wire: WireKind, message: &Message) -> String {
    match wire {
        WireKind::OpenaiResponses => openai_responses::body(message),
        WireKind::OpenaiChat => openai_chat::body(message),
        WireKind::Gemini => gemini::body(message),
        WireKind::Ollama => ollama::body(message),
        _ => message.body(),
    }
}

/// The content type of a stream.
#[must_use]
pub const fn stream_type(wire: WireKind) -> &'static str {
    match wire {
        WireKind::Ollama => "application/x-ndjson",
        _ => "text/event-stream",
    }
}

/// The body of an error; `kind` is Anthropic's name for it.
#[must_use]
pub fn refusal(wire: WireKind, status: u16, kind: &str, message: &str) -> String {
    let known = ERRORS.iter().find(|(name, ..)| *name == kind);
    let &(_, code, state) = known.unwrap_or(&(kind, kind, "UNKNOWN"));
    let error = match wire {
        WireKind::OpenaiResponses | WireKind::OpenaiChat => {
            json!({"message": message, "type": kind, "param": null, "code": code})
        }
        WireKind::Gemini => json!({"code": status, "message": message, "status": state}),
        WireKind::Ollama => json!(message),
        _ => {
            return json!({"type": "error", "error": {"type": kind, "message": message}})
                .to_string();
        }
    };
    json!({ "error": error }).to_string()
}

/// An error inside a stream.
#[must_use]
pub fn error_event(wire: WireKind, kind: &str, message: &str) -> String {
    let data = refusal(wire, 500, kind, message);
    match wire {
        WireKind::OpenaiResponses => {
            let data = data.replacen('{', "{\"type\":\"error\",", 1);
            framed(wire, &data)
        }
        WireKind::Anthropic => format!("event: error\ndata: {data}\n\n"),
        _ => framed(wire, &data),
    }
}

/// An event's data in the stream's framing.
fn framed(wire: WireKind, data: &str) -> String {
    match wire {
        WireKind::Ollama => format!("{data}\n"),
        WireKind::OpenaiResponses => {
            let event: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
            let kind = event["type"].as_str().unwrap_or_default().to_owned();
            format!("event: {kind}\ndata: {data}\n\n")
        }
        _ => format!("data: {data}\n\n"),
    }
}
