//! Floor 3: the model protocols. A wire turns turns into a request's bytes and a response's bytes
//! into a reply. It keeps no session state and decides nothing about retries. Each protocol is a
//! feature of the crate, and so are calls in text.
#![cfg_attr(
    not(all(
        feature = "anthropic",
        feature = "gemini",
        feature = "ollama",
        feature = "openai-chat",
        feature = "openai-responses",
        feature = "text-calls",
    )),
    allow(
        dead_code,
        clippy::large_enum_variant,
        reason = "not every protocol needs all that they share, and what is missing is empty"
    )
)]

#[cfg(feature = "anthropic")]
mod anthropic;
mod body;
mod decoder;
mod failed;
mod failure;
mod faults;
mod finish;
#[cfg(feature = "gemini")]
mod gemini;
mod head;
mod ids;

mod left_out;
mod lenient;
#[cfg(not(all(
    feature = "anthropic",
    feature = "gemini",
    feature = "ollama",
    feature = "openai-chat",
    feature = "openai-responses",
    feature = "text-calls",
)))]
mod missing;
mod named;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai-chat")]
mod openai_chat;
#[cfg(feature = "openai-responses")]
mod openai_responses;
mod piece;
mod places;
mod sink;
mod sse;
mod surrogates;
#[cfg(feature = "text-calls")]
pub mod text_calls;
mod unknown;
mod values;
mod writer;

#[cfg(not(feature = "anthropic"))]
use missing as anthropic;
#[cfg(not(feature = "gemini"))]
use missing as gemini;
#[cfg(not(feature = "ollama"))]
use missing as ollama;
#[cfg(not(feature = "openai-chat"))]
use missing as openai_chat;
#[cfg(not(feature = "openai-responses"))]
use missing as openai_responses;
#[cfg(not(feature = "text-calls"))]
use missing as text_calls;

pub use decoder::Decoder;
pub use failure::{Failure, FailureKind};
pub use head::Head;
pub(crate) use left_out::{Gate, parts};
pub(crate) use named::named;
pub use piece::{CallPiece, Piece};
pub(crate) use text_calls::ends_in_call;
pub(crate) use unknown::{leave_out, unknown_fields};

use crate::{
    base::bytes::Bytes,
    types::{
        config::{ConfigError, ModelConfig, TextCalls, ToolChoice, WireKind},
        message::Said,
        model::Origin,
        output::HttpRequest,
        tool::ToolSpec,
    },
};
use alloc::{format, string::String, vec::Vec};

/// Whether this build can talk to the model.
///
/// # Errors
/// It was made without the protocol, or without calls in text.
pub(crate) fn check(model: &ModelConfig) -> Result<(), ConfigError> {
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
    Err(ConfigError { field: field.into(), message })
}

impl Head {
    /// Encodes the head.
    #[must_use]
    pub fn new<'a>(
        model: &ModelConfig,
        system: &str,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Self {
        Self::of(model, system, &tools.collect::<Vec<_>>())
    }

    fn of(model: &ModelConfig, system: &str, tools: &[&ToolSpec]) -> Self {
        // Where tools are told in the prompt, the protocol's own have no place.
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
        match model.wire {
            WireKind::OpenaiResponses => openai_responses::head(model, system, tools),
            WireKind::OpenaiChat => openai_chat::head(model, system, tools),
            WireKind::Anthropic => anthropic::head(model, system, tools),
            WireKind::Gemini => gemini::head(model, system, tools),
            WireKind::Ollama => ollama::head(model, system, tools),
        }
    }
}

/// The encoded turns, each written once when it is appended.
#[derive(Clone, Debug)]
pub struct Prefix {
    encoded: Encoded,
    /// Whether calls and results are written as text.
    in_text: bool,
    wire: WireKind,
    gate: Gate,
    /// Whom the requests go to.
    origin: Origin,
}

/// The turns in one protocol.
#[derive(Clone, Debug)]
enum Encoded {
    /// OpenAI Responses.
    OpenaiResponses(openai_responses::Prefix),
    /// OpenAI Chat Completions.
    OpenaiChat(openai_chat::Prefix),
    /// Anthropic Messages.
    Anthropic(anthropic::Prefix),
    /// Gemini.
    Gemini(gemini::Prefix),
    /// Ollama.
    Ollama(ollama::Prefix),
}

impl Prefix {
    /// No turns yet.
    #[must_use]
    pub fn new(model: &ModelConfig) -> Self {
        let encoded = match model.wire {
            WireKind::OpenaiResponses => {
                Encoded::OpenaiResponses(openai_responses::Prefix::new(model))
            }
            WireKind::OpenaiChat => Encoded::OpenaiChat(openai_chat::Prefix::new(model)),
            WireKind::Anthropic => Encoded::Anthropic(anthropic::Prefix::new(model)),
            WireKind::Gemini => Encoded::Gemini(gemini::Prefix::new(model)),
            WireKind::Ollama => Encoded::Ollama(ollama::Prefix::new(model)),
        };
        let (wire, gate, origin) = (model.wire, Gate::new(model), model.origin());
        Self { encoded, in_text: model.text_calls == TextCalls::Always, wire, gate, origin }
    }

    /// The same, where more may follow than is known from the turns alone.
    pub(crate) fn through(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Appends what a turn says. The bytes of those before stay as they are.
    pub fn push(&mut self, said: Said<'_>) {
        let said = failed::told(left_out::unsigned(said, &self.origin), self.wire, self.in_text);
        let said = if self.in_text { text_calls::in_text(said) } else { said };
        let said = &self.gate.readable(said);
        match &mut self.encoded {
            Encoded::OpenaiResponses(prefix) => prefix.push(said),
            Encoded::OpenaiChat(prefix) => prefix.push(said),
            Encoded::Anthropic(prefix) => prefix.push(said),
            Encoded::Gemini(prefix) => prefix.push(said),
            Encoded::Ollama(prefix) => prefix.push(said),
        }
    }

    /// The request for the model's next reply. Providers that keep a cache by name are given
    /// `cache_key`.
    #[must_use]
    pub fn request(&self, head: &Head, model: &ModelConfig, cache_key: &str) -> HttpRequest {
        let body = match &self.encoded {
            Encoded::OpenaiResponses(prefix) => prefix.body(head, cache_key),
            Encoded::OpenaiChat(prefix) => prefix.body(head, cache_key),
            Encoded::Anthropic(prefix) => prefix.body(head, cache_key),
            Encoded::Gemini(prefix) => prefix.body(head, cache_key),
            Encoded::Ollama(prefix) => prefix.body(head, cache_key),
        };
        let (path, headers) = address(model);
        HttpRequest {
            endpoint: model.endpoint.clone(),
            path,
            headers,
            body: Bytes(body.into_bytes()),
        }
    }
}

/// The path below the endpoint's base URL, and the headers that are not secret.
fn address(model: &ModelConfig) -> (String, Vec<(String, String)>) {
    match model.wire {
        WireKind::OpenaiResponses => {
            (openai_responses::path(model), openai_responses::headers(model))
        }
        WireKind::OpenaiChat => (openai_chat::path(model), openai_chat::headers(model)),
        WireKind::Anthropic => (anthropic::path(model), anthropic::headers(model)),
        WireKind::Gemini => (gemini::path(model), gemini::headers(model)),
        WireKind::Ollama => (ollama::path(model), ollama::headers(model)),
    }
}
