//! Why a reply ended, in the words of each provider.

use crate::anthropic::Message;

/// The reasons to end by Anthropic's names, and what OpenAI Responses (the reason of an
/// incomplete response), Chat Completions, Gemini and Ollama call them.
const REASONS: [(&str, [&str; 4]); 7] = [
    ("end_turn", ["", "stop", "STOP", "stop"]),
    ("stop_sequence", ["", "stop", "STOP", "stop"]),
    ("tool_use", ["", "tool_calls", "STOP", "stop"]),
    ("max_tokens", ["max_output_tokens", "length", "MAX_TOKENS", "length"]),
    ("refusal", ["", "refusal", "SAFETY", "stop"]),
    ("pause_turn", ["", "pause", "CONTINUATION", "stop"]),
    (
        "model_context_window_exceeded",
        ["max_output_tokens", "model_context_window_exceeded", "MAX_TOKENS", "length"],
    ),
];

/// What the provider number `at` of [`REASONS`] calls the message's reason to end.
pub(super) fn reason(message: &Message, at: usize) -> &str {
    let known = REASONS.iter().find(|(name, _)| *name == message.stop_reason);
    known.map_or(message.stop_reason.as_str(), |(_, names)| names[at])
}
