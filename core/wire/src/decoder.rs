//! The reading of one response. Its body is split into data here, the protocol's accumulator
//! gathers the reply from that, and where the model's configuration asks for it, calls are looked
//! for in the text as well. The reply is the same however the bytes are cut.

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
use alloc::vec::Vec;
use core::mem;
use innerloop_types::{
    config::{ModelConfig, ResponseLimits, WireKind},
    input::ResponseHead,
    message::Reply,
    tool::ToolSpec,
};

/// Reads one response.
#[derive(Debug)]
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
#[derive(Debug)]
enum ReplyAccumulator {
    Anthropic(<AnthropicMessages as WireProtocol>::Accumulator),
    Gemini(<GeminiContent as WireProtocol>::Accumulator),
    Ollama(<OllamaChat as WireProtocol>::Accumulator),
    OpenaiChat(<ChatCompletions as WireProtocol>::Accumulator),
    OpenaiResponses(<OpenAiResponses as WireProtocol>::Accumulator),
}

impl Decoder {
    /// Makes a decoder for the response that begins with `head`, within the default limits.
    #[must_use]
    pub fn new(wire: WireKind, head: &ResponseHead) -> Self {
        Self::within(ResponseLimits::default(), wire, head)
    }

    /// Makes a decoder for the response that begins with `head`. It reads no more than `limits`
    /// allow, and at most 1 MiB of an error's body.
    #[must_use]
    pub fn within(limits: ResponseLimits, wire: WireKind, head: &ResponseHead) -> Self {
        let bare = with_wire!(wire, W => W::BARE);
        let (body, reply) = (ResponseBody::new(head, bare), ReplyAccumulator::new(wire));
        let sink = PieceSink::new(head, limits);
        let (in_text, is_heard) = (None, false);
        Self { wire, head: head.clone(), body, reply, in_text, sink, is_heard }
    }

    /// Looks for calls in the text as well, if the model's configuration asks for it.
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
        // Bytes beyond the limit are dropped before they are framed, so that no single read exceeds
        // it.
        let bytes = sink.admit(bytes);
        body.feed(bytes, &mut |data| {
            *is_heard |= !is_ping(data);
            reply.on_data(data, head, sink);
        });
        // Part of a long event or of a whole body is news as well, though nothing can be read of it
        // yet.
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

    /// Returns whether the rest of the body does not count: the stream's terminal marker has come,
    /// so that the reply is whole whatever becomes of the connection, an error has come, or a limit
    /// is exceeded. Gemini has no such marker: its last chunk is the one before the end of the
    /// body.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        if self.sink.is_full() {
            return true;
        }
        self.reply.is_whole()
    }

    /// Returns the whole reply, once the body has ended.
    ///
    /// # Errors
    /// Fails with the provider's error, or if the body was cut, is not of this protocol, or exceeds
    /// a limit.
    pub fn finish(self) -> Result<Reply, ModelCallError> {
        self.finish_into(&mut Vec::new())
    }

    /// Returns the whole reply as [`Self::finish`] does, and appends what has not been handed out
    /// of it to `out`.
    ///
    /// # Errors
    /// Fails as [`Self::finish`] does.
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
            reply.tool_calls().for_each(|call| sink.arguments(&call.arguments));
        }
        // Only the beginning of an error's body is read, on purpose: what it says counts more than
        // that it was cut there.
        if let Some(mut failure) = sink.failure().filter(|_| head.is_success()) {
            failure.said = reply.map(|reply| reply.text()).unwrap_or_default();
            reply = Err(failure);
        }
        reply.map_err(|failure| failure.with_head(head))
    }

    /// Returns the reply once the body has ended, or as much of it as had come when a limit was
    /// exceeded.
    fn read(&mut self) -> Result<Reply, ModelCallError> {
        let Self { head, body, reply, sink, .. } = self;
        // What is read only now is part of the reply that is returned, so nobody has to see it in
        // pieces.
        sink.unseen();
        let ended = body.finish(&mut |data| reply.on_data(data, head, sink));
        let is_cut = sink.is_full() && head.is_success();
        match ended {
            // A limit goes first: a body that was cut says nothing reliable about its own end.
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

/// Returns whether an event only shows that the connection is alive.
fn is_ping(data: &[u8]) -> bool {
    // Anthropic's pings are this short. Longer data is not searched: it carries text or calls, and
    // a model may write the word.
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
                // `NaN` and its like are looked for only in data that is not JSON, so that good
                // data is not searched.
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

    /// Reads a whole body of which nothing has been handed out. Fails if it is not a reply.
    fn whole(
        &mut self,
        head: &ResponseHead,
        body: &[u8],
        out: &mut PieceSink,
    ) -> Result<(), ModelCallError> {
        let text = text_of(body);
        // OpenRouter sends blank lines before a body to keep the connection alive.
        let text = finite(text.trim_start_matches('\u{feff}').trim());
        let document = JsonDocument::of(&text);
        let is_reply = head.is_success()
            && with_each!(self, reply => reply.on_whole(document.root(), head, out));
        if is_reply { Ok(()) } else { Err(of_body(head, &text)) }
    }
}
