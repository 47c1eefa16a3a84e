//! The reply while it arrives.

use super::{
    super::{
        finish::{Reasons, finish_of, is_given, told},
        lenient::Raw,
        piece::Piece,
        sink::Sink,
        surrogates::PendingSurrogate,
    },
    calls::Calls,
    chunk::{Call, Choice, Chunk, Delta},
    details::{self, Details},
    usage::usage,
};
use alloc::{borrow::Cow, string::String, vec::Vec};
use innerloop_types::message::{Block, Finish, Reasoning, Reply};

/// What has come of a reply so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// Text, thinking and calls, in the order in which they began, each with its choice.
    runs: Vec<(u64, Run)>,
    /// The choice that is read.
    choice: u64,
    /// The last choice that has come.
    last_choice: u64,
    /// Whether the choices are several answers, of which the first counts.
    are_several: bool,
    calls: Calls,
    details: Details,
    refusal: String,
    finish: Option<Finish>,
    /// The choice that said so.
    finished_by: u64,
    /// A call goes on behind that: Together gives a reason with each call.
    is_resumed: bool,
    reply: Reply,
}

/// A stretch of one kind.
#[derive(Clone, Debug)]
enum Run {
    Said(Said),
    /// The call's position among the calls.
    Call(usize),
}

/// A stretch of text or thinking.
#[derive(Clone, Debug)]
struct Said {
    kind: Kind,
    text: String,
    surrogate: PendingSurrogate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

impl Answer {
    /// Whether the provider has said why the reply ended, and said no more.
    pub(super) const fn is_finished(&self) -> bool {
        self.finish.is_some() && !self.is_resumed
    }

    /// Whether a call lacks half of a surrogate pair.
    pub(super) fn is_damaged(&self) -> bool {
        self.calls.are_damaged()
    }

    /// Takes a chunk. Where one answer was asked for, all choices belong to it: z.ai has counted
    /// their index up from thinking to text to calls. Those of several answers come by turns.
    pub(super) fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Sink) {
        self.meta(chunk);
        for choice in chunk.choices() {
            self.choice(&choice, false, out);
        }
    }

    /// Takes a whole body; tells whether it holds an answer.
    pub(super) fn whole(&mut self, chunk: &Chunk<'_>, out: &mut Sink) -> bool {
        self.meta(chunk);
        let mut is_answer = false;
        for choice in chunk.choices() {
            self.choice(&choice, true, out);
            is_answer = true;
        }
        if is_answer {
            self.finish.get_or_insert(Finish::Unknown);
        }
        is_answer
    }

    /// Whether the output limit has ended the answer, so that an error beside or behind that says
    /// no more than the same: OpenRouter sends "Token limit reached".
    pub(super) fn is_at_limit(&self, chunk: &Chunk<'_>) -> bool {
        let told = chunk.choices().find_map(|choice| reason(&choice));
        told.or(self.finish) == Some(Finish::Length)
    }

    /// Nothing more is read of it.
    pub(super) fn cut(&mut self) {
        (self.finish, self.is_resumed) = (Some(Finish::Length), false);
    }

    fn meta(&mut self, chunk: &Chunk<'_>) {
        let latch = |known: &mut Option<String>, fresh: Raw<'_>| {
            if known.is_none() {
                *known = fresh.word().map(Cow::into_owned);
            }
        };
        latch(&mut self.reply.response_id, chunk.id);
        latch(&mut self.reply.model, chunk.model);
        let own = if chunk.usage.is_object() { chunk.usage } else { chunk.groq.field("usage") };
        self.reply.usage = usage(own).or(self.reply.usage);
    }

    fn choice(&mut self, choice: &Choice<'_>, whole: bool, out: &mut Sink) {
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
                self.delta(&Delta::of(choice.delta), whole, out);
            }
            // Where both stand in a stream, the message repeats what the deltas said.
            (_, true) if whole || is_empty => self.delta(&Delta::of(choice.message), true, out),
            (false, false) => self.take(Kind::Text, choice.text, out),
            _ => {}
        }
        if let Some(usage) = usage(choice.usage) {
            self.reply.usage.get_or_insert(usage);
        }
        if let Some(finish) = reason(choice) {
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

    fn delta(&mut self, delta: &Delta<'_>, whole: bool, out: &mut Sink) {
        self.details.take(delta.reasoning_details, out);
        let thought = delta.reasoning.iter().find(|text| text.has_text());
        match thought {
            Some(&text) => self.take(Kind::Reasoning, text, out),
            None => {
                for detail in delta.reasoning_details.objects() {
                    self.take(Kind::Reasoning, details::text(detail), out);
                }
            }
        }
        self.content(delta, out);
        self.refuse(delta.refusal, out);
        for call in delta.tool_calls.objects().map(Call::of) {
            self.is_resumed |= self.finish.is_some() && call.says_something();
            let begun = self.calls.take(&call, whole, out);
            self.runs.extend(begun.map(|call| (self.choice, Run::Call(call))));
        }
        if delta.function_call.is_object() {
            let begun = self.calls.take_legacy(&Call::of_function(delta.function_call), out);
            self.runs.extend(begun.map(|call| (self.choice, Run::Call(call))));
        }
    }

    fn content(&mut self, delta: &Delta<'_>, out: &mut Sink) {
        let content = delta.content;
        if content.is_string() {
            let is_thought = delta.channel.string().as_deref() == Some("analysis");
            let kind = if is_thought { Kind::Reasoning } else { Kind::Text };
            return self.take(kind, content, out);
        }
        // Of a value that stands alone, a type may be its own.
        let names = if content.is_array() { "type|thinking|text|refusal" } else { SAID };
        let is_part = |part: Raw<'_>| !part.first_of(names).is_null();
        let is_empty = matches!(content.json(), "null" | "{}" | "[]");
        if !is_empty && !content.items().any(is_part) {
            // Some servers parse a structured answer and send the value itself.
            if let Some(said) = self.said(Kind::Text, out) {
                said.push(Cow::Borrowed(content.json()), out);
            }
            return;
        }
        for part in content.items() {
            self.take(Kind::Text, part, out);
            // Mistral's thinking is itself text or parts.
            let [thinking, summary, text, refusal] =
                part.fields(&["thinking", "summary", "text", "refusal"]);
            self.take(Kind::Reasoning, thinking, out);
            // Databricks puts it into a summary.
            for thought in thinking.objects().chain(summary.objects()) {
                self.take(Kind::Reasoning, thought.field("text"), out);
            }
            self.take(Kind::Text, text, out);
            self.refuse(refusal, out);
        }
    }

    fn refuse(&mut self, refusal: Raw<'_>, out: &mut Sink) {
        let refusal = refusal.string().unwrap_or_default();
        out.keep(refusal.len());
        self.refusal.push_str(&refusal);
    }

    /// Takes a string of text or thinking; nothing of another value.
    fn take(&mut self, kind: Kind, piece: Raw<'_>, out: &mut Sink) {
        if !piece.has_text() {
            return;
        }
        if let Some(said) = self.said(kind, out) {
            let text = piece.joined(&mut said.surrogate).text;
            said.push(text, out);
        }
    }

    /// The stretch of that kind to which more belongs, if there is room for it.
    fn said(&mut self, kind: Kind, out: &mut Sink) -> Option<&mut Said> {
        let choice = self.choice;
        let goes_on = |(of, run): &(u64, Run)| {
            *of == choice && matches!(run, Run::Said(said) if said.kind == kind)
        };
        if !self.runs.last().is_some_and(goes_on) {
            if !out.item() {
                return None;
            }
            let (text, surrogate) = (String::new(), PendingSurrogate::default());
            self.runs.push((choice, Run::Said(Said { kind, text, surrogate })));
        }
        match self.runs.last_mut() {
            Some((_, Run::Said(said))) => Some(said),
            _ => None,
        }
    }

    /// Of several answers only the first counts: what has come of others is taken back.
    fn keep_first(&mut self, out: &mut Sink) {
        if self.last_choice == 0 {
            return;
        }
        self.last_choice = 0;
        self.runs.retain(|(choice, _)| *choice == 0);
        if self.finished_by > 0 {
            (self.finish, self.reply.reason) = (None, None);
        }
        out.push(Piece::Restart);
        for (_, run) in &self.runs {
            if let Run::Said(said) = run {
                out.push(said.piece(said.text.clone()));
            }
        }
    }

    /// The whole reply.
    pub(super) fn finish(self) -> Reply {
        let Self { runs, calls, details, refusal, finish, mut reply, .. } = self;
        let is_cut = calls.are_cut();
        let mut calls = calls.finish();
        let is_there = |at: &usize| calls.get(*at).is_some_and(Option::is_some);
        let has_calls = runs.iter().any(|(_, run)| matches!(run, Run::Call(at) if is_there(at)));
        let mut details = details.finish();
        let is_thought = |run: &Run| matches!(run, Run::Said(said) if said.kind == Kind::Reasoning);
        if details.is_some() && !runs.iter().any(|(_, run)| is_thought(run)) {
            let item = details.take();
            reply.blocks.push(Block::Reasoning(Reasoning { item, ..Reasoning::default() }));
        }
        for (_, run) in runs {
            reply.blocks.extend(match run {
                Run::Call(at) => calls.get_mut(at).and_then(Option::take).map(Block::ToolCall),
                Run::Said(said) => {
                    let (kind, text) = (said.kind, said.finish());
                    Some(match kind {
                        Kind::Text => Block::Text(text),
                        Kind::Reasoning => {
                            let item = details.take();
                            Block::Reasoning(Reasoning { text, signature: None, item })
                        }
                    })
                }
            });
        }
        reply.finish = match finish {
            // A call that is not whole must not run.
            None if is_cut => Finish::Length,
            None | Some(Finish::Stop | Finish::Unknown) if has_calls => Finish::ToolCalls,
            None | Some(Finish::Stop | Finish::Unknown) if !refusal.is_empty() => Finish::Refusal,
            None => Finish::Unknown,
            Some(finish) => finish,
        };
        reply.refusal = Some(refusal).filter(|refusal| !refusal.is_empty());
        reply
    }
}

impl Said {
    fn push(&mut self, text: Cow<'_, str>, out: &mut Sink) {
        self.text.push_str(&text);
        if text.is_empty() {
            return;
        }
        out.push(self.piece(text.into_owned()));
    }

    const fn piece(&self, text: String) -> Piece {
        match self.kind {
            Kind::Text => Piece::Text(text),
            Kind::Reasoning => Piece::Reasoning(text),
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

/// Why the answer ended, if it has.
fn reason(choice: &Choice<'_>) -> Option<Finish> {
    let reason = choice.finish_reason.word().filter(|word| is_given(word))?.to_ascii_lowercase();
    // Gemini says more behind a colon.
    let is_filter = reason.starts_with(FILTERED);
    Some(finish_of(if is_filter { FILTERED } else { &reason }, REASONS))
}

/// The `finish_reason` of a filter.
const FILTERED: &str = "content_filter";

/// What a `finish_reason` in lower case means. Gateways pass on the names of other protocols.
const REASONS: &Reasons = &[
    (Finish::Stop, "stop|eos|eos_token|end_turn|stop_sequence|end|done|complete|completed"),
    (Finish::ToolCalls, "tool_calls|tool_call|function_call|tool_use"),
    (Finish::Length, "length|max_tokens|max_output_tokens|model_length"),
    (Finish::Refusal, "refusal"),
    (Finish::Pause, "pause|pause_turn"),
    (Finish::ContextWindow, "model_context_window_exceeded|context_length_exceeded"),
    (Finish::MalformedToolCall, "malformed_function_call|unexpected_tool_call"),
    (Finish::Error, "error|insufficient_system_resource|network_error|abort|other"),
    (
        Finish::ContentFilter,
        "content_filter|sensitive|safety|recitation|blocklist|prohibited_content|spii",
    ),
];
