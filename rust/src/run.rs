//! A run: what the agent does for one prompt, as a stream of events and as a result.

use crate::session::{Ended, Link};
use futures_core::Stream;
use innerloop_core::{
    event::{Event, EventKind},
    id::AgentId,
    input::{Rejected, TurnOptions},
    json::Json,
    message::{Part, Usage},
    status::RunEnd,
};
use serde::de::DeserializeOwned;
use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::sync::{mpsc::UnboundedReceiver, oneshot};

/// What the user says: a text, or parts such as pictures, and what holds for this prompt only.
///
/// ```
/// use innerloop::{Prompt, TurnOptions};
///
/// let prompt = Prompt::from("What does this project do?").with_options(TurnOptions {
///     tools: Some(vec!["read_file".into(), "grep".into()]),
///     ..TurnOptions::default()
/// });
/// assert_eq!(prompt.parts.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What is said.
    pub parts: Vec<Part>,
    /// What holds until the run ends.
    pub options: Option<TurnOptions>,
}

impl Prompt {
    /// The same with options that hold until the run ends.
    #[must_use]
    pub fn with_options(self, options: TurnOptions) -> Self {
        Self { options: Some(options), ..self }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::from(vec![Part::text(text)])
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Vec<Part>> for Prompt {
    fn from(parts: Vec<Part>) -> Self {
        Self { parts, options: None }
    }
}

/// A run that is under way: a [`Stream`] of its [`Event`]s, subagents' included, and awaited, its
/// [`RunResult`]. It begins at once, also if nobody looks at it; events wait in memory until they
/// are read. Dropped before its end, it is interrupted.
///
/// ```
/// use futures_util::StreamExt as _;
/// use innerloop::{Agent, EventKind};
///
/// # async fn example(agent: Agent) -> Result<(), innerloop::RunError> {
/// let mut run = agent.run("Tidy up the README");
/// while let Some(event) = run.next().await {
///     if let EventKind::AssistantTextDelta { text } = &event.kind {
///         print!("{text}");
///     }
/// }
/// println!("{:?}", run.await?.end);
/// # Ok(())
/// # }
/// ```
#[must_use = "a run that is dropped is interrupted"]
pub struct Run {
    number: u64,
    link: Link,
    events: UnboundedReceiver<Event>,
    /// Whether the session has taken the prompt.
    heard: Option<oneshot::Receiver<Result<(), Rejected>>>,
    refused: Option<Rejected>,
    collected: Collected,
    /// Whether no more events come.
    is_over: bool,
}

/// What the events so far say of the result.
#[derive(Debug, Default)]
struct Collected {
    result: Option<RunResult>,
    answer: Option<Json>,
    error: Option<String>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunResult {
    /// What the model said last.
    pub text: String,
    /// How the run ended. Only [`RunEnd::Completed`] means that the model was done.
    pub end: RunEnd,
    /// Why the model or its endpoint failed, if that is how it ended.
    pub error: Option<String>,
    /// The final answer as JSON, where one of a certain form was asked for and given.
    pub answer: Option<Json>,
    /// Tokens of the run.
    pub usage: Usage,
    /// What they cost, in nano-dollars (10⁻⁹ US dollars), as far as the prices are known.
    pub cost_nano_usd: Option<u64>,
    /// Model replies of the run.
    pub replies: u32,
    /// Tool calls of the run.
    pub tool_calls: u32,
}

impl RunResult {
    /// The final answer as a type, see [`AgentBuilder::answer`](crate::AgentBuilder::answer).
    ///
    /// # Errors
    /// [`AnswerError`]: there is none, or it is not of that type.
    pub fn answer<T: DeserializeOwned>(&self) -> Result<T, AnswerError> {
        let missing = || AnswerError::Missing { end: self.end, text: self.text.clone() };
        let answer = self.answer.as_ref().ok_or_else(missing)?;
        Ok(serde_json::from_str(answer.text())?)
    }
}

/// Why a run has no answer of the type that is wanted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The model gave none.
    #[error("the run ended ({end:?}) without an answer in the form that was asked for: {text}")]
    Missing {
        /// How the run ended.
        end: RunEnd,
        /// What the model said in place of it.
        text: String,
    },
    /// It fits the schema, but not the type.
    #[error("the answer is not of that type: {0}")]
    Unfit(#[from] serde_json::Error),
}

/// Why a run never began, or has no end. What fails in the world, such as a model that cannot be
/// reached, is no error but a [`RunResult`] whose `end` says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The session refuses the prompt, for example since another run is under way.
    #[error(transparent)]
    Refused(#[from] Rejected),
    /// The session is over.
    #[error(transparent)]
    Ended(#[from] Ended),
}

impl Run {
    pub(crate) fn new(
        number: u64,
        link: Link,
        events: UnboundedReceiver<Event>,
        heard: oneshot::Receiver<Result<(), Rejected>>,
    ) -> Self {
        let collected = Collected::default();
        Self { number, link, events, heard: Some(heard), refused: None, collected, is_over: false }
    }

    /// Waits for the end, past all events.
    async fn finish(mut self) -> Result<RunResult, RunError> {
        while std::future::poll_fn(|context| self.poll_event(context)).await.is_some() {}
        match (self.collected.result.take(), self.refused.take()) {
            (Some(result), _) => Ok(result),
            (None, Some(rejected)) => Err(rejected.into()),
            (None, None) => Err(self.link.ended().into()),
        }
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Some(heard) = &mut self.heard {
            let said = ready!(Pin::new(heard).poll(context));
            self.heard = None;
            // Where the session is over, no event follows either.
            if let Ok(Err(rejected)) = said {
                self.refused = Some(rejected);
            }
        }
        if self.is_over || self.refused.is_some() {
            self.is_over = true;
            return Poll::Ready(None);
        }
        let event = ready!(self.events.poll_recv(context));
        match &event {
            Some(event) => self.collected.note(event),
            None => self.is_over = true,
        }
        self.is_over |= self.collected.result.is_some();
        Poll::Ready(event)
    }
}

impl Stream for Run {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll_event(context)
    }
}

impl IntoFuture for Run {
    type Output = Result<RunResult, RunError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.finish())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.is_over {
            self.link.abandon(self.number);
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Collected {
    fn note(&mut self, event: &Event) {
        if event.agent != AgentId::ROOT {
            return;
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
    }
}
