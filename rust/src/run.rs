//! A run: the agent's work for one prompt, as a stream of events and as a result. Dropping it
//! before its end interrupts it.

use crate::session::{SessionEndedError, SessionHandle};
use futures_core::Stream;
use innerloop_core::{event::Event, input::RejectedInput};
use innerloop_face::{ResultReader, RunResult};
use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::sync::{mpsc::UnboundedReceiver, oneshot};

/// A run in progress: a [`Stream`] of its [`Event`]s, including those of subagents, which resolves
/// to its [`RunResult`] when awaited. It begins at once, even if nobody polls it; events wait in
/// memory until they are read. Dropping it before its end interrupts the run.
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
pub struct AgentRun {
    number: u64,
    link: SessionHandle,
    events: UnboundedReceiver<Event>,
    /// The session's answer to the prompt, which it accepts or refuses; `None` once it has arrived.
    heard: Option<oneshot::Receiver<Result<(), RejectedInput>>>,
    refused: Option<RejectedInput>,
    result: ResultReader,
    /// True if no more events come.
    is_over: bool,
}

/// The reason why a run never began, or has no end. A failure during the run, such as a model that
/// cannot be reached, is not an error but a [`RunResult`] whose `end` says so.
///
/// ```
/// use innerloop::{Agent, RunError};
///
/// # async fn example(agent: Agent) -> Result<(), RunError> {
/// match agent.run("And the tests?").await {
///     Ok(result) => println!("{}", result.text),
///     // Another run is under way: its model hears of it as soon as it can.
///     Err(RunError::Refused(_)) => drop(agent.steer("And the tests?").await),
///     Err(ended) => return Err(ended),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The session refuses the prompt, for example because another run is under way.
    #[error(transparent)]
    Refused(#[from] RejectedInput),
    /// The session is over.
    #[error(transparent)]
    Ended(#[from] SessionEndedError),
}

impl AgentRun {
    pub(crate) fn new(
        number: u64,
        link: SessionHandle,
        events: UnboundedReceiver<Event>,
        heard: oneshot::Receiver<Result<(), RejectedInput>>,
    ) -> Self {
        let result = ResultReader::default();
        Self { number, link, events, heard: Some(heard), refused: None, result, is_over: false }
    }

    /// Waits for the end, and drops all events until then.
    async fn finish(mut self) -> Result<RunResult, RunError> {
        while std::future::poll_fn(|context| self.poll_event(context)).await.is_some() {}
        match (self.result.take(), self.refused.take()) {
            (Some(result), _) => Ok(result),
            (None, Some(rejected)) => Err(rejected.into()),
            (None, None) => Err(self.link.ended().into()),
        }
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        // Before any event: a refused prompt has none, and the channel of its events stays open for
        // as long as another run.
        if let Some(heard) = &mut self.heard {
            let said = ready!(Pin::new(heard).poll(context));
            self.heard = None;
            // Without an answer the session is over: its events have ended, too, and `finish` says
            // why.
            if let Ok(Err(rejected)) = said {
                self.refused = Some(rejected);
            }
        }
        if self.is_over || self.refused.is_some() {
            self.is_over = true;
            return Poll::Ready(None);
        }
        let event = ready!(self.events.poll_recv(context));
        self.is_over = event.as_ref().is_none_or(|event| self.result.note(event));
        Poll::Ready(event)
    }
}

impl Stream for AgentRun {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll_event(context)
    }
}

impl IntoFuture for AgentRun {
    type Output = Result<RunResult, RunError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.finish())
    }
}

impl Drop for AgentRun {
    fn drop(&mut self) {
        if !self.is_over {
            self.link.abandon(self.number);
        }
    }
}

impl fmt::Debug for AgentRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentRun").field("number", &self.number).finish_non_exhaustive()
    }
}
