//! The check of a model's configuration against the protocols of this build. It comes before a
//! session is made, so that no session reaches a protocol that is not there.

use alloc::format;
use innerloop_types::{
    config::{ConfigError, TextCalls},
    model::{ModelConfig, WireKind},
};

/// Makes sure that this build can talk to the model.
///
/// # Errors
/// Fails if the build was made without the protocol, or without calls in text.
pub fn check(model: &ModelConfig) -> Result<(), ConfigError> {
    let (has_wire, wire) = match model.wire {
        WireKind::OpenaiResponses => (cfg!(feature = "openai-responses"), "openai-responses"),
        WireKind::OpenaiChat => (cfg!(feature = "openai-chat"), "openai-chat"),
        WireKind::Anthropic => (cfg!(feature = "anthropic"), "anthropic"),
        WireKind::Gemini => (cfg!(feature = "gemini"), "gemini"),
        WireKind::Ollama => (cfg!(feature = "ollama"), "ollama"),
    };
    let has_text_calls = cfg!(feature = "text-calls") || model.text_calls == TextCalls::Never;
    let missing = match (has_wire, has_text_calls) {
        (true, true) => return Ok(()),
        (false, _) => ("model.wire", wire),
        (true, false) => ("model.text_calls", "text-calls"),
    };
    let (field, feature) = missing;
    let message = format!("this build has no {feature}: it was made without that feature");
    Err(ConfigError::new(field, message))
}
