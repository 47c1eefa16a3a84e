//! A response's bytes to a reply: the chunks of a stream, or a whole body.

use super::{
    super::{
        failure::{Failure, FailureKind, of_body, of_value},
        piece::Piece,
    },
    accumulator::Draft,
    chunk::Chunk,
    halves,
};
use crate::{
    base::json::without_lone_surrogates,
    types::{input::ResponseHead, message::Reply},
};
use alloc::{format, string::String, vec::Vec};
use serde_json::Value;

/// A body that is no stream: an answer, or an error.
pub(in super::super) fn whole(head: &ResponseHead, body: &[u8]) -> Result<Reply, Failure> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let mut draft = Draft::default();
    let read = |text: &str, draft: &mut Draft| match serde_json::from_str::<Chunk<'_>>(text) {
        Ok(chunk) if chunk.is_error() => false,
        Ok(chunk) => draft.whole(chunk),
        Err(_) => false,
    };
    let is_answer = head.is_success()
        && (read(text, &mut draft)
            || renewed(text).is_some_and(|renewed| read(&renewed, &mut draft)));
    if is_answer { Ok(draft.finish()) } else { Err(of_body(head, text.as_bytes())) }
}

/// JSON text that serde refuses and others take, in a form that it takes: half surrogate pairs
/// become one character, and of repeated keys the last one stays.
fn renewed(text: &str) -> Option<String> {
    let value = serde_json::from_str::<Value>(&without_lone_surrogates(text)).ok()?;
    value.is_object().then(|| format!("{value}"))
}

/// The reply while it is streamed.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Stream {
    draft: Draft,
    /// The first half of a surrogate pair whose second half may begin the next chunk.
    half: Option<String>,
    /// `[DONE]` has come: what follows does not count.
    done: bool,
    failure: Option<Failure>,
    /// Data that could not be read: the reply is not whole without it.
    unreadable: Option<String>,
}

impl Stream {
    pub(in super::super) fn on_data(
        &mut self,
        data: &[u8],
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        let text = String::from_utf8_lossy(data);
        let text = text.trim();
        if self.done || text.starts_with("[DONE]") {
            self.done = true;
            return;
        }
        if let Some(half) = self.half.take() {
            if let Some(joined) = halves::joined(&half, text) {
                return self.on_text(&joined, head, out);
            }
            self.lose(out);
        }
        self.on_text(text, head, out);
    }

    fn on_text(&mut self, text: &str, head: &ResponseHead, out: &mut Vec<Piece>) {
        match serde_json::from_str(text) {
            Ok(chunk) => self.on_chunk(chunk, text, head, out),
            Err(error) => self.on_odd_text(text, &error, head, out),
        }
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk<'_>,
        text: &str,
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        if chunk.is_error() {
            let value = serde_json::from_str::<Value>(text).unwrap_or_default();
            let groq = value.get("x_groq").filter(|_| chunk.error.is_none());
            self.failure = Some(of_value(head, groq.unwrap_or(&value)));
        } else {
            self.draft.chunk(chunk, out);
        }
    }

    /// Data that does not parse. Half a surrogate pair costs at most one character of a text; a
    /// lost piece of a call would change what the call does, so that it makes the reply
    /// unreadable. What is no object loses nothing.
    fn on_odd_text(
        &mut self,
        text: &str,
        error: &serde_json::Error,
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        let split = halves::split_off_first(text);
        let whole = split.as_ref().map_or(text, |(rest, _)| rest);
        match (serde_json::from_str::<Chunk<'_>>(whole), renewed(whole)) {
            (Ok(chunk), _) => self.on_chunk(chunk, whole, head, out),
            (Err(_), Some(renewed)) => {
                let chunk = serde_json::from_str::<Chunk<'_>>(&renewed).unwrap_or_default();
                if chunk.has_calls() && renewed.contains('\u{fffd}') {
                    self.unreadable.get_or_insert_with(|| format!("{error}"));
                } else {
                    self.on_chunk(chunk, &renewed, head, out);
                }
            }
            (Err(_), None) if text.starts_with('{') => {
                self.unreadable.get_or_insert_with(|| format!("{error}"));
            }
            (Err(_), None) => {}
        }
        self.half = split.map(|(_, half)| half);
    }

    /// The second half of a pair never came.
    fn lose(&mut self, out: &mut Vec<Piece>) {
        if !self.draft.replacement(out) {
            self.unreadable.get_or_insert_with(|| "half a surrogate pair in a call".into());
        }
    }

    /// Whether the terminal marker has come: nothing that follows counts.
    pub(in super::super) const fn is_whole(&self) -> bool {
        self.done
    }

    pub(in super::super) fn finish(mut self) -> Result<Reply, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.half.take().is_some() {
            self.lose(&mut Vec::new());
        }
        if let Some(error) = self.unreadable {
            let message = format!("the stream holds what is not JSON: {error}");
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        if !self.done && !self.draft.is_finished() {
            let message = "the stream ended before the reply was whole";
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        Ok(self.draft.finish())
    }
}
