//! Reading one response: its body is framed here, each protocol accumulates what it says, and where
//! the model's configuration wants that, calls are looked for in the text, too.

use super::{
    body::{BodyEnd, ResponseBody},
    dispatch::{
        AnthropicMessages, ChatCompletions, GeminiContent, OllamaChat, OpenAiResponses, with_each,
        with_wire,
    },
    failure::{FailureKind, ModelCallError, of_body},
    lenient::{Error, JsonDocument, ValueRef, finite, text_of},
    piece::ReplyPiece,
    protocol::{WireAccumulator, WireProtocol},
    sink::PieceSink,
    text_calls::TextCallFinder,
};
use alloc::{string::String, vec::Vec};
use core::mem;
use innerloop_types::{
    config::{ModelConfig, ResponseLimits, WireKind},
    input::ResponseHead,
    message::Reply,
    tool::ToolSpec,
};

/// Reads one response.
#[derive(Clone, Debug)]
pub struct Decoder {
    wire: WireKind,
    head: ResponseHead,
    body: ResponseBody,
    reply: ReplyAccumulator,
    in_text: Option<TextCallFinder>,
    sink: PieceSink,
    /// True if the newest bytes said something.
    is_heard: bool,
}

/// A reply while it arrives, in one of the protocols.
#[allow(clippy::large_enum_variant, reason = "a protocol that this build lacks has no state")]
#[derive(Clone, Debug)]
enum ReplyAccumulator {
    Anthropic(<AnthropicMessages as WireProtocol>::Accumulator),
    Gemini(<GeminiContent as WireProtocol>::Accumulator),
    Ollama(<OllamaChat as WireProtocol>::Accumulator),
    OpenaiChat(<ChatCompletions as WireProtocol>::Accumulator),
    OpenaiResponses(<OpenAiResponses as WireProtocol>::Accumulator),
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
        let bare = with_wire!(wire, W => W::BARE);
        let (body, reply) = (ResponseBody::new(head, bare), ReplyAccumulator::new(wire));
        let sink = PieceSink::new(head, limits);
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
        self.in_text = TextCallFinder::new(model, tools);
        self
    }

    /// Takes the next bytes of the body, cut anywhere, and appends what they say to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<ReplyPiece>) {
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

    /// Returns whether the bytes that were taken last said something, and did not only show that
    /// the connection is there, as comments and pings do.
    #[must_use]
    pub const fn is_heard(&self) -> bool {
        self.is_heard
    }

    /// Returns whether what follows does not count: the terminal marker of a stream has come, so
    /// that the reply is whole whatever becomes of the connection, an error has come, or a limit is
    /// exceeded. Gemini has no such marker: its last chunk is the one before the end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        if self.sink.is_full() {
            return true;
        }
        self.reply.is_whole()
    }

    /// The whole reply, once the body has ended.
    ///
    /// # Errors
    /// What the provider reported, that the body was cut or is not of this protocol, or that a
    /// limit is exceeded.
    pub fn finish(self) -> Result<Reply, ModelCallError> {
        self.finish_into(&mut Vec::new())
    }

    /// As [`Self::finish`]; what has not been handed out of the reply is appended to `out`.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_into(mut self, out: &mut Vec<ReplyPiece>) -> Result<Reply, ModelCallError> {
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

    /// Returns what the model has said by now, where the response is given up.
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
    fn read(&mut self) -> Result<Reply, ModelCallError> {
        let Self { head, body, reply, sink, .. } = self;
        sink.unseen();
        let ended = body.finish(&mut |data| reply.on_data(data, head, sink));
        let is_cut = sink.is_full() && head.is_success();
        match ended {
            _ if is_cut => reply.cut(),
            BodyEnd::Empty => {
                return Err(ModelCallError::new(FailureKind::Protocol, "the response is empty"));
            }
            BodyEnd::Whole(body) => reply.whole(head, &body, sink)?,
            BodyEnd::Bare => reply.bare(),
            BodyEnd::Stream => {}
        }
        reply.finish()
    }
}

/// Returns whether an event only shows that the connection is there.
fn is_ping(data: &[u8]) -> bool {
    data.len() < 64 && data.windows(6).any(|name| name == b"\"ping\"")
}

impl ReplyAccumulator {
    fn new(wire: WireKind) -> Self {
        match wire {
            WireKind::OpenaiResponses => Self::OpenaiResponses(Default::default()),
            WireKind::OpenaiChat => Self::OpenaiChat(Default::default()),
            WireKind::Anthropic => Self::Anthropic(Default::default()),
            WireKind::Gemini => Self::Gemini(Default::default()),
            WireKind::Ollama => Self::Ollama(Default::default()),
        }
    }

    fn on_data(&mut self, data: &[u8], head: &ResponseHead, out: &mut PieceSink) {
        out.hold(data.len());
        if out.is_full() {
            return;
        }
        let text = text_of(data);
        let text = text.trim();
        match JsonDocument::object(text) {
            Ok(Some(event)) => self.on_event(event.root(), head, out),
            Ok(None) => self.on_odd_data(text, None, head, out),
            Err(error) => {
                let text = finite(text);
                match JsonDocument::object(&text) {
                    Ok(Some(event)) => self.on_event(event.root(), head, out),
                    _ => self.on_odd_data(&text, Some(&error), head, out),
                }
            }
        }
    }

    fn on_event(&mut self, event: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) {
        with_each!(self, reply => reply.on_event(event, head, out));
    }

    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        head: &ResponseHead,
        out: &mut PieceSink,
    ) {
        with_each!(self, reply => reply.on_odd_data(text, error, head, out));
    }

    fn bare(&mut self) {
        with_each!(self, reply => reply.bare());
    }

    fn cut(&mut self) {
        with_each!(self, reply => reply.cut());
    }

    fn is_whole(&self) -> bool {
        with_each!(self, reply => reply.is_whole())
    }

    fn finish(&mut self) -> Result<Reply, ModelCallError> {
        with_each!(self, reply => reply.finish())
    }

    /// Reads a body of which nothing has been handed out.
    fn whole(
        &mut self,
        head: &ResponseHead,
        body: &[u8],
        out: &mut PieceSink,
    ) -> Result<(), ModelCallError> {
        let text = text_of(body);
        let text = finite(text.trim_start_matches('\u{feff}').trim());
        let document = JsonDocument::of(&text);
        let is_reply = head.is_success()
            && with_each!(self, reply => reply.on_whole(document.root(), head, out));
        if is_reply { Ok(()) } else { Err(of_body(head, &text)) }
    }
}
