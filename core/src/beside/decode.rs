//! A recorded response as one normalised value: what a reply says, whatever its protocol.

use crate::{
    nouns::{
        config::WireKind,
        event::ErrorKind,
        input::ResponseHead,
        message::{Finish, Reply, ToolCall, Usage},
    },
    wire::{Decoder, Failure},
    words::json::Json,
};
use alloc::{string::String, vec::Vec};
use serde::Serialize;

/// A response, normalised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decoded {
    /// The text for the user; empty if the model refused.
    pub text: String,
    /// The thinking.
    pub reasoning: String,
    /// What the model said when it refused.
    pub refusal: String,
    /// The calls that the client must carry out.
    pub tool_calls: Vec<DecodedCall>,
    /// Why the reply ended.
    pub finish: Finish,
    /// Tokens, where the provider says.
    pub usage: Option<Usage>,
    /// What went wrong.
    pub error: Option<DecodedError>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecodedCall {
    /// The provider's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
}

/// A call's arguments: the value, or the raw text where it is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Arguments {
    /// JSON.
    Value(Json),
    /// Text that is not JSON.
    Raw(String),
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecodedError {
    /// What can be done about it.
    pub kind: ErrorKind,
    /// What the provider says.
    pub message: String,
    /// The provider's own name for it.
    pub code: Option<String>,
    /// The HTTP status.
    pub status: u16,
    /// How long the provider asks to wait.
    pub retry_after_ms: Option<u64>,
}

/// Decodes the body of a response, given in any chunking.
#[must_use]
pub fn decode<'a>(
    wire: WireKind,
    head: &ResponseHead,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> Decoded {
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

fn of_reply(reply: &Reply) -> Decoded {
    let text = reply.text();
    // Where the protocol has a place of its own for a refusal, text is text.
    let has_place = matches!(reply.wire, Some(WireKind::OpenaiResponses | WireKind::OpenaiChat));
    let is_said = reply.finish == Finish::Refusal && !has_place;
    let (text, said) = if is_said { (String::new(), text) } else { (text, String::new()) };
    let given = reply.refusal.clone().filter(|_| has_place || is_said).unwrap_or_default();
    let call = |call: &ToolCall| DecodedCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: match Json::parse(call.arguments.clone()) {
            Ok(value) if !call.is_freeform() => Arguments::Value(value),
            _ => Arguments::Raw(call.arguments.clone()),
        },
    };
    Decoded {
        text,
        reasoning: reply.reasoning(),
        refusal: if said.is_empty() { given } else { said },
        tool_calls: reply.tool_calls().map(call).collect(),
        finish: reply.finish,
        usage: reply.usage,
        error: None,
    }
}

fn of_failure(failure: Failure) -> Decoded {
    Decoded {
        text: String::new(),
        reasoning: String::new(),
        refusal: String::new(),
        tool_calls: Vec::new(),
        finish: Finish::Error,
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
