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
pub(crate) use text_calls::write::lacks_tools;

use text_calls::{Scanner, write};

use crate::{
    nouns::{
        config::{ModelConfig, TextCalls, TextFamily, ToolChoice, WireKind},
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
        // Where tools are told in the prompt, the protocol's own have no place.
        if model.text_calls == TextCalls::Always {
            let may_call = model.tool_choice != ToolChoice::None;
            let section = if may_call { write::section(tools) } else { String::new() };
            let plain = ModelConfig {
                text_calls: TextCalls::Never,
                tool_choice: ToolChoice::Auto,
                parallel_tool_calls: None,
                ..model.clone()
            };
            return Self::native(&plain, &alloc::format!("{system}{section}"), [].iter());
        }
        Self::native(model, system, tools)
    }

    fn native<'a>(
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
pub struct Prefix {
    encoded: Encoded,
    /// Whether calls and results are written as text.
    in_text: bool,
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
        Self { encoded, in_text: model.text_calls == TextCalls::Always }
    }

    /// Appends a turn. The bytes of those before stay as they are.
    pub fn push(&mut self, turn: &TurnKind) {
        let in_text = if self.in_text { write::in_text(turn) } else { None };
        let turn = in_text.as_ref().unwrap_or(turn);
        match &mut self.encoded {
            Encoded::OpenaiResponses(prefix) => prefix.push(turn),
            Encoded::OpenaiChat(prefix) => prefix.push(turn),
            Encoded::Anthropic(prefix) => prefix.push(turn),
            Encoded::Gemini(prefix) => prefix.push(turn),
            Encoded::Ollama(prefix) => prefix.push(turn),
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
pub struct Decoder {
    reader: Reader,
    in_text: Option<InText>,
}

/// Where calls are looked for in the text, too.
#[derive(Clone, Debug)]
struct InText {
    family: TextFamily,
    scanner: Scanner,
    tools: Vec<ToolSpec>,
}

/// Reads one protocol's response.
#[derive(Clone, Debug)]
enum Reader {
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
        let reader = match wire {
            WireKind::OpenaiResponses => {
                Reader::OpenaiResponses(openai_responses::Decoder::new(head))
            }
            WireKind::OpenaiChat => Reader::OpenaiChat(openai_chat::Decoder::new(head)),
            WireKind::Anthropic => Reader::Anthropic(anthropic::Decoder::new(head)),
            WireKind::Gemini => Reader::Gemini(gemini::Decoder::new(head)),
            WireKind::Ollama => Reader::Ollama(ollama::Decoder::new(head)),
        };
        Self { reader, in_text: None }
    }

    /// Looks for calls in the text, too, as the model's configuration has it.
    #[must_use]
    pub fn with_text_calls<'a>(
        mut self,
        model: &ModelConfig,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Self {
        let family = model.text_family;
        self.in_text = (model.text_calls != TextCalls::Never).then(|| InText {
            family,
            scanner: Scanner::new(family),
            tools: tools.cloned().collect(),
        });
        self
    }

    /// Takes the next bytes of the body, cut anywhere, and appends what they say to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) {
        let Some(in_text) = &mut self.in_text else {
            self.reader.feed(bytes, out);
            return;
        };
        let mut pieces = Vec::new();
        self.reader.feed(bytes, &mut pieces);
        for piece in pieces {
            match piece {
                Piece::Text(text) => in_text.scanner.feed(&text, out),
                Piece::Reasoning(_) => out.push(piece),
                Piece::Restart => {
                    in_text.scanner = Scanner::new(in_text.family);
                    out.push(piece);
                }
            }
        }
    }

    /// Whether the terminal marker of a stream has come, so that the reply is whole whatever
    /// becomes of the connection. Gemini has none: its last chunk is the one before the end.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        match &self.reader {
            Reader::OpenaiResponses(decoder) => decoder.is_whole(),
            Reader::OpenaiChat(decoder) => decoder.is_whole(),
            Reader::Anthropic(decoder) => decoder.is_whole(),
            Reader::Ollama(decoder) => decoder.is_whole(),
            Reader::Gemini(_) => false,
        }
    }

    /// The whole reply, once the body has ended.
    ///
    /// # Errors
    /// What the provider reported, or that the body was cut or is not of this protocol.
    pub fn finish(self) -> Result<Reply, Failure> {
        let reply = self.reader.finish()?;
        let Some(in_text) = self.in_text else { return Ok(reply) };
        if reply.tool_calls().next().is_some() {
            return Ok(reply);
        }
        let parsed = text_calls::parse(in_text.family, &reply.text(), &in_text.tools);
        Ok(write::taken_apart(&reply, parsed).unwrap_or(reply))
    }
}

impl Reader {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) {
        match self {
            Self::OpenaiResponses(decoder) => decoder.feed(bytes, out),
            Self::OpenaiChat(decoder) => decoder.feed(bytes, out),
            Self::Anthropic(decoder) => decoder.feed(bytes, out),
            Self::Gemini(decoder) => decoder.feed(bytes, out),
            Self::Ollama(decoder) => decoder.feed(bytes, out),
        }
    }

    fn finish(self) -> Result<Reply, Failure> {
        match self {
            Self::OpenaiResponses(decoder) => decoder.finish(),
            Self::OpenaiChat(decoder) => decoder.finish(),
            Self::Anthropic(decoder) => decoder.finish(),
            Self::Gemini(decoder) => decoder.finish(),
            Self::Ollama(decoder) => decoder.finish(),
        }
    }
}
