//! The response object: its id and model, its outcome, and its token counts.

use super::{
    super::{
        failure::{FailureKind, ModelCallError, of_value},
        lenient::{JsonDocument, ValueRef},
        writer::rewritten,
    },
    items::DecodedOutput,
};
use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
};
use innerloop_json::Map;
use innerloop_types::{
    input::ResponseHead,
    message::{FinishReason, Usage},
};

/// A response object, as a stream's events and whole bodies carry it.
#[derive(Debug, Default)]
pub(super) struct ResponseObject<'a> {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) status: Cow<'a, str>,
    pub(super) usage: Option<Usage>,
    /// The array of its items.
    pub(super) output: ValueRef<'a>,
    object: Cow<'a, str>,
    error: ValueRef<'a>,
    /// The reason why it is incomplete.
    reason: Cow<'a, str>,
}

impl<'a> ResponseObject<'a> {
    /// Reads the object, as far as it can be read.
    pub(super) fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 8] =
            ["id", "model", "status", "usage", "output", "object", "error", "incomplete_details"];
        let [id, model, status, usage, output, object, error, details] = raw.fields(&NAMES);
        Self {
            id: id.text().map(Cow::into_owned),
            model: model.text().map(Cow::into_owned),
            status: status.text().unwrap_or_default(),
            usage: self::usage(usage),
            output,
            object: object.text().unwrap_or_default(),
            error,
            reason: details.field("reason").text().unwrap_or_default(),
        }
    }

    /// Returns whether this is a response at all.
    pub(super) fn is_one(&self) -> bool {
        self.output.is_array() || self.object == "response"
    }

    /// Takes the status of the terminal event's name, where the response itself has none that is
    /// final.
    pub(super) fn ended(mut self, status: &'a str) -> Self {
        if !matches!(&*self.status, "completed" | "incomplete" | "failed" | "cancelled") {
            self.status = Cow::Borrowed(status);
        }
        self
    }

    /// Returns the outcome of the response.
    pub(super) fn ending(&self, head: &ResponseHead) -> ResponseEnd {
        match &*self.status {
            "failed" => ResponseEnd::Failed(self.failure(head)),
            "cancelled" => {
                let message = "the response was cancelled";
                ResponseEnd::Failed(ModelCallError::new(FailureKind::Protocol, message))
            }
            "incomplete" => ResponseEnd::Incomplete((*self.reason).to_owned()),
            "queued" | "in_progress" => ResponseEnd::Pending,
            "completed" | "complete" => ResponseEnd::Completed,
            "" if !self.error.is_null() => ResponseEnd::Failed(self.failure(head)),
            "" => ResponseEnd::Completed,
            status => ResponseEnd::Unknown(status.to_owned()),
        }
    }

    fn failure(&self, head: &ResponseHead) -> ModelCallError {
        match self.error.some() {
            Some(error) => of_value(head, error),
            None => {
                let message = "the response failed, and the provider does not say why";
                ModelCallError::new(FailureKind::Server, message)
            }
        }
    }
}

/// The outcome of a response.
#[derive(Clone, Debug)]
pub(super) enum ResponseEnd {
    Completed,
    /// The response is incomplete, for this reason.
    Incomplete(String),
    /// It goes on in the background.
    Pending,
    Failed(ModelCallError),
    /// A status that is newer than this code.
    Unknown(String),
}

impl ResponseEnd {
    /// Returns the reason why a reply with that output ended.
    pub(super) fn finish(&self, output: &DecodedOutput) -> FinishReason {
        match self {
            // A call that is not whole must not run, and the loop runs no call of a reply that
            // ended by `Length`.
            Self::Completed | Self::Pending | Self::Unknown(_) if output.is_cut => {
                FinishReason::Length
            }
            // The protocol has no finish reason: calls are pending if the output has some.
            Self::Completed if output.has_calls() => FinishReason::ToolCalls,
            Self::Completed if !output.refusal.is_empty() => FinishReason::Refusal,
            Self::Completed => FinishReason::Stop,
            Self::Incomplete(reason) => match reason.as_str() {
                "content_filter" => FinishReason::ContentFilter,
                reason if LIMITS.contains(&reason) => FinishReason::Length,
                _ if output.is_cut => FinishReason::Length,
                _ => FinishReason::Unknown,
            },
            Self::Pending => FinishReason::Pause,
            Self::Failed(_) => FinishReason::Error,
            Self::Unknown(_) => FinishReason::Unknown,
        }
    }

    /// Returns the provider's word for an end that is not the model's own, where it says more than
    /// that the output limit was reached.
    pub(super) fn reason(self) -> Option<String> {
        match self {
            Self::Incomplete(reason) => (!LIMITS.contains(&reason.as_str())).then_some(reason),
            Self::Unknown(status) => Some(status),
            Self::Completed | Self::Pending | Self::Failed(_) => None,
        }
    }
}

/// Reasons of an incomplete response that say no more than that the output limit was reached.
const LIMITS: [&str; 4] = ["", "max_output_tokens", "max_tokens", "length"];

/// Returns the token counts; `None` where neither side is counted.
fn usage(raw: ValueRef<'_>) -> Option<Usage> {
    let (input, output) = (raw.count_of("input_tokens"), raw.count_of("output_tokens"));
    input.or(output)?;
    let input_details = raw.field("input_tokens_details");
    let output_details = raw.field("output_tokens_details");
    Some(Usage {
        input_total: input.unwrap_or_default(),
        output_total: output.unwrap_or_default(),
        cache_read: input_details.count_of("cached_tokens").unwrap_or_default(),
        cache_write: input_details.count_of("cache_write_tokens").unwrap_or_default(),
        reasoning: output_details.count_of("reasoning_tokens").unwrap_or_default(),
    })
}

/// Returns the failure that an `error` event reports, flat or nested.
pub(super) fn error_event(head: &ResponseHead, event: ValueRef<'_>) -> ModelCallError {
    // The event's own type is not the failure's.
    let event = rewritten(event, &|name, _| name != "type", Map::new());
    of_value(head, JsonDocument::kept(event.as_ref()).root())
}
