//! The decoder of responses: the chunks of a stream, however framed, become a reply. A whole
//! response has the shape of a chunk.

use super::{
    super::{
        failure::{ModelCallError, of_value},
        finish::{FinishWords, finish_of, is_given, told},
        lenient::{Error, JsonDocument, ValueRef, text_of},
        piece::ReplyPiece,
        protocol::WireAccumulator,
        sink::PieceSink,
        stream_faults::DecodeFaults,
        values::JsonSplitter,
    },
    chunk::{
        GeminiCall, GeminiCandidate, GeminiChunk, GeminiPart, GeminiUsage, PromptFeedback, is_mark,
    },
    partial::PartialValue,
};
use alloc::{
    borrow::Cow,
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::mem;
use innerloop_types::{
    input::ResponseHead,
    message::{
        Block, CallDetail, FinishReason, MarkedText, ReasoningBlock, Reply, ToolCall, Usage,
    },
};

/// The reply while it arrives.
#[derive(Debug, Default)]
pub(crate) struct GeminiAccumulator {
    blocks: Vec<Block>,
    /// The call whose arguments come in pieces.
    open: Option<OpenCall>,
    reply: Reply,
    /// The reason why the reply ended, once it has.
    finish: Option<FinishReason>,
    /// The provider's words on that.
    says: Option<String>,
    /// The reason why the prompt was blocked, so that there is no reply at all.
    blocked: Option<String>,
    counts: Option<GeminiUsage>,
    /// The number of chunks of this protocol that have come.
    chunks: usize,
    /// True if the data is in no frame and no array.
    is_bare: bool,
    faults: DecodeFaults,
}

/// A call whose arguments come in pieces.
#[derive(Debug)]
struct OpenCall {
    /// Its block's index.
    at: usize,
    growing: PartialValue,
    /// True if the last piece of it said that more would come.
    is_cut: bool,
}

impl WireAccumulator for GeminiAccumulator {
    fn on_odd_data(
        &mut self,
        text: &str,
        error: Option<&Error>,
        head: &ResponseHead,
        out: &mut PieceSink,
    ) {
        if !text.contains('{') {
            self.faults.words(text);
        }
        // Chunks and errors may come without a frame among others that have one, several at once.
        let mut values = JsonSplitter::default();
        let mut on_value = |value: &[u8]| match JsonDocument::object(&text_of(value)) {
            Ok(Some(chunk)) => self.on_event(chunk.root(), head, out),
            Ok(None) => {}
            Err(inner) => {
                let error = error.unwrap_or(&inner);
                let message = || format!("the response holds what is not JSON: {error}");
                self.faults.unreadable.get_or_insert_with(message);
            }
        };
        values.feed(text.as_bytes(), &mut on_value);
        values.finish(&mut on_value);
    }

    fn on_event(&mut self, raw: ValueRef<'_>, head: &ResponseHead, out: &mut PieceSink) {
        let chunk = GeminiChunk::of(raw);
        if chunk.has_error {
            self.faults.report(|| of_value(head, raw));
            return;
        }
        self.chunks += usize::from(chunk.is_response());
        if let Some(newer) = chunk.counts {
            self.counts.get_or_insert_default().update(newer);
        }
        self.blocked = why_blocked(&chunk.feedback).or_else(|| self.blocked.take());
        let take = |to: &mut Option<String>, from: &Option<Cow<'_, str>>| {
            if to.is_none() {
                *to = from.as_deref().map(String::from);
            }
        };
        take(&mut self.reply.response_id, &chunk.response_id);
        take(&mut self.reply.model, &chunk.model);
        if let Some(candidate) = chunk.candidate() {
            self.on_candidate(candidate, out);
        }
    }

    fn bare(&mut self) {
        self.is_bare = true;
    }

    fn cut(&mut self) {
        self.finish = Some(FinishReason::Length);
        self.faults = DecodeFaults::default();
    }

    fn is_whole(&self) -> bool {
        // There is no terminal marker: only the end of the body shows that no chunk follows.
        self.faults.reported.is_some()
    }

    fn finish(&mut self) -> Result<Reply, ModelCallError> {
        // A call that is not whole must not run, and the loop runs no call of a reply that ended by
        // `Length`.
        let is_cut = self.open.as_ref().is_some_and(|open| open.is_cut);
        self.close_call();
        if self.chunks == 0 {
            let message = || String::from("the response is not of this protocol");
            self.faults.unreadable.get_or_insert_with(message);
        }
        // A stream in bare JSON is an array; a single object is a whole response, which may lack a
        // reason to end.
        let is_alone = self.is_bare && self.chunks == 1;
        let is_whole = is_alone || self.finish.is_some() || self.blocked.is_some();
        if let Some(failure) = self.faults.failure(is_whole) {
            return Err(failure);
        }
        let mut reply = mem::take(&mut self.reply);
        reply.usage = self.counts.map(usage);
        reply.blocks = mem::take(&mut self.blocks);
        let has_calls = reply.tool_calls().next().is_some();
        (reply.finish, reply.refusal) = match (self.finish, self.blocked.take()) {
            (Some(FinishReason::Stop), _) if is_cut => (FinishReason::Length, None),
            // The provider says STOP of replies with calls, too.
            (Some(FinishReason::Stop), _) if has_calls => (FinishReason::ToolCalls, None),
            (Some(FinishReason::Stop), _) => (FinishReason::Stop, None),
            (Some(finish), _) => (finish, self.says.take()),
            (None, Some(why)) => (FinishReason::ContentFilter, Some(why)),
            (None, None) => (FinishReason::Unknown, self.says.take()),
        };
        Ok(reply)
    }
}

impl GeminiAccumulator {
    fn on_candidate(&mut self, candidate: GeminiCandidate<'_>, out: &mut PieceSink) {
        for part in candidate.parts() {
            if out.is_full() {
                return;
            }
            self.on_part(part, out);
        }
        if let Some(reason) = candidate.finish_reason.as_ref().filter(|reason| is_given(reason)) {
            let finish = finish_of(&reason.to_ascii_uppercase(), REASONS);
            self.finish = Some(finish);
            self.reply.reason = told(finish, reason, None);
        }
        if let Some(message) = candidate.finish_message {
            self.says = Some(message.into_owned()).filter(|text| !text.is_empty());
        }
    }

    fn on_part(&mut self, raw: ValueRef<'_>, out: &mut PieceSink) {
        let GeminiPart { text, is_thought, signature, call } = GeminiPart::of(raw);
        let signature = signature.map(Cow::into_owned).filter(|signature| !signature.is_empty());
        if text.is_none() && call.is_none() && !is_mark(raw) {
            if let Some(json) = raw.to_json() {
                out.keep(json.text().len());
                self.begin(Block::Opaque(json), out);
            }
            return;
        }
        let text = text.map(Cow::into_owned).unwrap_or_default();
        match call {
            Some(call) => {
                self.on_text(text, None, out);
                self.on_call(&call, signature, out);
            }
            None if is_thought => self.on_thought(text, signature, out),
            None => self.on_text(text, signature, out),
        }
    }

    /// Takes text. With a signature it becomes a block of its own, since the signature goes back on
    /// that part alone.
    fn on_text(&mut self, text: String, signature: Option<String>, out: &mut PieceSink) {
        if !text.is_empty() {
            out.push(ReplyPiece::Text(text.clone()));
        }
        match (signature, self.blocks.last_mut()) {
            (Some(mark), _) => self.begin(Block::MarkedText(MarkedText { text, mark }), out),
            (None, _) if text.is_empty() => {}
            (None, Some(Block::Text(before))) => before.push_str(&text),
            (None, _) => self.begin(Block::Text(text), out),
        }
    }

    /// Begins a block, if there is room.
    fn begin(&mut self, block: Block, out: &mut PieceSink) {
        if out.item() {
            self.blocks.push(block);
        }
    }

    fn on_thought(&mut self, text: String, signature: Option<String>, out: &mut PieceSink) {
        if !text.is_empty() {
            out.push(ReplyPiece::Reasoning(text.clone()));
        }
        match (signature, self.blocks.last_mut()) {
            (None, _) if text.is_empty() => {}
            (None, Some(Block::Reasoning(before))) if before.signature.is_none() => {
                before.text.push_str(&text);
            }
            (signature, _) => {
                let thought = ReasoningBlock { text, signature, item: None };
                self.begin(Block::Reasoning(thought), out);
            }
        }
    }

    /// Takes a call, which comes whole, or as a name followed by pieces without a name and an empty
    /// end.
    fn on_call(&mut self, call: &GeminiCall<'_>, signature: Option<String>, out: &mut PieceSink) {
        let name = call.name.as_deref().unwrap_or_default();
        if name.is_empty() && (self.open.is_some() || call.args.is_null()) {
            return self.on_call_piece(call, out);
        }
        self.close_call();
        out.keep(call.args.json().len());
        let detail = signature.map(|signature| {
            Box::new(CallDetail { signature: Some(signature), ..CallDetail::default() })
        });
        let begun = ToolCall {
            id: call.id.to_string(),
            name: name.into(),
            arguments: call.args.some().map_or("{}", ValueRef::json).into(),
            detail,
        };
        let grows = call.goes_on || !call.pieces.is_null();
        // Pieces with paths come in any order, which cannot be shown as text that grows.
        let said = if grows { "" } else { &begun.arguments };
        out.call(self.blocks.len(), &begun.id, name, said);
        self.begin(Block::ToolCall(begun), out);
        if grows {
            let at = self.blocks.len().saturating_sub(1);
            self.open =
                Some(OpenCall { at, growing: PartialValue::new(call.args, out), is_cut: true });
            self.on_call_piece(call, out);
        }
    }

    /// Takes a piece of the open call. One without `willContinue` ends the call: an empty one, or
    /// the last of the arguments. Later pieces of the same call are still taken.
    fn on_call_piece(&mut self, call: &GeminiCall<'_>, out: &mut PieceSink) {
        let mut pieces = call.pieces.items();
        let is_placed = match &mut self.open {
            Some(open) => {
                let goes_on = |piece: ValueRef<'_>| {
                    let [goes_on] = piece.camel_fields(&["willContinue"]);
                    goes_on.is_true()
                };
                open.is_cut = call.goes_on || call.pieces.items().last().is_some_and(goes_on);
                pieces.all(|piece| open.growing.put(piece, out).is_some())
            }
            None => pieces.next().is_none(),
        };
        if !is_placed {
            let message = "the response holds a piece of a call that has no place";
            self.faults.unreadable.get_or_insert_with(|| message.into());
        }
        if call.name.is_none() && call.pieces.is_null() && !call.goes_on {
            self.close_call();
        }
    }

    fn close_call(&mut self) {
        let Some(OpenCall { at, growing, .. }) = self.open.take() else { return };
        if let Some(Block::ToolCall(call)) = self.blocks.get_mut(at) {
            call.arguments = growing.json();
        }
    }
}

/// Returns the provider's reason for blocking the prompt, if it did.
fn why_blocked(feedback: &PromptFeedback<'_>) -> Option<String> {
    let reason = feedback.reason.as_ref()?;
    Some(match &feedback.message {
        Some(message) => format!("the prompt was blocked ({reason}): {message}"),
        None => format!("the prompt was blocked ({reason})"),
    })
}

/// The provider's words for the reasons why a reply ended, in capitals. Some clients ask for
/// numbers instead; only those are read on which both of the provider's APIs agree.
const REASONS: &FinishWords = &[
    (FinishReason::Stop, "STOP|1"),
    // The provider lets a reply that ended with CONTINUATION be continued.
    (FinishReason::Length, "MAX_TOKENS|CONTINUATION|2"),
    (
        FinishReason::ContentFilter,
        "SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|ESCALATION|IMAGE_SAFETY|\
         IMAGE_PROHIBITED_CONTENT|IMAGE_RECITATION|3|4|7|8",
    ),
    (
        FinishReason::MalformedToolCall,
        "MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS",
    ),
    (
        FinishReason::Error,
        "OTHER|LANGUAGE|MALFORMED_RESPONSE|MISSING_THOUGHT_SIGNATURE|IMAGE_OTHER|NO_IMAGE|\
         PUP_LIMITED_DISABLED|5",
    ),
];

/// Returns the counts in our terms. The prompt's count includes what came from the cache; what the
/// provider's own tools read (`toolUsePromptTokenCount`) is no part of the prompt and stays out.
fn usage(counts: GeminiUsage) -> Usage {
    let thoughts = counts.thoughts.unwrap_or_default();
    Usage {
        input_total: counts.prompt.unwrap_or_default(),
        // `candidatesTokenCount` leaves the thoughts out.
        output_total: counts.candidates.unwrap_or_default().saturating_add(thoughts),
        cache_read: counts.cached.unwrap_or_default(),
        cache_write: 0,
        reasoning: thoughts,
    }
}
