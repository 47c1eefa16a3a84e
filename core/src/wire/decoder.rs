//! Reading one response: its body is framed here, each protocol makes a draft of what it says, and
//! where the model's configuration wants that, calls are looked for in the text, too.

use super::{
    anthropic,
    body::{Bare, Body, Ended},
    failure::{Failure, FailureKind, of_body},
    gemini, ollama, openai_chat, openai_responses,
    piece::Piece,
    text_calls::{self, Scanner, write},
};
use crate::types::{
    config::{ModelConfig, TextCalls, TextFamily, WireKind},
    input::ResponseHead,
    message::Reply,
    tool::ToolSpec,
};
use alloc::vec::Vec;

/// Reads one response.
#[derive(Clone, Debug)]
pub struct Decoder {
    head: ResponseHead,
    body: Body,
    draft: Draft,
    in_text: Option<InText>,
}

/// What has come of a reply, in one of the protocols.
#[derive(Clone, Debug)]
enum Draft {
    OpenaiResponses(openai_responses::Draft),
    OpenaiChat(openai_chat::Stream),
    Anthropic(anthropic::Draft),
    Gemini(gemini::Draft),
    Ollama(ollama::Draft),
}

/// Where calls are looked for in the text, too.
#[derive(Clone, Debug)]
struct InText {
    family: TextFamily,
    scanner: Scanner,
    tools: Vec<ToolSpec>,
}

impl Decoder {
    /// For the response that begins with `head`.
    #[must_use]
    pub fn new(wire: WireKind, head: &ResponseHead) -> Self {
        let draft = Draft::new(wire);
        Self { head: head.clone(), body: Body::new(head, draft.bare()), draft, in_text: None }
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
        let Self { head, body, draft, in_text } = self;
        let Some(in_text) = in_text else {
            body.feed(bytes, &mut |data| draft.on_data(data, head, out));
            return;
        };
        let mut pieces = Vec::new();
        body.feed(bytes, &mut |data| draft.on_data(data, head, &mut pieces));
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
        match &self.draft {
            Draft::OpenaiResponses(draft) => draft.is_whole(),
            Draft::OpenaiChat(draft) => draft.is_whole(),
            Draft::Anthropic(draft) => draft.is_whole(),
            Draft::Ollama(draft) => draft.is_whole(),
            Draft::Gemini(_) => false,
        }
    }

    /// The whole reply, once the body has ended.
    ///
    /// # Errors
    /// What the provider reported, or that the body was cut or is not of this protocol.
    pub fn finish(self) -> Result<Reply, Failure> {
        let Self { head, body, mut draft, in_text } = self;
        let reply = match body.finish(&mut |data| draft.on_data(data, &head, &mut Vec::new())) {
            Ended::Empty => Err(Failure::new(FailureKind::Protocol, "the response is empty")),
            Ended::Stream => draft.finish(false),
            Ended::Bare => draft.finish(true),
            Ended::Whole(body) => draft.whole(&head, &body),
        };
        let reply = reply.map_err(|failure| failure.with_head(&head))?;
        let Some(in_text) = in_text else { return Ok(reply) };
        if reply.tool_calls().next().is_some() {
            return Ok(reply);
        }
        let parsed = text_calls::parse(in_text.family, &reply.text(), &in_text.tools);
        Ok(write::taken_apart(&reply, parsed).unwrap_or(reply))
    }
}

impl Draft {
    fn new(wire: WireKind) -> Self {
        match wire {
            WireKind::OpenaiResponses => Self::OpenaiResponses(openai_responses::Draft::default()),
            WireKind::OpenaiChat => Self::OpenaiChat(openai_chat::Stream::default()),
            WireKind::Anthropic => Self::Anthropic(anthropic::Draft::default()),
            WireKind::Gemini => Self::Gemini(gemini::Draft::default()),
            WireKind::Ollama => Self::Ollama(ollama::Draft::default()),
        }
    }

    /// What JSON without a frame is to the protocol.
    const fn bare(&self) -> Bare {
        match self {
            Self::OpenaiResponses(_) | Self::OpenaiChat(_) | Self::Anthropic(_) => Bare::Whole,
            Self::Gemini(_) | Self::Ollama(_) => Bare::Values,
        }
    }

    fn on_data(&mut self, data: &[u8], head: &ResponseHead, out: &mut Vec<Piece>) {
        match self {
            Self::OpenaiResponses(draft) => draft.on_data(data, head, out),
            Self::OpenaiChat(draft) => draft.on_data(data, head, out),
            Self::Anthropic(draft) => draft.on_data(data, head, out),
            Self::Gemini(draft) => draft.on_data(data, head, out),
            Self::Ollama(draft) => draft.on_data(data, head, out),
        }
    }

    /// The reply of a body whose data has been handed out; `is_bare` if it was in no frame.
    fn finish(self, is_bare: bool) -> Result<Reply, Failure> {
        match self {
            Self::OpenaiResponses(draft) => draft.finish(),
            Self::OpenaiChat(draft) => draft.finish(),
            Self::Anthropic(draft) => draft.finish(),
            Self::Gemini(draft) => draft.finish(is_bare),
            Self::Ollama(draft) => draft.finish(),
        }
    }

    /// The reply of a body of which nothing has been handed out.
    fn whole(&self, head: &ResponseHead, body: &[u8]) -> Result<Reply, Failure> {
        match self {
            Self::OpenaiResponses(_) => openai_responses::whole(head, body),
            Self::OpenaiChat(_) => openai_chat::whole(head, body),
            Self::Anthropic(_) => anthropic::whole(head, body),
            Self::Gemini(_) => Err(of_body(head, body)),
            Self::Ollama(_) => Err(ollama::refusal(head, body)),
        }
    }
}
