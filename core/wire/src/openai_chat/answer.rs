//! The reply of Chat Completions while it arrives: text, thinking and calls in the order in which
//! they began, whatever the dialect.

use super::{
    super::{
        finish::{FinishWords, finish_of, is_given, told},
        lenient::ValueRef,
        piece::ReplyPiece,
        sink::PieceSink,
        surrogates::PendingSurrogate,
    },
    calls::CallList,
    chunk::{ChatCall, ChatChoice, ChatChunk, ChatDelta},
    details::{self, DetailList},
    usage::usage,
};
use alloc::{borrow::Cow, string::String, vec::Vec};
use innerloop_types::message::{Block, FinishReason, ReasoningBlock, Reply};

/// The part of a reply that has come so far.
#[derive(Debug, Default)]
pub(super) struct PartialReply {
    /// Text, thinking and calls, in the order in which they began, each with its choice.
    runs: Vec<(u64, ReplySegment)>,
    /// The choice that is read.
    choice: u64,
    /// The last choice that has come.
    last_choice: u64,
    /// True if the choices are several answers, of which only the first counts.
    are_several: bool,
    calls: CallList,
    details: DetailList,
    refusal: String,
    finish: Option<FinishReason>,
    /// The choice that gave that reason.
    finished_by: u64,
    /// True if a call goes on behind that reason: Together gives one with each call.
    is_resumed: bool,
    reply: Reply,
}

/// A stretch of one kind.
#[derive(Debug)]
enum ReplySegment {
    Said(TextSegment),
    /// The call's position among the calls.
    Call(usize),
}

/// A stretch of text or thinking.
#[derive(Debug)]
struct TextSegment {
    kind: SegmentKind,
    text: String,
    surrogate: PendingSurrogate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentKind {
    Text,
    Reasoning,
}

impl PartialReply {
    /// Returns whether the provider has said why the reply ended, and nothing of it behind that.
    pub(super) const fn is_finished(&self) -> bool {
        self.finish.is_some() && !self.is_resumed
    }

    /// Returns whether a call lacks half of a surrogate pair.
    pub(super) fn is_damaged(&self) -> bool {
        self.calls.are_damaged()
    }

    /// Takes a chunk. One answer was asked for, so all choices belong to it: z.ai has counted their
    /// index up from thinking to text to calls. Several answers are known by an index that goes
    /// back.
    pub(super) fn chunk(&mut self, chunk: &ChatChunk<'_>, out: &mut PieceSink) {
        self.meta(chunk);
        for choice in chunk.choices() {
            self.choice(&choice, false, out);
        }
    }

    /// Takes a whole body. Returns whether it holds an answer.
    pub(super) fn whole(&mut self, chunk: &ChatChunk<'_>, out: &mut PieceSink) -> bool {
        self.meta(chunk);
        let mut is_answer = false;
        for choice in chunk.choices() {
            self.choice(&choice, true, out);
            is_answer = true;
        }
        if is_answer {
            self.finish.get_or_insert(FinishReason::Unknown);
        }
        is_answer
    }

    /// Returns whether the output limit has ended the answer. An error beside or behind that then
    /// says no more than the same: OpenRouter sends "Token limit reached".
    pub(super) fn is_at_limit(&self, chunk: &ChatChunk<'_>) -> bool {
        let told = chunk.choices().find_map(|choice| reason(&choice));
        told.or(self.finish) == Some(FinishReason::Length)
    }

    /// Ends the reply here, as cut.
    pub(super) fn cut(&mut self) {
        (self.finish, self.is_resumed) = (Some(FinishReason::Length), false);
    }

    fn meta(&mut self, chunk: &ChatChunk<'_>) {
        let latch = |known: &mut Option<String>, fresh: ValueRef<'_>| {
            if known.is_none() {
                *known = fresh.word().map(Cow::into_owned);
            }
        };
        latch(&mut self.reply.response_id, chunk.id);
        latch(&mut self.reply.model, chunk.model);
        // Usage comes in a last chunk of its own, with the last choice, in every chunk, or from
        // Groq in a field of its own: the newest that says something counts.
        let own = if chunk.usage.is_object() { chunk.usage } else { chunk.groq.field("usage") };
        self.reply.usage = usage(own).or(self.reply.usage);
    }

    fn choice(&mut self, choice: &ChatChoice<'_>, whole: bool, out: &mut PieceSink) {
        let index = choice.index.count().unwrap_or_default();
        self.are_several |= !whole && index < self.last_choice && choice.says_something();
        if out.is_full() || (self.are_several && index > 0) {
            return;
        }
        if self.are_several {
            self.keep_first(out);
        }
        (self.choice, self.last_choice) = (index, index.max(self.last_choice));
        let is_empty = self.runs.is_empty();
        match (choice.delta.is_object(), choice.message.is_object()) {
            (true, has_message) if !whole || !has_message => {
                self.delta(&ChatDelta::of(choice.delta), whole, out);
            }
            // Where both stand in a stream, the message repeats what the deltas said.
            (_, true) if whole || is_empty => self.delta(&ChatDelta::of(choice.message), true, out),
            (false, false) => self.take(SegmentKind::Text, choice.text, out),
            _ => {}
        }
        if let Some(usage) = usage(choice.usage) {
            self.reply.usage.get_or_insert(usage);
        }
        if let Some(finish) = reason(choice) {
            // The first reason stays: OpenRouter sends it twice.
            if self.finish.is_none() {
                let native = choice.native_reason.word();
                let word = choice.finish_reason.word().unwrap_or_default();
                let native = native.as_deref().filter(|native| !native.eq_ignore_ascii_case(&word));
                self.reply.reason = told(finish, &word, native);
            }
            if self.finish.is_none() {
                (self.finish, self.finished_by) = (Some(finish), index);
            }
            self.is_resumed = false;
        }
    }

    fn delta(&mut self, delta: &ChatDelta<'_>, whole: bool, out: &mut PieceSink) {
        self.details.take(delta.reasoning_details, out);
        // OpenRouter says the same thinking in `reasoning` and in the details: only one is shown.
        let thought = delta.reasoning.iter().find(|text| text.has_text());
        match thought {
            Some(&text) => self.take(SegmentKind::Reasoning, text, out),
            None => {
                for detail in delta.reasoning_details.objects() {
                    self.take(SegmentKind::Reasoning, details::text(detail), out);
                }
            }
        }
        self.content(delta, out);
        self.refuse(delta.refusal, out);
        for call in delta.tool_calls.objects().map(ChatCall::of) {
            self.is_resumed |= self.finish.is_some() && call.says_something();
            let begun = self.calls.take(&call, whole, out);
            self.runs.extend(begun.map(|call| (self.choice, ReplySegment::Call(call))));
        }
        if delta.function_call.is_object() {
            let begun = self.calls.take_legacy(&ChatCall::of_function(delta.function_call), out);
            self.runs.extend(begun.map(|call| (self.choice, ReplySegment::Call(call))));
        }
    }

    fn content(&mut self, delta: &ChatDelta<'_>, out: &mut PieceSink) {
        let content = delta.content;
        if content.is_string() {
            let is_thought = delta.channel.string().as_deref() == Some("analysis");
            let kind = if is_thought { SegmentKind::Reasoning } else { SegmentKind::Text };
            return self.take(kind, content, out);
        }
        // An answer that the server has parsed may have a `type` of its own, so that only within a
        // list it makes a part of the protocol.
        let names = if content.is_array() { "type|thinking|text|refusal" } else { SAID };
        let is_part = |part: ValueRef<'_>| !part.first_of(names).is_null();
        let is_empty = matches!(content.json(), "null" | "{}" | "[]");
        if !is_empty && !content.items().any(is_part) {
            // Some servers parse a structured answer and send the value itself.
            if let Some(said) = self.said(SegmentKind::Text, out) {
                said.push(Cow::Borrowed(content.json()), out);
            }
            return;
        }
        for part in content.items() {
            self.take(SegmentKind::Text, part, out);
            // Mistral's thinking is itself text or parts.
            let [thinking, summary, text, refusal] =
                part.fields(&["thinking", "summary", "text", "refusal"]);
            self.take(SegmentKind::Reasoning, thinking, out);
            // Databricks puts it into a summary.
            for thought in thinking.objects().chain(summary.objects()) {
                self.take(SegmentKind::Reasoning, thought.field("text"), out);
            }
            self.take(SegmentKind::Text, text, out);
            self.refuse(refusal, out);
        }
    }

    fn refuse(&mut self, refusal: ValueRef<'_>, out: &mut PieceSink) {
        let refusal = refusal.string().unwrap_or_default();
        out.keep(refusal.len());
        self.refusal.push_str(&refusal);
    }

    /// Takes a string of text or thinking; ignores any other value.
    fn take(&mut self, kind: SegmentKind, piece: ValueRef<'_>, out: &mut PieceSink) {
        if !piece.has_text() {
            return;
        }
        if let Some(said) = self.said(kind, out) {
            let text = piece.joined(&mut said.surrogate).text;
            said.push(text, out);
        }
    }

    /// Returns the stretch of that kind to which more belongs, if there is room for it.
    fn said(&mut self, kind: SegmentKind, out: &mut PieceSink) -> Option<&mut TextSegment> {
        let choice = self.choice;
        let goes_on = |(of, run): &(u64, ReplySegment)| {
            *of == choice && matches!(run, ReplySegment::Said(said) if said.kind == kind)
        };
        if !self.runs.last().is_some_and(goes_on) {
            if !out.item() {
                return None;
            }
            let (text, surrogate) = (String::new(), PendingSurrogate::default());
            self.runs.push((choice, ReplySegment::Said(TextSegment { kind, text, surrogate })));
        }
        match self.runs.last_mut() {
            Some((_, ReplySegment::Said(said))) => Some(said),
            _ => None,
        }
    }

    /// Drops what has come of other answers than the first, and shows that one anew.
    fn keep_first(&mut self, out: &mut PieceSink) {
        if self.last_choice == 0 {
            return;
        }
        self.last_choice = 0;
        self.runs.retain(|(choice, _)| *choice == 0);
        if self.finished_by > 0 {
            (self.finish, self.reply.reason) = (None, None);
        }
        out.push(ReplyPiece::Restart);
        for (_, run) in &self.runs {
            if let ReplySegment::Said(said) = run {
                out.push(said.piece(said.text.clone()));
            }
        }
    }

    /// Returns the whole reply.
    pub(super) fn finish(self) -> Reply {
        let Self { runs, calls, details, refusal, finish, mut reply, .. } = self;
        let is_cut = calls.are_cut();
        let mut calls = calls.finish();
        let is_there = |at: &usize| calls.get(*at).is_some_and(Option::is_some);
        let has_calls =
            runs.iter().any(|(_, run)| matches!(run, ReplySegment::Call(at) if is_there(at)));
        // The details go back as one array, so that the first block of thinking has them all.
        let mut details = details.finish();
        let is_thought = |segment: &ReplySegment| match segment {
            ReplySegment::Said(said) => said.kind == SegmentKind::Reasoning,
            _ => false,
        };
        if details.is_some() && !runs.iter().any(|(_, run)| is_thought(run)) {
            let item = details.take();
            reply
                .blocks
                .push(Block::Reasoning(ReasoningBlock { item, ..ReasoningBlock::default() }));
        }
        for (_, run) in runs {
            reply.blocks.extend(match run {
                ReplySegment::Call(at) => {
                    calls.get_mut(at).and_then(Option::take).map(Block::ToolCall)
                }
                ReplySegment::Said(said) => {
                    let (kind, text) = (said.kind, said.finish());
                    Some(match kind {
                        SegmentKind::Text => Block::Text(text),
                        SegmentKind::Reasoning => {
                            let item = details.take();
                            Block::Reasoning(ReasoningBlock { text, signature: None, item })
                        }
                    })
                }
            });
        }
        reply.finish = match finish {
            // A call that is not whole must not run, and the loop runs no call of a reply that
            // ended by `Length`.
            None if is_cut => FinishReason::Length,
            // Several servers give `stop` or no reason for a reply with calls.
            None | Some(FinishReason::Stop | FinishReason::Unknown) if has_calls => {
                FinishReason::ToolCalls
            }
            None | Some(FinishReason::Stop | FinishReason::Unknown) if !refusal.is_empty() => {
                FinishReason::Refusal
            }
            None => FinishReason::Unknown,
            Some(finish) => finish,
        };
        reply.refusal = Some(refusal).filter(|refusal| !refusal.is_empty());
        reply
    }
}

impl TextSegment {
    fn push(&mut self, text: Cow<'_, str>, out: &mut PieceSink) {
        self.text.push_str(&text);
        if text.is_empty() {
            return;
        }
        out.push(self.piece(text.into_owned()));
    }

    const fn piece(&self, text: String) -> ReplyPiece {
        match self.kind {
            SegmentKind::Text => ReplyPiece::Text(text),
            SegmentKind::Reasoning => ReplyPiece::Reasoning(text),
        }
    }

    fn finish(mut self) -> String {
        // The other half of a character never came.
        if self.surrogate.give_up() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text
    }
}

/// The fields of a part that say something.
const SAID: &str = "thinking|text|refusal";

/// Returns the reason why the answer ended, if it has.
fn reason(choice: &ChatChoice<'_>) -> Option<FinishReason> {
    let reason = choice.finish_reason.word().filter(|word| is_given(word))?.to_ascii_lowercase();
    // Gemini's own endpoint adds words behind a colon.
    let is_filter = reason.starts_with(FILTERED);
    Some(finish_of(if is_filter { FILTERED } else { &reason }, REASONS))
}

/// The `finish_reason` of a filter.
const FILTERED: &str = "content_filter";

/// The meanings of a `finish_reason` in lower case. Gateways pass on the names of other protocols.
const REASONS: &FinishWords = &[
    (FinishReason::Stop, "stop|eos|eos_token|end_turn|stop_sequence|end|done|complete|completed"),
    (FinishReason::ToolCalls, "tool_calls|tool_call|function_call|tool_use"),
    (FinishReason::Length, "length|max_tokens|max_output_tokens|model_length"),
    (FinishReason::Refusal, "refusal"),
    (FinishReason::Pause, "pause|pause_turn"),
    (FinishReason::ContextWindow, "model_context_window_exceeded|context_length_exceeded"),
    (FinishReason::MalformedToolCall, "malformed_function_call|unexpected_tool_call"),
    (FinishReason::Error, "error|insufficient_system_resource|network_error|abort|other"),
    (
        FinishReason::ContentFilter,
        "content_filter|sensitive|safety|recitation|blocklist|prohibited_content|spii",
    ),
];
