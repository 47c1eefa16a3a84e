//! What a reply without calls makes of the run, by why it ended: the table of
//! `docs/wires.md#what-an-ending-makes-of-the-run`, whatever the protocol. What is tried before is
//! decided in `reply`.

use alloc::{format, string::String};
use innerloop_types::{
    event::ErrorKind,
    message::{FinishReason, Reply},
    model::WireKind,
    status::RunEnd,
};

/// An end that is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFailure {
    pub(crate) end: RunEnd,
    pub(crate) kind: ErrorKind,
    /// The description of the failure, with the provider's words.
    pub(crate) message: String,
}

/// The message to a model that asks it to continue a text which the output limit has cut.
pub(super) const CONTINUE: &str = "Continue from where you left off.";

/// The error message for a reply that has neither text nor tool calls.
const EMPTY: &str = "the model's reply has no text and no tool call";

/// Returns how the run ends whose last reply, without calls, is this one; nothing if the model was
/// done.
pub(super) fn ending(reply: &Reply) -> Option<RunFailure> {
    let is_blank = reply.text().trim().is_empty();
    let (end, kind, what) = match reply.finish {
        FinishReason::Length => {
            let what = "the reply was cut by the output limit (max_output_tokens)";
            (RunEnd::Incomplete, ErrorKind::OutputLimit, what)
        }
        FinishReason::ContextWindow => {
            let what = "the context window is full, and the reply was cut";
            (RunEnd::Incomplete, ErrorKind::ContextOverflow, what)
        }
        FinishReason::ContentFilter if is_blank => {
            (RunEnd::Refused, ErrorKind::ContentFilter, "a content filter let no reply through")
        }
        FinishReason::ContentFilter => {
            (RunEnd::Incomplete, ErrorKind::ContentFilter, "a content filter stopped the reply")
        }
        FinishReason::Repetition => {
            let what = "the model repeated itself over and over, and its reply was ended";
            (RunEnd::Incomplete, ErrorKind::Reply, what)
        }
        FinishReason::Refusal => (RunEnd::Refused, ErrorKind::Refusal, "the model refused"),
        FinishReason::MalformedToolCall => {
            let what = "the provider could not read the model's tool call";
            (RunEnd::Failed, ErrorKind::Reply, what)
        }
        FinishReason::Error => {
            let what = "the provider says that the reply went wrong";
            (RunEnd::Failed, ErrorKind::Reply, what)
        }
        _ if is_blank => (RunEnd::Failed, ErrorKind::Reply, EMPTY),
        // Responses says by its status that a reply is not complete, and then why.
        FinishReason::Unknown if reply.reason.is_some() && is_responses(reply) => {
            (RunEnd::Incomplete, ErrorKind::Reply, "the reply is not complete")
        }
        FinishReason::Stop
        | FinishReason::ToolCalls
        | FinishReason::Pause
        | FinishReason::Unknown => return None,
    };
    let said = [&reply.reason, &reply.refusal].into_iter().flatten();
    let message = said.fold(String::from(what), |told, said| format!("{told}: {said}"));
    Some(RunFailure { end, kind, message })
}

fn is_responses(reply: &Reply) -> bool {
    reply.wire == Some(WireKind::OpenaiResponses)
}
