//! Reading one response: its body is framed here, each protocol accumulates what it says, and where
//! the model's configuration wants that, calls are looked for in the text, too.

use super::{
    anthropic,
    body::{Bare, Body, Ended},
    failure::{Failure, FailureKind, of_body},
    gemini,
    lenient::{Document, Error, Raw, finite, text_of},
    ollama, openai_chat, openai_responses,
    piece::Piece,
    sink::Sink,
    text_calls::InText,
};
use crate::types::{
    config::{ModelConfig, ResponseLimits, WireKind},
    input::ResponseHead,
    message::Reply,
    tool::ToolSpec,
};
use alloc::{string::String, vec::Vec};
use core::mem;

/// Reads one response.
#[derive(Clone, Debug)]
pub struct Decoder {
    wire: WireKind,
    head: ResponseHead,
    body: Body,
    reply: Accumulator,
    in_text: Option<InText>,
    sink: Sink,
    /// Whether the newest bytes said something.
    is_heard: bool,
}

/// What has come of a reply, in one of the protocols.
#[derive(Clone, Debug)]
enum Accumulator {
    OpenaiResponses(openai_responses::Accumulator),
    OpenaiChat(openai_chat::Accumulator),
    Anthropic(anthropic::Accumulator),
    Gemini(gemini::Accumulator),
    Ollama(ollama::Accumulator),
}

impl Decoder {
    /// For the response that begins with `head`, of which as much is read as is by default.
    #[must_use]
    pub fn new(wire: WireKind, head: &ResponseHead) -> Self {
        Self::within(ResponseLimits::default(), wire, head)
    }

    /// For the response that begins with `head`. No more is read than these limits allow, and of
    /// the body of an error 1 MiB in any case.
    #[must_use]
    pub fn within(limits: ResponseLimits, wire: WireKind, head: &ResponseHead) -> Self {
        let (body, reply) = (Body::new(head, bare(wire)), Accumulator::new(wire));
        let sink = Sink::new(head, limits);
        let (in_text, is_heard) = (None, false);
        Self { wire, head: head.clone(), body, reply, in_text, sink, is_heard }
    }

    /// Looks for calls in the text, too, as the model's configuration has it.
    #[must_use]
    pub fn with_text_calls<'a>(
        mut self,
        model: &ModelConfig,
        tools: impl Iterator<Item = &'a ToolSpec>,
    ) -> Self {
        self.in_text = InText::new(model, tools);
        self
    }

    /// Takes the next bytes of the body, cut anywhere, and appends what they say to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) {
        let Self { head, body, reply, in_text, sink, is_heard, .. } = self;
        *is_heard = false;
        if sink.is_full() {
            return;
        }
        let bytes = sink.admit(bytes);
        body.feed(bytes, &mut |data| {
            *is_heard |= !is_ping(data);
            reply.on_data(data, head, sink);
        });
        let waiting = body.waiting();
        *is_heard |= waiting > 0;
        sink.hold(waiting);
        match in_text {
            Some(in_text) => in_text.feed(sink.take(), out),
            None => out.append(&mut sink.take()),
        }
    }

    /// Whether the bytes that were taken last said something, and did not only show that the
    /// connection is there, as comments and pings do.
    #[must_use]
    pub const fn is_heard(&self) -> bool {
        self.is_heard
    }

    /// Whether what follows does not count: the terminal marker of a stream has come, so that the
    /// reply is whole whatever becomes of the connection, an error has come, or a limit is
    /// exceeded. Gemini has no such marker: its last chunk is the one before the end.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        if self.sink.is_full() {
            return true;
        }
        match &self.reply {
            Accumulator::OpenaiResponses(reply) => reply.is_whole(),
            Accumulator::OpenaiChat(reply) => reply.is_whole(),
            Accumulator::Anthropic(reply) => reply.is_whole(),
            Accumulator::Ollama(reply) => reply.is_whole(),
            Accumulator::Gemini(reply) => reply.is_whole(),
        }
    }

    /// The whole reply, once the body has ended.
    ///
    /// # Errors
    /// What the provider reported, that the body was cut or is not of this protocol, or that a
    /// limit is exceeded.
    pub fn finish(self) -> Result<Reply, Failure> {
        self.finish_into(&mut Vec::new())
    }

    /// As [`Self::finish`]; what has not been handed out of the reply is appended to `out`.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_into(mut self, out: &mut Vec<Piece>) -> Result<Reply, Failure> {
        let mut reply = self.read();
        let Self { wire, head, in_text, sink, .. } = &mut self;
        if let Ok(reply) = &mut reply {
            reply.wire = Some(*wire);
            if let Some(in_text) = in_text {
                let most_calls = sink.most_calls();
                *reply = in_text.finish(mem::take(reply), most_calls, out);
            }
            sink.calls(reply.tool_calls().count());
        }
        if let Some(mut failure) = sink.failure().filter(|_| head.is_success()) {
            failure.said = reply.map(|reply| reply.text()).unwrap_or_default();
            reply = Err(failure);
        }
        reply.map_err(|failure| failure.with_head(head))
    }

    /// What the model has said by now, where the response is given up.
    #[must_use]
    pub fn said(mut self) -> String {
        if !self.head.is_success() {
            return String::new();
        }
        self.reply.cut();
        let Ok(mut reply) = self.reply.finish() else { return String::new() };
        if let Some(in_text) = &mut self.in_text {
            reply = in_text.finish(reply, self.sink.most_calls(), &mut Vec::new());
        }
        reply.text()
    }

    /// The reply, once the body has ended, or as far as it has come when a limit was exceeded.
    fn read(&mut self) -> Result<Reply, Failure> {
        let Self { head, body, reply, sink, .. } = self;
        sink.unseen();
        let ended = body.finish(&mut |data| reply.on_data(data, head, sink));
        let is_cut = sink.is_full() && head.is_success();
        match ended {
            _ if is_cut => reply.cut(),
            Ended::Empty => {
                return Err(Failure::new(FailureKind::Protocol, "the response is empty"));
            }
            Ended::Whole(body) => reply.whole(head, &body, sink)?,
            Ended::Bare => reply.bare(),
            Ended::Stream => {}
        }
        reply.finish()
    }
}

/// What JSON without server-sent events around it means to the protocol.
const fn bare(wire: WireKind) -> Bare {
    match wire {
        WireKind::OpenaiResponses | WireKind::OpenaiChat | WireKind::Anthropic => Bare::Whole,
        WireKind::Gemini | WireKind::Ollama => Bare::Values,
    }
}

/// Whether an event only shows that the connection is there.
fn is_ping(data: &[u8]) -> bool {
    data.len() < 64 && data.windows(6).any(|name| name == b"\"ping\"")
}

impl Accumulator {
    fn new(wire: WireKind) -> Self {
        match wire {
            WireKind::OpenaiResponses => Self::OpenaiResponses(Default::default()),
            WireKind::OpenaiChat => Self::OpenaiChat(Default::default()),
            WireKind::Anthropic => Self::Anthropic(Default::default()),
            WireKind::Gemini => Self::Gemini(Default::default()),
            WireKind::Ollama => Self::Ollama(Default::default()),
        }
    }

    fn on_data(&mut self, data: &[u8], head: &ResponseHead, out: &mut Sink) {
        out.hold(data.len());
        if out.is_full() {
            return;
        }
        let text = text_of(data);
        let text = text.trim();
        match Document::object(text) {
            Ok(Some(event)) => self.on_event(event.root(), head, out),
            Ok(None) => self.on_odd_data(text, None, head, out),
            Err(error) => {
                let text = finite(text);
                match Document::object(&text) {
                    Ok(Some(event)) => self.on_event(event.root(), head, out),
                    _ => self.on_odd_data(&text, Some(&error), head, out),
                }
            }
        }
    }

    fn on_event(&mut self, event: Raw<'_>, head: &ResponseHead, out: &mut Sink) {
        match self {
            Self::OpenaiResponses(reply) => reply.on_event(event, head, out),
            Self::OpenaiChat(reply) => reply.on_event(event, head, out),
            Self::Anthropic(reply) => reply.on_event(event, head, out),
            Self::Gemini(reply) => reply.on_event(event, head, out),
            Self::Ollama(reply) => reply.on_event(event, head, out),
        }
    }

    /// Data that is not an object, such as `[DONE]` or words, or begins like one but is not JSON.
    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        head: &ResponseHead,
        out: &mut Sink,
    ) {
        match (self, error) {
            (Self::Gemini(reply), _) => reply.on_odd_data(text, error, head, out),
            (Self::OpenaiChat(reply), None) => reply.on_words(text),
            (Self::OpenaiResponses(reply), None) => reply.on_words(text),
            (Self::Anthropic(reply), None) => reply.on_words(text),
            (Self::Ollama(reply), None) => reply.on_words(text),
            (Self::OpenaiResponses(reply), Some(error)) => reply.on_broken_data(error),
            (Self::OpenaiChat(reply), Some(error)) => reply.on_broken_data(error),
            (Self::Anthropic(reply), Some(error)) => reply.on_broken_data(error),
            (Self::Ollama(reply), Some(error)) => reply.on_broken_data(error),
        }
    }

    /// The data was in no frame and began with a value in no array.
    const fn bare(&mut self) {
        if let Self::Gemini(reply) = self {
            reply.bare();
        }
    }

    /// Nothing more is read: what has come is the reply, and it was cut.
    fn cut(&mut self) {
        match self {
            Self::OpenaiResponses(reply) => reply.cut(),
            Self::OpenaiChat(reply) => reply.cut(),
            Self::Anthropic(reply) => reply.cut(),
            Self::Gemini(reply) => reply.cut(),
            Self::Ollama(reply) => reply.cut(),
        }
    }

    /// The reply of a body whose data has been handed out.
    fn finish(&mut self) -> Result<Reply, Failure> {
        match self {
            Self::OpenaiResponses(reply) => reply.finish(),
            Self::OpenaiChat(reply) => reply.finish(),
            Self::Anthropic(reply) => reply.finish(),
            Self::Gemini(reply) => reply.finish(),
            Self::Ollama(reply) => reply.finish(),
        }
    }

    /// Reads a body of which nothing has been handed out.
    fn whole(&mut self, head: &ResponseHead, body: &[u8], out: &mut Sink) -> Result<(), Failure> {
        let text = text_of(body);
        let text = finite(text.trim_start_matches('\u{feff}').trim());
        let document = Document::of(&text);
        let value = document.root();
        let is_reply = head.is_success()
            && match self {
                Self::OpenaiResponses(reply) => reply.on_whole(value, head, out),
                Self::OpenaiChat(reply) => reply.on_whole(value, head, out),
                Self::Anthropic(reply) => reply.on_whole(value, head, out),
                Self::Gemini(_) | Self::Ollama(_) => false,
            };
        if is_reply { Ok(()) } else { Err(of_body(head, &text)) }
    }
}
