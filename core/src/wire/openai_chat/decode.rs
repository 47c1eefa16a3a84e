//! A response's bytes to a reply: the chunks of a stream, or a whole body.

use super::{
    super::{
        failure::{Failure, of_body, of_value},
        lenient::{Document, Raw, text_of},
        piece::Piece,
    },
    answer::Answer,
    chunk::Chunk,
};
use crate::types::{input::ResponseHead, message::Reply};
use alloc::{format, string::String, vec::Vec};

/// Reads a body that is not a stream: an answer or an error.
pub(crate) fn whole(head: &ResponseHead, body: &[u8]) -> Result<Reply, Failure> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let document = Document::of(text);
    let chunk = document.root().some().filter(|raw| raw.is_object()).map(Chunk::of);
    let mut reply = Accumulator { done: true, ..Accumulator::default() };
    match chunk.filter(|chunk| head.is_success() && !chunk.is_error()) {
        Some(chunk) if reply.answer.whole(&chunk) => reply.finish(),
        _ => Err(of_body(head, text.as_bytes())),
    }
}

/// The reply while it is streamed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accumulator {
    answer: Answer,
    /// `[DONE]` has come: what follows does not count.
    done: bool,
    failure: Option<Failure>,
    /// Data that could not be read: the reply is not whole without it.
    unreadable: Option<String>,
}

impl Accumulator {
    pub(crate) fn on_data(&mut self, data: &[u8], head: &ResponseHead, out: &mut Vec<Piece>) {
        let text = text_of(data);
        let text = text.trim();
        self.done |= text.starts_with("[DONE]");
        if self.done {
            return;
        }
        match Document::object(text) {
            Ok(Some(chunk)) => self.on_chunk(chunk.root(), head, out),
            // Anything that is not an object is ignored.
            Ok(None) => {}
            Err(error) => {
                self.unreadable.get_or_insert_with(|| format!("{error}"));
            }
        }
    }

    fn on_chunk(&mut self, raw: Raw<'_>, head: &ResponseHead, out: &mut Vec<Piece>) {
        let chunk = Chunk::of(raw);
        if chunk.is_error() {
            let value = if chunk.error.is_null() { chunk.groq.or(raw) } else { raw };
            self.failure = Some(of_value(head, value));
        } else {
            self.answer.chunk(&chunk, out);
        }
    }

    /// Whether the terminal marker has come: nothing that follows counts.
    pub(crate) const fn is_whole(&self) -> bool {
        self.done
    }

    pub(crate) fn finish(self) -> Result<Reply, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let unreadable = self
            .unreadable
            .or_else(|| self.answer.is_damaged().then(|| "half a surrogate pair in a call".into()));
        if let Some(error) = unreadable {
            return Err(Failure::unreadable(&error));
        }
        if !self.done && !self.answer.is_finished() {
            return Err(Failure::cut());
        }
        Ok(self.answer.finish())
    }
}
