//! The normaliser of recorded responses: one value that says what a reply holds, whatever its
//! protocol. It uses the session's own decoder, so that it reads a response as a session would.

use alloc::{string::String, vec::Vec};
use innerloop_core::{
    Decoder, FailureKind, ModelCallError,
    config::WireKind,
    event::ErrorKind,
    input::ResponseHead,
    json::Json,
    message::{FinishReason, Reply, ToolCall, Usage},
};
use innerloop_json::{IntoList, ToJson, to_string};

/// A response in the form that is the same for all protocols.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct DecodedResponse {
    /// The text for the user; empty if the model refused.
    pub text: String,
    /// The thinking.
    pub reasoning: String,
    /// The text with which the model, or the provider for it, refused.
    pub refusal: String,
    /// The calls that the client must carry out.
    pub tool_calls: Vec<DecodedCall>,
    /// The reason why the reply ended.
    pub finish: FinishReason,
    /// The tokens that were used, if the provider says.
    pub usage: Option<Usage>,
    /// The error, if something went wrong.
    pub error: Option<DecodedError>,
}

impl DecodedResponse {
    /// Returns the response as one JSON object that begins with `id`.
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
    /// The provider's id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments of the call.
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

/// The error of a response that is not a reply.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub struct DecodedError {
    /// The kind of error, which decides what can be done about it.
    pub kind: ErrorKind,
    /// The provider's message.
    pub message: String,
    /// The provider's own code for it.
    pub code: Option<String>,
    /// The HTTP status of the response.
    pub status: u16,
    /// The time that the provider asks to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// Decodes the body of a response, which may be cut into chunks anywhere.
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
        // The pieces are for people to watch; the reply has all of them in the end.
        pieces.clear();
    }
    match decoder.finish() {
        Ok(reply) => of_reply(&reply),
        Err(failure) => of_failure(failure),
    }
}

impl DecodedResponse {
    /// Returns the value that stands for a response that could not be read at all.
    #[must_use]
    pub fn unreadable(message: impl Into<String>) -> Self {
        of_failure(ModelCallError::new(FailureKind::InvalidRequest, message))
    }
}

impl DecodedCall {
    /// Makes the call as it is shown: no arguments become `{}`, and free text stays text.
    #[must_use]
    pub fn new(call: ToolCall) -> Self {
        let value = match call.arguments.trim() {
            // Free text that happens to be JSON is text all the same.
            _ if call.is_freeform() => None,
            // Models leave the arguments of a tool without parameters empty.
            "" => Json::parse("{}").ok(),
            _ => Json::parse(call.arguments.as_str()).ok(),
        };
        let arguments = value.map_or(CallArguments::Raw(call.arguments), CallArguments::Value);
        Self { id: call.id, name: call.name, arguments }
    }
}

fn of_reply(reply: &Reply) -> DecodedResponse {
    let mut text = reply.text();
    // OpenAI's protocols have a field of their own for a refusal. With the others, the text of a
    // reply that ends in a refusal is that refusal.
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
        tool_calls: reply.tool_calls().cloned().map(DecodedCall::new).into_list(),
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
            // The provider had accepted the request and sent a success: the context window was full
            // in the middle of the reply. With another status nothing was generated at all.
            FailureKind::ContextOverflow if (200..300).contains(&failure.status) => {
                FinishReason::ContextWindow
            }
            // Groq answers so if it cannot read the call that the model itself has written.
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
