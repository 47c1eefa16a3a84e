//! The decoder of responses: the chunks of a stream, or a whole body, become a reply.

use super::{
    super::{
        failure::{ModelCallError, of_value},
        lenient::{Error, ValueRef},
        protocol::WireAccumulator,
        sink::PieceSink,
        stream_faults::DecodeFaults,
    },
    answer::PartialReply,
    chunk::ChatChunk,
};
use core::mem;
use innerloop_types::{input::ResponseHead, message::Reply};

/// The reply while it is streamed.
#[derive(Debug, Default)]
pub(crate) struct ChatAccumulator {
    answer: PartialReply,
    /// True if `[DONE]` has come, so that what follows does not count.
    done: bool,
    faults: DecodeFaults,
}

impl WireAccumulator for ChatAccumulator {
    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        _: &ResponseHead,
        _: &mut PieceSink,
    ) {
        match error {
            // What breaks behind the terminal marker costs nothing: the reply is whole.
            Some(_) if self.done => {}
            _ => self.faults.odd_data(text, error),
        }
        self.done |= error.is_none() && text.starts_with("[DONE]");
    }

    fn on_whole(&mut self, body: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) -> bool {
        let chunk = ChatChunk::of(body);
        if !body.is_object() || chunk.is_error() {
            return false;
        }
        self.done = self.answer.whole(&chunk, out);
        if let Some(broken) = chunk.broken_choice().filter(|_| !self.answer.is_at_limit(&chunk)) {
            self.faults.report(|| of_value(head, broken));
        }
        self.done
    }

    fn on_event(&mut self, raw: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) {
        if self.done {
            return;
        }
        let chunk = ChatChunk::of(raw);
        let error = match chunk.is_error() {
            true if chunk.error.is_null() => Some(chunk.groq.or(raw)),
            true => Some(raw),
            false => chunk.broken_choice(),
        };
        match error.filter(|_| !self.answer.is_at_limit(&chunk)) {
            Some(error) => self.faults.report(|| of_value(head, error)),
            None => self.answer.chunk(&chunk, out),
        }
    }

    fn cut(&mut self) {
        self.done = true;
        self.answer.cut();
        self.faults = DecodeFaults::default();
    }

    fn is_whole(&self) -> bool {
        self.done || self.faults.reported.is_some()
    }

    fn finish(&mut self) -> Result<Reply, ModelCallError> {
        if self.answer.is_damaged() {
            self.faults.unreadable("half a surrogate pair in a call");
        }
        // Perplexity and Groq may leave `[DONE]` out: a reason to end is enough.
        let is_whole = self.done || self.answer.is_finished();
        match self.faults.failure(is_whole) {
            Some(failure) => Err(failure),
            None => Ok(mem::take(&mut self.answer).finish()),
        }
    }
}
