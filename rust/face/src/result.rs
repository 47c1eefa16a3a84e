//! The result of a run, and its reader from the run's events. Only events of the session's own
//! agent count: those of subagents are part of its work.

use innerloop_core::{
    event::{Event, EventKind},
    id::AgentId,
    json::Json,
    message::Usage,
    status::RunEnd,
};
use serde::de::DeserializeOwned;

/// The result of a run.
///
/// ```
/// # use innerloop_core::status::RunEnd;
/// # use innerloop_face::RunResult;
/// fn shown(result: &RunResult) -> String {
///     match (result.end, &result.error) {
///         (RunEnd::Completed, _) => result.text.clone(),
///         (_, Some(error)) => format!("it failed: {error}"),
///         (end, None) => format!("it stopped early ({end:?}), after {} replies", result.replies),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunResult {
    /// The model's last text.
    pub text: String,
    /// The way in which the run ended. Only [`RunEnd::Completed`] means that the model was done.
    pub end: RunEnd,
    /// The reason why the model or its endpoint failed, if the run ended that way.
    pub error: Option<String>,
    /// The final answer as JSON, if one was required and given.
    pub answer: Option<Json>,
    /// The tokens that the run used.
    pub usage: Usage,
    /// The cost of these tokens, in nano-dollars (10⁻⁹ US dollars), as far as the prices are known.
    pub cost_nano_usd: Option<u64>,
    /// The number of the model's replies in the run.
    pub replies: u32,
    /// The number of tool calls in the run.
    pub tool_calls: u32,
}

impl RunResult {
    /// Returns the final answer as a type, if the builder's `answer` has required one.
    ///
    /// # Errors
    /// [`AnswerError`] if there is none, or it is not of that type.
    pub fn answer<T: DeserializeOwned>(&self) -> Result<T, AnswerError> {
        let missing = || AnswerError::Missing { end: self.end, text: self.text.clone() };
        let answer = self.answer.as_ref().ok_or_else(missing)?;
        Ok(serde_json::from_str(answer.text())?)
    }
}

/// The reason why a run has no answer of the wanted type.
///
/// ```
/// # use innerloop_face::{AnswerError, RunResult};
/// #[derive(serde::Deserialize)]
/// struct Verdict {
///     is_safe: bool,
/// }
///
/// fn is_safe(result: &RunResult) -> Result<bool, AnswerError> {
///     match result.answer::<Verdict>() {
///         Ok(verdict) => Ok(verdict.is_safe),
///         // The model spoke in place of an answer.
///         Err(AnswerError::Missing { .. }) => Ok(false),
///         Err(unfit) => Err(unfit),
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The model gave no answer.
    #[error("the run ended ({end:?}) without an answer in the form that was asked for: {text}")]
    Missing {
        /// The way in which the run ended.
        end: RunEnd,
        /// The text that the model gave instead of an answer.
        text: String,
    },
    /// The answer fits the schema, but not the type.
    #[error("the answer is not of that type: {0}")]
    Unfit(#[from] serde_json::Error),
}

/// The reader of a run's result from its events.
///
/// ```
/// # use innerloop_core::event::Event;
/// # use innerloop_face::{ResultReader, RunResult};
/// fn result_of(events: &[Event]) -> Option<RunResult> {
///     let mut reader = ResultReader::default();
///     events.iter().any(|event| reader.note(event)).then(|| reader.take()).flatten()
/// }
/// ```
#[derive(Debug, Default)]
pub struct ResultReader {
    result: Option<RunResult>,
    answer: Option<Json>,
    error: Option<String>,
}

impl ResultReader {
    /// Notes an event, and returns whether the run ends with it.
    pub fn note(&mut self, event: &Event) -> bool {
        // A subagent has an end and a text of its own, which are not those of the run.
        if event.agent != AgentId::ROOT {
            return false;
        }
        match &event.kind {
            EventKind::FinalAnswer { value } => self.answer = Some(value.clone()),
            EventKind::Error { message, .. } => self.error = Some(message.clone()),
            EventKind::ProcessingEnd {
                end,
                text,
                usage,
                cost_nano_usd,
                replies,
                tool_calls,
                ..
            } => {
                self.result = Some(RunResult {
                    text: text.clone(),
                    end: *end,
                    error: self.error.take(),
                    answer: self.answer.take(),
                    usage: *usage,
                    cost_nano_usd: *cost_nano_usd,
                    replies: *replies,
                    tool_calls: *tool_calls,
                });
            }
            _ => {}
        }
        self.result.is_some()
    }

    /// Returns the result once the run has ended, and forgets it.
    pub fn take(&mut self) -> Option<RunResult> {
        self.result.take()
    }
}
