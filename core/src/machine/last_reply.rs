//! The end of a run by its last reply: what a reply without calls makes of the run, by its finish
//! reason. It is the table of `docs/wires.md#what-an-ending-makes-of-the-run`, for all protocols;
//! `reply` decides what is tried before. Only the model's own end is a success.

use alloc::{format, string::String};
use innerloop_types::{
    event::ErrorKind,
    message::{FinishReason, Reply},
    model::WireKind,
    status::RunEnd,
};

/// The end of a run that is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFailure {
    pub(crate) end: RunEnd,
    pub(crate) kind: ErrorKind,
    /// The description of the failure, with the provider's words.
    pub(crate) message: String,
}

/// The message that asks the model to continue a text which the output limit has cut.
// `History::last_said` knows the pieces of one text by this message between them.
pub(super) const CONTINUE: &str = "Continue from where you left off.";

/// The error message for a reply that has neither text nor tool calls.
const EMPTY: &str = "the model's reply has no text and no tool call";

/// Returns how a run ends whose last reply, without calls, is this one; `None` if the model was
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
        // Behind the finish reasons that explain a blank reply, and before those of success: a
        // blank reply that counted as completed would tell a script that the work is done.
        _ if is_blank => (RunEnd::Failed, ErrorKind::Reply, EMPTY),
        // The Responses API marks a reply as incomplete by its status, and gives the reason beside
        // it. In other protocols an unknown reason counts as the model's own end.
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
