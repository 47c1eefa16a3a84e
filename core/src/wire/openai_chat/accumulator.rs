//! The reply while it arrives.

use super::super::piece::Piece;
use super::{
    calls::Calls,
    chunk::{Choice, Chunk, Delta, Part},
    details::Details,
    lenient::Content,
};
use crate::types::{
    config::WireKind,
    message::{Block, Finish, Reasoning, Reply},
};
use alloc::{borrow::ToOwned, string::String, vec::Vec};

/// What has come of a reply so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// Text, thinking and calls, in the order in which they began.
    runs: Vec<Run>,
    calls: Calls,
    details: Details,
    refusal: String,
    finish: Option<Finish>,
    /// A call goes on behind that: Together gives a reason with each call.
    is_resumed: bool,
    reply: Reply,
}

/// A stretch of one kind.
#[derive(Clone, Debug)]
enum Run {
    Text(String),
    Reasoning(String),
    /// The call's position among the calls.
    Call(usize),
}

impl Draft {
    /// Whether the provider has said why the reply ended, and said no more.
    pub(super) const fn is_finished(&self) -> bool {
        self.finish.is_some() && !self.is_resumed
    }

    /// Takes a chunk. Of several answers the first counts.
    pub(super) fn chunk(&mut self, chunk: Chunk<'_>, out: &mut Vec<Piece>) {
        self.meta(&chunk);
        for choice in chunk.choices.into_iter().flat_map(|choices| choices.0) {
            if choice.index.0.unwrap_or_default() == 0 {
                self.choice(choice, false, out);
            }
        }
    }

    /// Takes a whole body; tells whether it holds an answer.
    pub(super) fn whole(&mut self, chunk: Chunk<'_>) -> bool {
        self.meta(&chunk);
        let first = chunk.choices.into_iter().flat_map(|choices| choices.0).next();
        let is_answer = first.is_some();
        if let Some(choice) = first {
            self.choice(choice, true, &mut Vec::new());
        }
        is_answer
    }

    fn meta(&mut self, chunk: &Chunk<'_>) {
        let latch = |known: &mut Option<String>, fresh: Option<&str>| {
            if known.is_none() {
                *known = fresh.map(String::from);
            }
        };
        latch(&mut self.reply.response_id, chunk.id.some());
        latch(&mut self.reply.model, chunk.model.some());
        let groq = chunk.x_groq.0.as_ref().and_then(|groq| groq.usage.0.as_ref());
        let usage = chunk.usage.0.as_ref().or(groq).and_then(super::usage::Tokens::usage);
        self.reply.usage = usage.or(self.reply.usage);
    }

    fn choice(&mut self, choice: Choice<'_>, whole: bool, out: &mut Vec<Piece>) {
        let is_empty = self.runs.is_empty();
        match (choice.delta.0, choice.message.0) {
            (Some(delta), message) if !whole || message.is_none() => {
                self.delta(*delta, whole, out);
            }
            // Where both stand in a stream, the message repeats what the deltas said.
            (_, Some(message)) if is_empty => self.delta(*message, true, out),
            (None, None) => self.text(choice.text.some().unwrap_or_default(), out),
            _ => {}
        }
        if let Some(usage) = choice.usage.0.and_then(|tokens| tokens.usage()) {
            self.reply.usage.get_or_insert(usage);
        }
        if let Some(reason) = choice.finish_reason.some() {
            self.finish.get_or_insert_with(|| finish_of(reason));
            self.is_resumed = false;
        }
    }

    fn delta(&mut self, delta: Delta<'_>, whole: bool, out: &mut Vec<Piece>) {
        let details = delta.reasoning_details.map(|raw| self.details.take(raw));
        let plain = [&delta.reasoning_content, &delta.reasoning, &delta.reasoning_text];
        // The same thinking may stand in several fields.
        let thought = plain.into_iter().find_map(|text| text.some()).or(details.as_deref());
        self.reasoning(thought.unwrap_or_default(), out);
        match delta.content {
            Content::Absent => {}
            Content::Text(text) if delta.channel.some() == Some("analysis") => {
                self.reasoning(&text, out);
            }
            Content::Text(text) => self.text(&text, out),
            Content::Parts(parts) => parts.into_iter().for_each(|part| self.part(&part, out)),
        }
        self.refusal.push_str(delta.refusal.some().unwrap_or_default());
        for call in delta.tool_calls.0 {
            self.is_resumed |= self.finish.is_some() && call.says_something();
            let begun = self.calls.take(call, whole);
            self.runs.extend(begun.map(Run::Call));
        }
        if let Some(function) = delta.function_call.0 {
            let begun = self.calls.take_legacy(&function);
            self.runs.extend(begun.map(Run::Call));
        }
    }

    fn part(&mut self, part: &Part<'_>, out: &mut Vec<Piece>) {
        match &part.thinking {
            Content::Absent => {}
            Content::Text(text) => self.reasoning(text, out),
            Content::Parts(thoughts) => {
                for thought in thoughts {
                    self.reasoning(thought.text.some().unwrap_or_default(), out);
                }
            }
        }
        self.text(part.text.some().unwrap_or_default(), out);
        self.refusal.push_str(part.refusal.some().unwrap_or_default());
    }

    /// Adds to the text.
    fn text(&mut self, piece: &str, out: &mut Vec<Piece>) {
        if piece.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some(Run::Text(text)) => text.push_str(piece),
            _ => self.runs.push(Run::Text(piece.to_owned())),
        }
        out.push(Piece::Text(piece.to_owned()));
    }

    /// Adds to the thinking.
    fn reasoning(&mut self, piece: &str, out: &mut Vec<Piece>) {
        if piece.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some(Run::Reasoning(text)) => text.push_str(piece),
            _ => self.runs.push(Run::Reasoning(piece.to_owned())),
        }
        out.push(Piece::Reasoning(piece.to_owned()));
    }

    /// Puts a character that cannot be told in the place where the last delta ended; tells
    /// whether it could.
    pub(super) fn replacement(&mut self, out: &mut Vec<Piece>) -> bool {
        match self.runs.last() {
            Some(Run::Text(_)) => self.text("\u{fffd}", out),
            Some(Run::Reasoning(_)) => self.reasoning("\u{fffd}", out),
            Some(Run::Call(_)) => return false,
            None => {}
        }
        true
    }

    /// The whole reply.
    pub(super) fn finish(self) -> Reply {
        let Self { runs, calls, details, refusal, finish, mut reply, .. } = self;
        let mut calls = calls.finish();
        let has_calls = calls.iter().any(Option::is_some);
        let mut details = details.finish();
        if details.is_some() && !runs.iter().any(|run| matches!(run, Run::Reasoning(_))) {
            let item = details.take();
            reply.blocks.push(Block::Reasoning(Reasoning { item, ..Reasoning::default() }));
        }
        for run in runs {
            reply.blocks.extend(match run {
                Run::Text(text) => Some(Block::Text(text)),
                Run::Reasoning(text) => {
                    let item = details.take();
                    Some(Block::Reasoning(Reasoning { text, signature: None, item }))
                }
                Run::Call(at) => calls.get_mut(at).and_then(Option::take).map(Block::ToolCall),
            });
        }
        reply.finish = match finish {
            None | Some(Finish::Stop | Finish::Unknown) if has_calls => Finish::ToolCalls,
            None | Some(Finish::Stop | Finish::Unknown) if !refusal.is_empty() => Finish::Refusal,
            None => Finish::Unknown,
            Some(finish) => finish,
        };
        reply.refusal = Some(refusal).filter(|refusal| !refusal.is_empty());
        reply.wire = Some(WireKind::OpenaiChat);
        // A reply is kept as long as the session: what it does not need goes back.
        reply.blocks.shrink_to_fit();
        reply
    }
}

/// What a `finish_reason` means. Gateways pass on the names of other protocols.
fn finish_of(reason: &str) -> Finish {
    match &*reason.to_ascii_lowercase() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "end" | "done"
        | "complete" | "completed" => Finish::Stop,
        "tool_calls" | "tool_call" | "function_call" | "tool_use" => Finish::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => Finish::Length,
        "refusal" => Finish::Refusal,
        "pause" | "pause_turn" => Finish::Pause,
        "model_context_window_exceeded" | "context_length_exceeded" => Finish::ContextWindow,
        "malformed_function_call" | "unexpected_tool_call" => Finish::MalformedToolCall,
        "error" | "insufficient_system_resource" | "network_error" | "abort" | "other" => {
            Finish::Error
        }
        "sensitive" | "safety" | "recitation" | "blocklist" | "prohibited_content" | "spii" => {
            Finish::ContentFilter
        }
        // Gemini says more behind a colon.
        other if other.starts_with("content_filter") => Finish::ContentFilter,
        _ => Finish::Unknown,
    }
}
