//! The shape of a response, which is also that of each of a stream's chunks. Names may be written
//! in camel case or in snake case.

use super::super::lenient::Raw;
use alloc::borrow::Cow;

/// `GenerateContentResponse`.
pub(super) struct Chunk<'a> {
    candidates: Raw<'a>,
    pub(super) feedback: Feedback<'a>,
    pub(super) counts: Option<Counts>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) response_id: Option<Cow<'a, str>>,
    pub(super) has_error: bool,
    is_response: bool,
}

/// One answer; none but the first is asked for or read.
pub(super) struct Candidate<'a> {
    parts: Raw<'a>,
    pub(super) finish_reason: Option<Cow<'a, str>>,
    pub(super) finish_message: Option<Cow<'a, str>>,
}

/// What became of a prompt that a filter looked at.
pub(super) struct Feedback<'a> {
    pub(super) reason: Option<Cow<'a, str>>,
    pub(super) message: Option<Cow<'a, str>>,
}

/// Counts of tokens, each of the whole reply so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) prompt: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) candidates: Option<u64>,
    pub(super) thoughts: Option<u64>,
}

/// A part of an answer.
pub(super) struct Part<'a> {
    pub(super) text: Option<Cow<'a, str>>,
    /// Whether the text is thinking.
    pub(super) is_thought: bool,
    pub(super) signature: Option<Cow<'a, str>>,
    pub(super) call: Option<Call<'a>>,
}

/// A call, or a piece of one.
pub(super) struct Call<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) args: Raw<'a>,
    pub(super) pieces: Raw<'a>,
    pub(super) goes_on: bool,
}

impl<'a> Chunk<'a> {
    /// Reads a chunk.
    pub(super) fn of(raw: Raw<'a>) -> Self {
        const NAMES: [&str; 10] = [
            "candidates",
            "promptFeedback",
            "prompt_feedback",
            "usageMetadata",
            "usage_metadata",
            "modelVersion",
            "model_version",
            "responseId",
            "response_id",
            "error",
        ];
        let [candidates, feedback, feedback2, counts, counts2, read @ ..] = raw.fields(NAMES);
        let [model, model2, response_id, response_id2, error] = read;
        let (feedback, counts) = (feedback.or(feedback2), counts.or(counts2));
        Self {
            candidates,
            feedback: Feedback::of(feedback),
            counts: counts.is_object().then(|| Counts::of(counts)),
            model: model.or(model2).text(),
            response_id: response_id.or(response_id2).text(),
            has_error: !error.is_null(),
            is_response: !candidates.is_null() || feedback.is_object() || counts.is_object(),
        }
    }

    /// Whether this is a chunk of this protocol at all.
    pub(super) const fn is_response(&self) -> bool {
        self.is_response
    }

    /// The answer that counts.
    pub(super) fn candidate(&self) -> Option<Candidate<'a>> {
        self.candidates.items().next().map(Candidate::of)
    }
}

impl<'a> Candidate<'a> {
    fn of(raw: Raw<'a>) -> Self {
        const NAMES: [&str; 5] =
            ["content", "finishReason", "finish_reason", "finishMessage", "finish_message"];
        let [content, reason, reason2, message, message2] = raw.fields(NAMES);
        Self {
            parts: content.field("parts"),
            finish_reason: reason.or(reason2).text(),
            finish_message: message.or(message2).text(),
        }
    }

    /// The parts of the answer, unread. What is no object is no part.
    pub(super) fn parts(&self) -> impl Iterator<Item = Raw<'a>> {
        self.parts.objects()
    }
}

impl<'a> Feedback<'a> {
    fn of(raw: Raw<'a>) -> Self {
        const NAMES: [&str; 4] =
            ["blockReason", "block_reason", "blockReasonMessage", "block_reason_message"];
        let [reason, reason2, message, message2] = raw.fields(NAMES);
        Self { reason: reason.or(reason2).text(), message: message.or(message2).text() }
    }
}

impl Counts {
    fn of(raw: Raw<'_>) -> Self {
        const NAMES: [&str; 8] = [
            "promptTokenCount",
            "prompt_token_count",
            "cachedContentTokenCount",
            "cached_content_token_count",
            "candidatesTokenCount",
            "candidates_token_count",
            "thoughtsTokenCount",
            "thoughts_token_count",
        ];
        let [prompt, prompt2, cached, cached2, candidates, candidates2, thoughts, thoughts2] =
            raw.fields(NAMES);
        Self {
            prompt: prompt.or(prompt2).count(),
            cached: cached.or(cached2).count(),
            candidates: candidates.or(candidates2).count(),
            thoughts: thoughts.or(thoughts2).count(),
        }
    }

    /// Takes over what a later chunk says. Counts that begin with the prompt's are complete: an
    /// earlier step of the provider's own tools does not count beside them.
    pub(super) fn update(&mut self, newer: Self) {
        if newer.prompt.is_some() {
            *self = newer;
            return;
        }
        let take = |to: &mut Option<u64>, from: Option<u64>| *to = from.or(*to);
        take(&mut self.cached, newer.cached);
        take(&mut self.candidates, newer.candidates);
        take(&mut self.thoughts, newer.thoughts);
    }
}

impl<'a> Part<'a> {
    /// Reads a part.
    pub(super) fn of(raw: Raw<'a>) -> Self {
        const NAMES: [&str; 6] = [
            "text",
            "thought",
            "thoughtSignature",
            "thought_signature",
            "functionCall",
            "function_call",
        ];
        let [text, thought, signature, signature2, call, call2] = raw.fields(NAMES);
        let call = call.or(call2);
        Self {
            text: text.text(),
            is_thought: thought.is_true(),
            signature: signature.or(signature2).text(),
            call: call.is_object().then(|| Call::of(call)),
        }
    }
}

impl<'a> Call<'a> {
    fn of(raw: Raw<'a>) -> Self {
        const NAMES: [&str; 7] =
            ["id", "name", "args", "partialArgs", "partial_args", "willContinue", "will_continue"];
        let [id, name, args, pieces, pieces2, goes_on, goes_on2] = raw.fields(NAMES);
        Self {
            id: id.text().unwrap_or_default(),
            name: name.text(),
            args,
            pieces: pieces.or(pieces2),
            goes_on: goes_on.or(goes_on2).is_true(),
        }
    }
}

/// Whether a part holds nothing but marks of what it is.
pub(super) fn is_mark(part: Raw<'_>) -> bool {
    let marks = ["thought", "thoughtSignature", "thought_signature"];
    part.names().all(|name| marks.contains(&&*name))
}
