//! A run: the agent's work for one prompt, as a stream of events and as a result. Dropping it
//! before its end interrupts it.

use crate::host::SessionHost;
use futures::{Stream, StreamExt as _, channel::mpsc::UnboundedReceiver, future::LocalBoxFuture};
use innerloop_core::{
    event::Event,
    input::{Command, Input, RejectedInput},
};
use innerloop_face::{Prompt, ResultReader, RunResult};
use std::{
    fmt,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};

/// A run in progress: a [`Stream`] of its [`Event`]s, including those of subagents, which resolves
/// to its [`RunResult`] when awaited. It begins at once, even if nobody polls it; events wait in
/// memory until they are read. Dropping it before its end interrupts the run.
///
/// ```no_run
/// use futures::StreamExt as _;
/// use innerloop_web::{Agent, EventKind};
///
/// # async fn example(agent: Agent, show: impl Fn(&str)) -> Result<(), innerloop_web::RunError> {
/// let mut run = agent.run("Tidy up the notes");
/// while let Some(event) = run.next().await {
///     if let EventKind::AssistantTextDelta { text } = &event.kind {
///         show(text);
///     }
/// }
/// let result = run.await?;
/// show(&format!("{:?}", result.end));
/// # Ok(())
/// # }
/// ```
#[must_use = "a run that is dropped is interrupted"]
pub struct AgentRun {
    number: u64,
    host: Rc<SessionHost>,
    events: UnboundedReceiver<Event>,
    refused: Option<Box<RejectedInput>>,
    result: ResultReader,
    /// True if no more events come.
    is_over: bool,
}

/// The reason why a run never began, or has no end. A failure during the run, such as a model that
/// cannot be reached, is not an error but a [`RunResult`] whose `end` says so.
///
/// ```
/// use innerloop_web::{Agent, RunError};
///
/// # async fn example(agent: Agent, show: impl Fn(&str)) -> Result<(), RunError> {
/// match agent.run("And the tests?").await {
///     Ok(result) => show(&result.text),
///     // Another run is under way: its model hears of it as soon as it can.
///     Err(RunError::Refused(_)) => drop(agent.steer("And the tests?")),
///     Err(closed) => return Err(closed),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The session refuses the prompt, for example because another run is under way.
    #[error(transparent)]
    Refused(#[from] Box<RejectedInput>),
    /// The session was closed before the run's end.
    #[error("the session was closed before the run's end")]
    Closed,
}

impl AgentRun {
    /// Passes the prompt to the session.
    pub(crate) fn begin(host: Rc<SessionHost>, Prompt { parts, options }: Prompt) -> Self {
        // Expected before the prompt is given: the first events come from within `tell`.
        let (number, events) = host.watchers.borrow_mut().expect_run();
        let options = options.map(Box::new);
        let said = host.tell(Input::command(Command::Submit { parts, options }));
        let refused = said.err().map(Box::new);
        if refused.is_some() {
            host.watchers.borrow_mut().forget_run(number);
        }
        Self { number, host, events, refused, result: ResultReader::default(), is_over: false }
    }

    /// Waits for the end, and drops all events until then.
    async fn finish(mut self) -> Result<RunResult, RunError> {
        while self.next().await.is_some() {}
        match (self.result.take(), self.refused.take()) {
            (Some(result), _) => Ok(result),
            (None, Some(rejected)) => Err(rejected.into()),
            (None, None) => Err(RunError::Closed),
        }
    }
}

impl Stream for AgentRun {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let run = self.get_mut();
        if run.is_over {
            return Poll::Ready(None);
        }
        let event = ready!(run.events.poll_next_unpin(context));
        run.is_over = event.as_ref().is_none_or(|event| run.result.note(event));
        Poll::Ready(event)
    }
}

impl IntoFuture for AgentRun {
    type Output = Result<RunResult, RunError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.finish())
    }
}

impl Drop for AgentRun {
    fn drop(&mut self) {
        // Looked at first, in a statement of its own: another run must not be interrupted, and
        // `tell` borrows the subscribers.
        let is_under_way = self.host.watchers.borrow().has_run(self.number);
        if is_under_way {
            let told = self.host.tell(Input::command(Command::Interrupt));
            debug_assert!(told.is_ok(), "{told:?}");
        }
    }
}

impl fmt::Debug for AgentRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentRun").field("number", &self.number).finish_non_exhaustive()
    }
}
