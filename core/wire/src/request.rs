//! Requests in the protocol of their model: the head, the encoded turns, and both joined to a body.
//! A turn is encoded once, and the bytes of earlier turns never change, since providers cache the
//! beginning of a request.

use super::{
    dispatch::{
        AnthropicMessages, ChatCompletions, GeminiContent, OllamaChat, OpenAiResponses, with_each,
        with_wire,
    },
    failed_result,
    head::RequestHead,
    left_out::{self, MediaGate},
    protocol::{WirePrefix, WireProtocol},
    text_calls,
};
use alloc::{format, string::String};
use innerloop_json::IntoList;
use innerloop_types::{
    bytes::BodyBytes,
    message::VisibleTurn,
    model::{ModelConfig, ModelOrigin, TextCalls, ToolChoice, WireKind},
    output::HttpRequest,
    tool::ToolSpec,
};

impl RequestHead {
    /// Encodes the head.
    #[must_use]
    pub fn new<'a>(
        model: &ModelConfig,
        system: &str,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Self {
        Self::of(model, system, &tools.into_list())
    }

    fn of(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> Self {
        // Tools that the prompt describes are not declared to the protocol as well, and settings
        // about declared tools are refused where there are none.
        if model.text_calls == TextCalls::Always {
            let may_call = model.tool_choice != ToolChoice::None;
            let section = if may_call { text_calls::section(tools) } else { String::new() };
            let plain = ModelConfig {
                text_calls: TextCalls::Never,
                tool_choice: ToolChoice::Auto,
                parallel_tool_calls: None,
                ..model.clone()
            };
            return Self::native(&plain, &format!("{system}{section}"), &[]);
        }
        Self::native(model, system, tools)
    }

    fn native(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> Self {
        with_wire!(model.wire, W => W::head(model, system, tools))
    }
}

/// The encoded turns, each written once when it is appended.
#[derive(Clone, Debug)]
pub struct RequestPrefix {
    encoded: EncodedTurns,
    /// True if calls and results are written as text.
    in_text: bool,
    wire: WireKind,
    gate: MediaGate,
    /// The model and the endpoint that the requests go to.
    origin: ModelOrigin,
}

impl RequestPrefix {
    /// Makes a prefix without turns.
    #[must_use]
    pub fn new(model: &ModelConfig) -> Self {
        let (encoded, in_text) = (EncodedTurns::new(model), model.text_calls == TextCalls::Always);
        let (wire, gate, origin) = (model.wire, MediaGate::new(model), model.origin());
        Self { encoded, in_text, wire, gate, origin }
    }

    /// Replaces the media gate, for a conversation of which more is known than the model alone.
    #[must_use]
    pub fn through(mut self, gate: MediaGate) -> Self {
        self.gate = gate;
        self
    }

    /// Appends a turn. The bytes of the turns before it stay as they are.
    pub fn push(&mut self, said: VisibleTurn<'_>) {
        // The order matters. Failed results say so while they are still results; in text they
        // become the user's words, without a mark. The gate comes last, over what is really sent.
        let said =
            failed_result::told(left_out::unsigned(said, &self.origin), self.wire, self.in_text);
        let said = if self.in_text { text_calls::in_text(said) } else { said };
        self.encoded.push(&self.gate.readable(said));
    }

    /// Returns the request for the model's next reply. Providers that keep a cache by name are
    /// given `cache_key`.
    #[must_use]
    pub fn request(&self, head: &RequestHead, model: &ModelConfig, cache_key: &str) -> HttpRequest {
        let body = BodyBytes(self.encoded.body(head, cache_key).into_bytes());
        let (path, headers) = with_wire!(model.wire, W => (W::path(model), W::headers(model)));
        HttpRequest { endpoint: model.endpoint.clone(), path, headers, body }
    }
}

/// The turns in one of the protocols.
#[allow(clippy::large_enum_variant, reason = "a protocol that this build lacks has no state")]
#[derive(Clone, Debug)]
enum EncodedTurns {
    Anthropic(<AnthropicMessages as WireProtocol>::Prefix),
    Gemini(<GeminiContent as WireProtocol>::Prefix),
    Ollama(<OllamaChat as WireProtocol>::Prefix),
    OpenaiChat(<ChatCompletions as WireProtocol>::Prefix),
    OpenaiResponses(<OpenAiResponses as WireProtocol>::Prefix),
}

impl EncodedTurns {
    fn new(model: &ModelConfig) -> Self {
        match model.wire {
            WireKind::Anthropic => Self::Anthropic(WirePrefix::new(model)),
            WireKind::Gemini => Self::Gemini(WirePrefix::new(model)),
            WireKind::Ollama => Self::Ollama(WirePrefix::new(model)),
            WireKind::OpenaiChat => Self::OpenaiChat(WirePrefix::new(model)),
            WireKind::OpenaiResponses => Self::OpenaiResponses(WirePrefix::new(model)),
        }
    }

    fn push(&mut self, said: &VisibleTurn<'_>) {
        with_each!(self, prefix => prefix.push(said));
    }

    fn body(&self, head: &RequestHead, cache_key: &str) -> String {
        with_each!(self, prefix => prefix.body(head, cache_key))
    }
}
