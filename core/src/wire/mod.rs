//! Floor 3: the model protocols. A wire turns turns into a request's bytes and a response's bytes
//! into a reply. It keeps no session state and decides nothing about retries.

pub mod anthropic;
mod body;
mod failure;
pub mod gemini;
mod half;
mod loose;
pub mod ollama;
pub mod openai_chat;
pub mod openai_responses;
mod piece;
mod sse;
pub mod text_calls;
mod values;
mod writer;

pub use failure::{Failure, FailureKind};
pub use piece::Piece;

use crate::{
    nouns::{
        config::{ModelConfig, WireKind},
        input::ResponseHead,
        message::{Reply, TurnKind},
        output::HttpRequest,
        tool::ToolSpec,
    },
    words::bytes::Bytes,
};
use alloc::{string::String, vec::Vec};

/// The part of a request that stays the same from turn to turn: model, system prompt, tools. It
/// is encoded once and shared between sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// What stands before the first turn.
    before: Vec<u8>,
    /// Where `before` takes a cache marker, in protocols that have them.
    mark: Option<usize>,
    /// What stands behind the last turn.
    after: Vec<u8>,
}

impl Head {
    /// Encodes the head.
    #[must_use]
    pub fn new<'a>(
        model: &ModelConfig,
        system: &str,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Self {
        match model.wire {
            WireKind::OpenaiResponses => openai_responses::head(model, system, tools),
            WireKind::OpenaiChat => openai_chat::head(model, system, tools),
            WireKind::Anthropic => anthropic::head(model, system, tools),
            WireKind::Gemini => gemini::head(model, system, tools),
            WireKind::Ollama => ollama::head(model, system, tools),
        }
    }
}

/// The encoded turns, each written once when it is appended (DESIGN rule 10).
#[derive(Clone, Debug)]
pub enum Prefix {
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
        match model.wire {
            WireKind::OpenaiResponses => {
                Self::OpenaiResponses(openai_responses::Prefix::new(model))
            }
            WireKind::OpenaiChat => Self::OpenaiChat(openai_chat::Prefix::new(model)),
            WireKind::Anthropic => Self::Anthropic(anthropic::Prefix::new(model)),
            WireKind::Gemini => Self::Gemini(gemini::Prefix::new(model)),
            WireKind::Ollama => Self::Ollama(ollama::Prefix::new(model)),
        }
    }

    /// Appends a turn. The bytes of those before stay as they are.
    pub fn push(&mut self, turn: &TurnKind) {
        match self {
            Self::OpenaiResponses(prefix) => prefix.push(turn),
            Self::OpenaiChat(prefix) => prefix.push(turn),
            Self::Anthropic(prefix) => prefix.push(turn),
            Self::Gemini(prefix) => prefix.push(turn),
            Self::Ollama(prefix) => prefix.push(turn),
        }
    }

    /// The request for the model's next reply. Providers that keep a cache by name are given
    /// `cache_key`.
    #[must_use]
    pub fn request(&self, head: &Head, model: &ModelConfig, cache_key: &str) -> HttpRequest {
        let body = match self {
            Self::OpenaiResponses(prefix) => prefix.body(head, cache_key),
            Self::OpenaiChat(prefix) => prefix.body(head, cache_key),
            Self::Anthropic(prefix) => prefix.body(head, cache_key),
            Self::Gemini(prefix) => prefix.body(head, cache_key),
            Self::Ollama(prefix) => prefix.body(head, cache_key),
        };
        let (path, headers) = address(model);
        HttpRequest { endpoint: model.endpoint.clone(), path, headers, body: Bytes(body) }
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

/// Reads one response.
#[derive(Clone, Debug)]
pub enum Decoder {
    /// OpenAI Responses.
    OpenaiResponses(openai_responses::Decoder),
    /// OpenAI Chat Completions.
    OpenaiChat(openai_chat::Decoder),
    /// Anthropic Messages.
    Anthropic(anthropic::Decoder),
    /// Gemini.
    Gemini(gemini::Decoder),
    /// Ollama.
    Ollama(ollama::Decoder),
}

impl Decoder {
    /// For the response that begins with `head`.
    #[must_use]
    pub fn new(wire: WireKind, head: &ResponseHead) -> Self {
        match wire {
            WireKind::OpenaiResponses => {
                Self::OpenaiResponses(openai_responses::Decoder::new(head))
            }
            WireKind::OpenaiChat => Self::OpenaiChat(openai_chat::Decoder::new(head)),
            WireKind::Anthropic => Self::Anthropic(anthropic::Decoder::new(head)),
            WireKind::Gemini => Self::Gemini(gemini::Decoder::new(head)),
            WireKind::Ollama => Self::Ollama(ollama::Decoder::new(head)),
        }
    }

    /// Takes the next bytes of the body, cut anywhere, and appends what they say to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) {
        match self {
            Self::OpenaiResponses(decoder) => decoder.feed(bytes, out),
            Self::OpenaiChat(decoder) => decoder.feed(bytes, out),
            Self::Anthropic(decoder) => decoder.feed(bytes, out),
            Self::Gemini(decoder) => decoder.feed(bytes, out),
            Self::Ollama(decoder) => decoder.feed(bytes, out),
        }
    }

    /// The whole reply, once the body has ended.
    ///
    /// # Errors
    /// What the provider reported, or that the body was cut or is not of this protocol.
    pub fn finish(self) -> Result<Reply, Failure> {
        match self {
            Self::OpenaiResponses(decoder) => decoder.finish(),
            Self::OpenaiChat(decoder) => decoder.finish(),
            Self::Anthropic(decoder) => decoder.finish(),
            Self::Gemini(decoder) => decoder.finish(),
            Self::Ollama(decoder) => decoder.finish(),
        }
    }
}
