//! The shape of a response, which is also that of each of a stream's chunks. It is read strictly
//! at first, which is fast, and loosely where that fails, so that an odd value costs no more than
//! itself. Names may be written in camel case or in snake case.

use super::super::lenient::Fields;
use alloc::{borrow::Cow, vec::Vec};
use serde::Deserialize;
use serde_json::value::RawValue;

/// `GenerateContentResponse`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, alias = "prompt_feedback")]
    pub(super) prompt_feedback: Option<Feedback<'a>>,
    #[serde(alias = "usage_metadata")]
    pub(super) usage_metadata: Option<Counts>,
    #[serde(borrow, alias = "model_version")]
    pub(super) model_version: Option<Text<'a>>,
    #[serde(borrow, alias = "response_id")]
    pub(super) response_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// One answer; none but the first is asked for or read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow, alias = "finish_reason")]
    pub(super) finish_reason: Option<Text<'a>>,
    #[serde(borrow, alias = "finish_message")]
    pub(super) finish_message: Option<Text<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

/// What became of a prompt that a filter looked at.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Feedback<'a> {
    #[serde(borrow, alias = "block_reason")]
    pub(super) block_reason: Option<Text<'a>>,
    #[serde(borrow, alias = "block_reason_message")]
    pub(super) block_reason_message: Option<Text<'a>>,
}

/// Counts of tokens, each of the whole reply so far.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Counts {
    #[serde(alias = "prompt_token_count")]
    pub(super) prompt_token_count: Option<u64>,
    #[serde(alias = "cached_content_token_count")]
    pub(super) cached_content_token_count: Option<u64>,
    #[serde(alias = "candidates_token_count")]
    pub(super) candidates_token_count: Option<u64>,
    #[serde(alias = "thoughts_token_count")]
    pub(super) thoughts_token_count: Option<u64>,
}

/// A part of an answer.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Option<Text<'a>>,
    /// Whether the text is thinking.
    pub(super) thought: Option<bool>,
    #[serde(borrow, alias = "thought_signature")]
    pub(super) thought_signature: Option<Text<'a>>,
    #[serde(borrow, alias = "function_call")]
    pub(super) function_call: Option<Call<'a>>,
}

/// A call, or a piece of one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow, alias = "partial_args")]
    pub(super) partial_args: Option<Vec<&'a RawValue>>,
    #[serde(alias = "will_continue")]
    pub(super) will_continue: Option<bool>,
}

/// Text that borrows from the data where it has no escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl<'a> Chunk<'a> {
    /// Reads a chunk.
    ///
    /// # Errors
    /// The text is not one JSON object.
    pub(super) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).or_else(|_| Fields::parse(text).map(|f| Self::loose(&f)))
    }

    /// Whether this is a chunk of this protocol at all.
    pub(super) const fn is_response(&self) -> bool {
        self.candidates.is_some() || self.prompt_feedback.is_some() || self.usage_metadata.is_some()
    }

    /// The answer that counts.
    pub(super) fn candidate(&self) -> Option<&Candidate<'a>> {
        self.candidates.as_ref()?.first()
    }

    fn loose(fields: &Fields<'a>) -> Self {
        let candidates = has(fields, "candidates").then(|| {
            let items = fields.items("candidates").into_iter();
            items.map(|item| Candidate::loose(&read(item))).collect()
        });
        Self {
            candidates,
            prompt_feedback: object(fields, "promptFeedback", "prompt_feedback").map(|found| {
                Feedback {
                    block_reason: text(&found, "blockReason", "block_reason"),
                    block_reason_message: text(
                        &found,
                        "blockReasonMessage",
                        "block_reason_message",
                    ),
                }
            }),
            usage_metadata: object(fields, "usageMetadata", "usage_metadata")
                .map(|found| Counts::loose(&found)),
            model_version: text(fields, "modelVersion", "model_version"),
            response_id: text(fields, "responseId", "response_id"),
            error: fields.raw("error"),
        }
    }
}

impl<'a> Candidate<'a> {
    /// The parts of the answer, unread.
    pub(super) fn parts(&self) -> impl Iterator<Item = &'a RawValue> {
        self.content.iter().flat_map(|content| content.parts.iter().flatten().copied())
    }

    fn loose(fields: &Fields<'a>) -> Self {
        let content = fields.object("content");
        Self {
            content: content.map(|content| Content { parts: Some(content.items("parts")) }),
            finish_reason: text(fields, "finishReason", "finish_reason"),
            finish_message: text(fields, "finishMessage", "finish_message"),
        }
    }
}

impl Counts {
    fn loose(fields: &Fields<'_>) -> Self {
        let count = |name, snake| fields.count(name).or_else(|| fields.count(snake));
        Self {
            prompt_token_count: count("promptTokenCount", "prompt_token_count"),
            cached_content_token_count: count(
                "cachedContentTokenCount",
                "cached_content_token_count",
            ),
            candidates_token_count: count("candidatesTokenCount", "candidates_token_count"),
            thoughts_token_count: count("thoughtsTokenCount", "thoughts_token_count"),
        }
    }

    /// Takes over what a later chunk says. Counts that begin with the prompt's are complete: an
    /// earlier step of the provider's own tools does not count beside them.
    pub(super) fn update(&mut self, newer: Self) {
        if newer.prompt_token_count.is_some() {
            *self = newer;
            return;
        }
        let take = |to: &mut Option<u64>, from: Option<u64>| *to = from.or(*to);
        take(&mut self.prompt_token_count, newer.prompt_token_count);
        take(&mut self.cached_content_token_count, newer.cached_content_token_count);
        take(&mut self.candidates_token_count, newer.candidates_token_count);
        take(&mut self.thoughts_token_count, newer.thoughts_token_count);
    }
}

impl<'a> Part<'a> {
    /// Reads a part.
    ///
    /// # Errors
    /// The text is not one JSON object.
    pub(super) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).or_else(|_| Fields::parse(text).map(|f| Self::loose(&f)))
    }

    fn loose(fields: &Fields<'a>) -> Self {
        Self {
            text: text(fields, "text", "text"),
            thought: Some(fields.is_true("thought")),
            thought_signature: text(fields, "thoughtSignature", "thought_signature"),
            function_call: object(fields, "functionCall", "function_call").map(|call| Call {
                id: text(&call, "id", "id"),
                name: text(&call, "name", "name"),
                args: call.raw("args"),
                partial_args: ["partialArgs", "partial_args"]
                    .into_iter()
                    .find(|name| has(&call, name))
                    .map(|name| call.items(name)),
                will_continue: Some(call.is_true("willContinue") || call.is_true("will_continue")),
            }),
        }
    }
}

fn has(fields: &Fields<'_>, name: &str) -> bool {
    fields.raw(name).is_some()
}

fn read(raw: &RawValue) -> Fields<'_> {
    Fields::parse(raw.get()).unwrap_or_default()
}

fn object<'a>(fields: &Fields<'a>, name: &str, snake: &str) -> Option<Fields<'a>> {
    fields.object(name).or_else(|| fields.object(snake))
}

fn text<'a>(fields: &Fields<'a>, name: &str, snake: &str) -> Option<Text<'a>> {
    fields.text(name).or_else(|| fields.text(snake)).map(Text)
}
