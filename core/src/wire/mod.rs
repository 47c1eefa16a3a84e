//! Floor 3: the model protocols. A wire turns turns into a request's bytes and a response's bytes
//! into a reply. It keeps no session state and decides nothing about retries.

pub mod anthropic;
mod failure;
mod piece;
mod sse;

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

/// The part of a request that stays the same from turn to turn: model, system prompt, tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// Anthropic Messages.
    Anthropic(anthropic::Head),
}

impl Head {
    /// Encodes the head once, to be kept and shared.
    #[must_use]
    pub fn new<'a>(
        model: &ModelConfig,
        system: &str,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Self {
        match model.wire {
            WireKind::Anthropic => Self::Anthropic(anthropic::Head::new(model, system, tools)),
        }
    }
}

/// The encoded turns, each written once when it is appended (DESIGN rule 10).
#[derive(Clone, Debug)]
pub enum Prefix {
    /// Anthropic Messages.
    Anthropic(anthropic::Prefix),
}

impl Prefix {
    /// No turns yet.
    #[must_use]
    pub const fn new(wire: WireKind) -> Self {
        match wire {
            WireKind::Anthropic => Self::Anthropic(anthropic::Prefix::new()),
        }
    }

    /// Appends a turn. The bytes of those before stay as they are.
    pub fn push(&mut self, turn: &TurnKind) {
        match self {
            Self::Anthropic(prefix) => prefix.push(turn),
        }
    }

    /// The request for the model's next reply.
    #[must_use]
    pub fn request(&self, head: &Head, model: &ModelConfig) -> HttpRequest {
        let (Self::Anthropic(prefix), Head::Anthropic(head)) = (self, head);
        HttpRequest {
            endpoint: model.endpoint.clone(),
            path: String::from(anthropic::PATH),
            headers: anthropic::headers(),
            body: Bytes(prefix.body(head)),
        }
    }
}

/// Reads one response.
#[derive(Clone, Debug)]
pub enum Decoder {
    /// Anthropic Messages.
    Anthropic(anthropic::Decoder),
}

impl Decoder {
    /// For the response that begins with `head`.
    #[must_use]
    pub fn new(wire: WireKind, head: &ResponseHead) -> Self {
        match wire {
            WireKind::Anthropic => Self::Anthropic(anthropic::Decoder::new(head)),
        }
    }

    /// Takes the next bytes of the body, cut anywhere, and appends what they say to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) {
        match self {
            Self::Anthropic(decoder) => decoder.feed(bytes, out),
        }
    }

    /// The whole reply, once the body has ended.
    ///
    /// # Errors
    /// What the provider reported, or that the body was cut or is not of this protocol.
    pub fn finish(self) -> Result<Reply, Failure> {
        match self {
            Self::Anthropic(decoder) => decoder.finish(),
        }
    }
}
