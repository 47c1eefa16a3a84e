//! A response's bytes to a reply: the chunks of a stream, however framed, or a whole response,
//! which has the shape of a chunk.

use super::{
    super::{
        failure::{Failure, FailureKind, of_value},
        lenient::Fields,
        piece::Piece,
        values::Values,
    },
    chunk::{Call, Candidate, Chunk, Counts, Feedback, Part, Text},
    partial::Growing,
};
use crate::{
    base::json::Json,
    types::{
        config::WireKind,
        input::ResponseHead,
        message::{Block, CallDetail, Finish, MarkedText, Reasoning, Reply, ToolCall, Usage},
    },
};
use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use serde_json::{Value, value::RawValue};

/// The reply while it arrives.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Draft {
    blocks: Vec<Block>,
    /// The call whose arguments come in pieces: its block's index, and the pieces so far.
    open: Option<(usize, Growing)>,
    reply: Reply,
    /// Why the reply ended, once it has.
    finish: Option<Finish>,
    /// The provider's words on that.
    says: Option<String>,
    /// Why there is no reply at all.
    blocked: Option<String>,
    counts: Option<Counts>,
    /// How many chunks of this protocol have come.
    chunks: usize,
    failure: Option<Failure>,
    /// What could not be read: the reply is not whole without it.
    unreadable: Option<String>,
}

impl Draft {
    pub(in super::super) fn on_data(
        &mut self,
        data: &[u8],
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        let text = String::from_utf8_lossy(data);
        match Chunk::parse(&text) {
            Ok(chunk) => self.on_chunk(&chunk, &text, head, out),
            Err(error) => self.on_odd_data(&text, &error, head, out),
        }
    }

    /// Data that is not one object: an array with an error in it, several values, or one that was
    /// cut. What holds no object (`[DONE]` and the like) loses nothing.
    fn on_odd_data(
        &mut self,
        text: &str,
        error: &serde_json::Error,
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        let mut values = Values::default();
        let mut on_value = |value: &[u8]| {
            let text = String::from_utf8_lossy(value);
            if let Ok(chunk) = Chunk::parse(&text) {
                self.on_chunk(&chunk, &text, head, out);
            } else {
                let message = || format!("the response holds what is not JSON: {error}");
                self.unreadable.get_or_insert_with(message);
            }
        };
        values.feed(text.as_bytes(), &mut on_value);
        values.finish(&mut on_value);
    }

    /// `text` is the chunk's own.
    fn on_chunk(
        &mut self,
        chunk: &Chunk<'_>,
        text: &str,
        head: &ResponseHead,
        out: &mut Vec<Piece>,
    ) {
        if chunk.error.is_some() {
            let value = serde_json::from_str::<Value>(text).unwrap_or_default();
            self.failure.get_or_insert_with(|| of_value(head, &value));
            return;
        }
        if chunk.is_response() {
            self.chunks += 1;
        }
        if let Some(newer) = chunk.usage_metadata {
            self.counts.get_or_insert_default().update(newer);
        }
        if let Some(feedback) = &chunk.prompt_feedback {
            self.blocked = why_blocked(feedback).or_else(|| self.blocked.take());
        }
        let take = |to: &mut Option<String>, from: &Option<Text<'_>>| {
            if let (None, Some(Text(text))) = (&to, from) {
                *to = Some(text.to_string());
            }
        };
        take(&mut self.reply.response_id, &chunk.response_id);
        take(&mut self.reply.model, &chunk.model_version);
        if let Some(candidate) = chunk.candidate() {
            self.on_candidate(candidate, out);
        }
    }

    fn on_candidate(&mut self, candidate: &Candidate<'_>, out: &mut Vec<Piece>) {
        for raw in candidate.parts() {
            // What is no object is no part.
            if let Ok(part) = Part::parse(raw.get()) {
                self.on_part(part, raw, out);
            }
        }
        if let Some(Text(reason)) = &candidate.finish_reason {
            self.finish = Some(finish_of(reason));
        }
        if let Some(Text(message)) = &candidate.finish_message {
            self.says = Some(message.to_string()).filter(|text| !text.is_empty());
        }
    }

    fn on_part(&mut self, part: Part<'_>, raw: &RawValue, out: &mut Vec<Piece>) {
        let Part { text, thought, thought_signature, function_call } = part;
        let signature = thought_signature.map(|Text(signature)| signature.into_owned());
        let signature = signature.filter(|signature| !signature.is_empty());
        let text = text.map(|Text(text)| text.into_owned());
        match (text, function_call) {
            (text, Some(call)) => {
                self.on_text(text.unwrap_or_default(), None, out);
                self.on_call(&call, signature);
            }
            (Some(text), None) if thought == Some(true) => self.on_thought(text, signature, out),
            (Some(text), None) => self.on_text(text, signature, out),
            (None, None) => {
                let fields = Fields::parse(raw.get()).unwrap_or_default();
                let is_mark = |name: &str| {
                    matches!(name, "thought" | "thoughtSignature" | "thought_signature")
                };
                if !fields.names().all(is_mark) {
                    self.blocks.extend(Json::parse(raw.get()).ok().map(Block::Opaque));
                } else if thought == Some(true) {
                    self.on_thought(String::new(), signature, out);
                } else {
                    self.on_text(String::new(), signature, out);
                }
            }
        }
    }

    /// Text that carries a signature stays apart, since the signature goes back on it alone.
    fn on_text(&mut self, text: String, signature: Option<String>, out: &mut Vec<Piece>) {
        if !text.is_empty() {
            out.push(Piece::Text(text.clone()));
        }
        match (signature, self.blocks.last_mut()) {
            (Some(mark), _) => self.blocks.push(Block::MarkedText(MarkedText { text, mark })),
            (None, _) if text.is_empty() => {}
            (None, Some(Block::Text(before))) => before.push_str(&text),
            (None, _) => self.blocks.push(Block::Text(text)),
        }
    }

    fn on_thought(&mut self, text: String, signature: Option<String>, out: &mut Vec<Piece>) {
        if !text.is_empty() {
            out.push(Piece::Reasoning(text.clone()));
        }
        match (signature, self.blocks.last_mut()) {
            (None, _) if text.is_empty() => {}
            (None, Some(Block::Reasoning(before))) if before.signature.is_none() => {
                before.text.push_str(&text);
            }
            (signature, _) => {
                self.blocks.push(Block::Reasoning(Reasoning { text, signature, item: None }));
            }
        }
    }

    /// A call comes whole, or as a name followed by nameless pieces and a nameless empty end.
    fn on_call(&mut self, call: &Call<'_>, signature: Option<String>) {
        let name = call.name.as_ref().map_or("", |Text(name)| name);
        if name.is_empty() && (self.open.is_some() || call.args.is_none()) {
            return self.on_call_piece(call);
        }
        self.close_call();
        let detail = signature.map(|signature| {
            Box::new(CallDetail { signature: Some(signature), ..CallDetail::default() })
        });
        self.blocks.push(Block::ToolCall(ToolCall {
            id: call.id.as_ref().map(|Text(id)| id.to_string()).unwrap_or_default(),
            name: name.into(),
            arguments: call.args.map_or("{}", RawValue::get).into(),
            detail,
        }));
        if call.will_continue == Some(true) || call.partial_args.is_some() {
            let at = self.blocks.len().saturating_sub(1);
            self.open = Some((at, Growing::new(call.args)));
            self.on_call_piece(call);
        }
    }

    fn on_call_piece(&mut self, call: &Call<'_>) {
        let pieces = call.partial_args.iter().flatten();
        let is_placed = match &mut self.open {
            Some((_, growing)) => pieces.map(|piece| growing.put(piece)).all(|put| put.is_some()),
            None => pieces.count() == 0,
        };
        if !is_placed {
            let message = "the response holds a piece of a call that has no place";
            self.unreadable.get_or_insert_with(|| message.into());
        }
        if call.name.is_none() && call.partial_args.is_none() && call.will_continue != Some(true) {
            self.close_call();
        }
    }

    fn close_call(&mut self) {
        let Some((at, growing)) = self.open.take() else { return };
        if let Some(Block::ToolCall(call)) = self.blocks.get_mut(at) {
            call.arguments = growing.json();
        }
    }

    pub(in super::super) fn finish(mut self, is_bare: bool) -> Result<Reply, Failure> {
        self.close_call();
        // A stream in bare JSON is an array; a single object is a whole response.
        let is_whole = is_bare && self.chunks == 1;
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let broken = if let Some(why) = self.unreadable {
            Some(why)
        } else if self.chunks == 0 {
            Some("the response is not of this protocol".into())
        } else if self.finish.is_none() && self.blocked.is_none() && !is_whole {
            Some("the stream ended before the reply was whole".into())
        } else {
            None
        };
        if let Some(message) = broken {
            return Err(Failure::new(FailureKind::Protocol, message));
        }
        let mut reply = self.reply;
        reply.wire = Some(WireKind::Gemini);
        reply.usage = self.counts.map(usage);
        reply.blocks = self.blocks;
        let has_calls = reply.tool_calls().next().is_some();
        (reply.finish, reply.refusal) = match (self.finish, self.blocked) {
            (Some(Finish::Stop), _) if has_calls => (Finish::ToolCalls, None),
            (Some(Finish::Stop), _) => (Finish::Stop, None),
            (Some(finish), _) => (finish, self.says),
            (None, Some(why)) => (Finish::ContentFilter, Some(why)),
            (None, None) => (Finish::Unknown, self.says),
        };
        // A reply is kept as long as the session: what it does not need goes back.
        reply.blocks.shrink_to_fit();
        Ok(reply)
    }
}

/// What the provider says of a prompt that it did not let through.
fn why_blocked(feedback: &Feedback<'_>) -> Option<String> {
    let Text(reason) = feedback.block_reason.as_ref()?;
    Some(match &feedback.block_reason_message {
        Some(Text(message)) => format!("the prompt was blocked ({reason}): {message}"),
        None => format!("the prompt was blocked ({reason})"),
    })
}

/// WIRE.md A6. Names come in capitals, which the provider's own library does not insist on. Some
/// clients ask for numbers instead; those are read on which both of the provider's APIs agree.
fn finish_of(reason: &str) -> Finish {
    match reason.to_ascii_uppercase().as_str() {
        "STOP" | "1" => Finish::Stop,
        // The reply may be gone on with.
        "MAX_TOKENS" | "CONTINUATION" | "2" => Finish::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "ESCALATION"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "3"
        | "4"
        | "7"
        | "8" => Finish::ContentFilter,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => {
            Finish::MalformedToolCall
        }
        "OTHER"
        | "LANGUAGE"
        | "MALFORMED_RESPONSE"
        | "MISSING_THOUGHT_SIGNATURE"
        | "IMAGE_OTHER"
        | "NO_IMAGE"
        | "PUP_LIMITED_DISABLED"
        | "5" => Finish::Error,
        _ => Finish::Unknown,
    }
}

/// The prompt's count holds what came from the cache. What the provider's own tools read
/// (`toolUsePromptTokenCount`) is no part of the prompt and stays out.
fn usage(counts: Counts) -> Usage {
    let Counts {
        prompt_token_count: prompt,
        cached_content_token_count: cached,
        candidates_token_count: candidates,
        thoughts_token_count: thoughts,
    } = counts;
    let thoughts = thoughts.unwrap_or_default();
    Usage {
        input_total: prompt.unwrap_or_default(),
        output_total: candidates.unwrap_or_default().saturating_add(thoughts),
        cache_read: cached.unwrap_or_default(),
        cache_write: 0,
        reasoning: thoughts,
    }
}
