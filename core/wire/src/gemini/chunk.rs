//! The shape of a response, which is also that of each chunk of a stream. Names may be written in
//! camel case or in snake case.

use super::super::lenient::ValueRef;
use alloc::borrow::Cow;

/// `GenerateContentResponse`.
pub(super) struct GeminiChunk<'a> {
    candidates: ValueRef<'a>,
    pub(super) feedback: PromptFeedback<'a>,
    pub(super) counts: Option<GeminiUsage>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) response_id: Option<Cow<'a, str>>,
    pub(super) has_error: bool,
    is_response: bool,
}

/// One answer; none but the first is asked for or read.
pub(super) struct GeminiCandidate<'a> {
    parts: ValueRef<'a>,
    pub(super) finish_reason: Option<Cow<'a, str>>,
    pub(super) finish_message: Option<Cow<'a, str>>,
}

/// The verdict of a filter on a prompt.
pub(super) struct PromptFeedback<'a> {
    pub(super) reason: Option<Cow<'a, str>>,
    pub(super) message: Option<Cow<'a, str>>,
}

/// Counts of tokens, each of the whole reply so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GeminiUsage {
    pub(super) prompt: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) candidates: Option<u64>,
    pub(super) thoughts: Option<u64>,
}

/// A part of an answer.
pub(super) struct GeminiPart<'a> {
    pub(super) text: Option<Cow<'a, str>>,
    /// True if the text is thinking.
    pub(super) is_thought: bool,
    pub(super) signature: Option<Cow<'a, str>>,
    pub(super) call: Option<GeminiCall<'a>>,
}

/// A call, or a piece of one.
pub(super) struct GeminiCall<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) args: ValueRef<'a>,
    pub(super) pieces: ValueRef<'a>,
    pub(super) goes_on: bool,
}

impl<'a> GeminiChunk<'a> {
    /// Reads a chunk.
    pub(super) fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 6] = [
            "candidates",
            "promptFeedback",
            "usageMetadata",
            "modelVersion",
            "responseId",
            "error",
        ];
        let [candidates, feedback, counts, model, response_id, error] = raw.camel_fields(&NAMES);
        Self {
            candidates,
            feedback: PromptFeedback::of(feedback),
            counts: counts.is_object().then(|| GeminiUsage::of(counts)),
            model: model.text(),
            response_id: response_id.text(),
            has_error: !error.is_null(),
            is_response: !candidates.is_null() || feedback.is_object() || counts.is_object(),
        }
    }

    /// Returns whether this is a chunk of this protocol at all.
    pub(super) const fn is_response(&self) -> bool {
        self.is_response
    }

    /// Returns the answer that counts.
    pub(super) fn candidate(&self) -> Option<GeminiCandidate<'a>> {
        self.candidates.items().next().map(GeminiCandidate::of)
    }
}

impl<'a> GeminiCandidate<'a> {
    fn of(raw: ValueRef<'a>) -> Self {
        let [content, reason, message] =
            raw.camel_fields(&["content", "finishReason", "finishMessage"]);
        Self {
            parts: content.field("parts"),
            finish_reason: reason.text(),
            finish_message: message.text(),
        }
    }

    /// Returns the parts of the answer, unread. Anything that is not an object is skipped.
    pub(super) fn parts(&self) -> impl Iterator<Item = ValueRef<'a>> {
        self.parts.objects()
    }
}

impl<'a> PromptFeedback<'a> {
    fn of(raw: ValueRef<'a>) -> Self {
        let [reason, message] = raw.camel_fields(&["blockReason", "blockReasonMessage"]);
        Self { reason: reason.text(), message: message.text() }
    }
}

impl GeminiUsage {
    fn of(raw: ValueRef<'_>) -> Self {
        const NAMES: [&str; 4] = [
            "promptTokenCount",
            "cachedContentTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
        ];
        let [prompt, cached, candidates, thoughts] = raw.camel_fields(&NAMES);
        Self {
            prompt: prompt.count(),
            cached: cached.count(),
            candidates: candidates.count(),
            thoughts: thoughts.count(),
        }
    }

    /// Takes the counts of a later chunk. Counts that include the prompt's are complete and replace
    /// all: those of an earlier step of the provider's own tools do not count beside them.
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

impl<'a> GeminiPart<'a> {
    /// Reads a part.
    pub(super) fn of(raw: ValueRef<'a>) -> Self {
        let [text, thought, signature, call] =
            raw.camel_fields(&["text", "thought", "thoughtSignature", "functionCall"]);
        Self {
            text: text.text(),
            is_thought: thought.is_true(),
            signature: signature.text(),
            call: call.is_object().then(|| GeminiCall::of(call)),
        }
    }
}

impl<'a> GeminiCall<'a> {
    fn of(raw: ValueRef<'a>) -> Self {
        let [id, name, args, pieces, goes_on] =
            raw.camel_fields(&["id", "name", "args", "partialArgs", "willContinue"]);
        Self {
            id: id.text().unwrap_or_default(),
            name: name.text(),
            args,
            pieces,
            goes_on: goes_on.is_true(),
        }
    }
}

/// Returns whether a part has no content, only fields that describe one.
pub(super) fn is_mark(part: ValueRef<'_>) -> bool {
    let marks = ["thought", "thoughtSignature", "thought_signature"];
    part.names().all(|name| marks.contains(&&*name))
}
