//! The task that drives a session, and the ways to it: each handle asks, and the task answers
//! between two things that happen.

use crate::approvals::UserCallbacks;
use innerloop_core::{
    event::{Event, EventKind},
    id::AgentId,
    input::{Command, RejectedInput},
};
use innerloop_driver::Driver;
use innerloop_host::{
    host::{CommandSender, Host, HostEvent},
    lock::LockFile,
    tools::ToolRunner,
};
use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};
use tokio::task::AbortHandle;

/// The session is over: it was closed, or its log can no longer be written.
///
/// ```
/// use innerloop::{Agent, SessionEndedError};
///
/// # async fn example(agent: Agent) {
/// agent.close().await;
/// let status: Result<_, SessionEndedError> = agent.status().await;
/// assert!(status.is_err());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session is over: {0}")]
pub struct SessionEndedError(String);

/// A way to a session. Clones lead to the same one, and it stops with the last.
#[derive(Clone, Debug)]
pub(crate) struct SessionHandle {
    commands: CommandSender,
    watchers: Arc<Mutex<EventSubscribers>>,
    _driven: Arc<DriverTask>,
}

/// The task that drives a session, which is stopped when this is dropped: the session is as if the
/// program had ended, and can be resumed from its log.
#[derive(Debug)]
struct DriverTask(AbortHandle);

impl Drop for DriverTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The subscribers that are told what happens.
#[derive(Debug, Default)]
struct EventSubscribers {
    /// The run that is under way.
    run: Option<RunSubscriber>,
    runs: u64,
    all: Vec<UnboundedSender<Event>>,
    ended: Option<String>,
}

/// A run, and who is told of it.
#[derive(Debug)]
struct RunSubscriber {
    number: u64,
    tell: UnboundedSender<Event>,
    /// True if the session has taken its prompt.
    has_begun: bool,
}

impl SessionHandle {
    /// Has a task drive the session until it is closed.
    pub(crate) fn begin(mut host: Host, mut people: UserCallbacks, lock: Option<LockFile>) -> Self {
        let (watchers, commands) = (Arc::<Mutex<EventSubscribers>>::default(), host.commands());
        let (told, asked) = (Arc::clone(&watchers), commands.clone());
        let task = tokio::spawn(async move {
            // Held until nothing is written any more.
            let _lock = lock;
            let driven = host
                .run(|news| match news {
                    HostEvent::Event(event) => held(&told).tell(event),
                    HostEvent::Asked(id, agent, ask) => people.asked(&asked, id, agent, ask),
                    HostEvent::Withdrawn(id) => people.withdrawn(id),
                    HostEvent::Rejected(_) => held(&told).refused(),
                    HostEvent::Http(..) => {}
                })
                .await;
            let why = driven.map_or_else(|error| error.to_string(), |()| "it was closed".into());
            held(&told).end(why);
        });
        Self { commands, watchers, _driven: Arc::new(DriverTask(task.abort_handle())) }
    }

    /// Returns why nothing follows any more.
    pub(crate) fn ended(&self) -> SessionEndedError {
        SessionEndedError(
            held(&self.watchers).ended.clone().unwrap_or_else(|| "its task was stopped".into()),
        )
    }

    /// Says something that nobody waits to hear of.
    pub(crate) fn send(&self, command: Command) {
        self.commands.send(command);
    }

    /// Says something and waits until the session has heard it.
    pub(crate) async fn say(
        &self,
        command: Command,
    ) -> Result<Result<(), RejectedInput>, SessionEndedError> {
        self.commands.say(command, |_, _| {}).await.map_err(|_| self.ended())
    }

    /// Looks at the session, or changes its tools, between two things that happen.
    pub(crate) async fn visit<T: Send + 'static>(
        &self,
        visit: impl FnOnce(&Driver, &mut ToolRunner) -> T + Send + 'static,
    ) -> Result<T, SessionEndedError> {
        self.commands.visit(visit).await.map_err(|_| self.ended())
    }

    /// Begins a run: its number, its events, and whether the session takes the prompt.
    pub(crate) fn submit(&self, command: Command) -> SubmittedRun {
        let (tell, events) = unbounded_channel();
        let number = {
            let mut watchers = held(&self.watchers);
            watchers.runs += 1;
            watchers.runs
        };
        let watchers = Arc::clone(&self.watchers);
        let begin = move |_: &Driver, _: &mut ToolRunner| {
            let mut watchers = held(&watchers);
            // While one is under way, the session refuses another.
            if watchers.run.is_none() {
                watchers.run = Some(RunSubscriber { number, tell, has_begun: false });
            }
        };
        let heard = self.commands.say(command, begin);
        SubmittedRun { number, events, heard }
    }

    /// Ends a run that nobody waits for any more, if it is under way.
    pub(crate) fn abandon(&self, number: u64) {
        let (watchers, commands) = (Arc::clone(&self.watchers), self.commands.clone());
        // Behind the prompt, which may not have been heard yet.
        drop(self.commands.visit(move |_, _| {
            if held(&watchers).run.as_ref().is_some_and(|run| run.number == number) {
                commands.send(Command::Interrupt);
            }
        }));
    }

    /// All that happens from here on.
    pub(crate) fn subscribe(&self) -> UnboundedReceiver<Event> {
        let (tell, events) = unbounded_channel();
        let mut watchers = held(&self.watchers);
        if watchers.ended.is_none() {
            watchers.all.push(tell);
        }
        events
    }
}

/// A run whose prompt was said.
pub(crate) struct SubmittedRun {
    pub(crate) number: u64,
    pub(crate) events: UnboundedReceiver<Event>,
    pub(crate) heard: oneshot::Receiver<Result<(), RejectedInput>>,
}

impl EventSubscribers {
    fn tell(&mut self, event: &Event) {
        if let Some(run) = &mut self.run {
            run.has_begun = true;
            // Who has dropped the run hears nothing more.
            let _heard = run.tell.send(event.clone());
        }
        self.all.retain(|watcher| watcher.send(event.clone()).is_ok());
        let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
        if is_end && event.agent == AgentId::ROOT {
            self.run = None;
        }
    }

    /// Forgets the run whose prompt is refused: another that is under way has begun before.
    fn refused(&mut self) {
        self.run.take_if(|run| !run.has_begun);
    }

    fn end(&mut self, why: String) {
        self.ended = Some(why);
        self.run = None;
        drop(mem::take(&mut self.all));
    }
}

fn held(watchers: &Mutex<EventSubscribers>) -> MutexGuard<'_, EventSubscribers> {
    watchers.lock().unwrap_or_else(PoisonError::into_inner)
}
