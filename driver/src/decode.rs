//! A recorded response as one normalised value: what a reply says, whatever its protocol.

use alloc::{string::String, vec::Vec};
use innerloop_core::{
    Decoder, FailureKind, ModelCallError,
    config::WireKind,
    event::ErrorKind,
    input::ResponseHead,
    json::Json,
    message::{FinishReason, Reply, ToolCall, Usage},
};
use innerloop_json::{ToJson, to_string};

/// A response, normalised.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct DecodedResponse {
    /// The text for the user; empty if the model refused.
    pub text: String,
    /// The thinking.
    pub reasoning: String,
    /// The words with which the model, or the provider for it, refused.
    pub refusal: String,
    /// The calls that the client must carry out.
    pub tool_calls: Vec<DecodedCall>,
    /// The reason why the reply ended.
    pub finish: FinishReason,
    /// Tokens, where the provider says.
    pub usage: Option<Usage>,
    /// The error, if something went wrong.
    pub error: Option<DecodedError>,
}

impl DecodedResponse {
    /// The response as one JSON object that begins with `id`.
    #[must_use]
    pub fn line(&self, id: &Json) -> String {
        #[derive(ToJson)]
        struct Line<'a> {
            id: &'a Json,
            #[json(flatten)]
            decoded: &'a DecodedResponse,
        }

        to_string(&Line { id, decoded: self })
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct DecodedCall {
    /// The provider's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: CallArguments,
}

/// A call's arguments: the value, or the raw text where it is not JSON or not meant to be.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(untagged)]
pub enum CallArguments {
    /// JSON.
    Value(Json),
    /// Text as it came.
    Raw(String),
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct DecodedError {
    /// The kind of error, which decides what can be done about it.
    pub kind: ErrorKind,
    /// The provider's message.
    pub message: String,
    /// The provider's own name for it.
    pub code: Option<String>,
    /// The HTTP status.
    pub status: u16,
    /// The time that the provider asks to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// Decodes the body of a response, given in any chunking.
#[must_use]
pub fn decode<'a>(
    wire: WireKind,
    head: &ResponseHead,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> DecodedResponse {
    let mut decoder = Decoder::new(wire, head);
    let mut pieces = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, &mut pieces);
        pieces.clear();
    }
    match decoder.finish() {
        Ok(reply) => of_reply(&reply),
        Err(failure) => of_failure(failure),
    }
}

impl DecodedResponse {
    /// Returns what stands in place of a response that could not be read in the first place.
    #[must_use]
    pub fn unreadable(message: impl Into<String>) -> Self {
        of_failure(ModelCallError::new(FailureKind::InvalidRequest, message))
    }
}

impl DecodedCall {
    /// The call as it is shown: no arguments are `{}`, and free text stays text.
    #[must_use]
    pub fn new(call: ToolCall) -> Self {
        let value = match call.arguments.trim() {
            _ if call.is_freeform() => None,
            "" => Json::parse("{}").ok(),
            _ => Json::parse(call.arguments.as_str()).ok(),
        };
        let arguments = value.map_or(CallArguments::Raw(call.arguments), CallArguments::Value);
        Self { id: call.id, name: call.name, arguments }
    }
}

fn of_reply(reply: &Reply) -> DecodedResponse {
    let mut text = reply.text();
    // Where the protocol has a place of its own for a refusal, text is text.
    let has_place = matches!(reply.wire, Some(WireKind::OpenaiResponses | WireKind::OpenaiChat));
    let is_said = reply.finish == FinishReason::Refusal && !has_place;
    let refusal = if is_said && !text.is_empty() {
        core::mem::take(&mut text)
    } else {
        reply.refusal.clone().filter(|_| has_place || is_said).unwrap_or_default()
    };
    DecodedResponse {
        text,
        reasoning: reply.reasoning(),
        refusal,
        tool_calls: reply.tool_calls().cloned().map(DecodedCall::new).collect(),
        finish: reply.finish,
        usage: reply.usage,
        error: None,
    }
}

fn of_failure(failure: ModelCallError) -> DecodedResponse {
    DecodedResponse {
        text: String::new(),
        reasoning: String::new(),
        refusal: String::new(),
        tool_calls: Vec::new(),
        finish: match failure.kind {
            // The response had begun: it is the conversation that does not fit.
            FailureKind::ContextOverflow if (200..300).contains(&failure.status) => {
                FinishReason::ContextWindow
            }
            // Groq could not read the model's own call.
            _ if failure.code.as_deref() == Some("tool_use_failed") => {
                FinishReason::MalformedToolCall
            }
            _ => FinishReason::Error,
        },
        usage: None,
        error: Some(DecodedError {
            kind: failure.kind.as_event(),
            message: failure.message,
            code: failure.code,
            status: failure.status,
            retry_after_ms: failure.retry_after_ms,
        }),
    }
}
