//! The task that drives a session, and its handles: a handle sends a command or a closure, which
//! the task handles between two inputs, in the order of sending. The task stops when the last
//! handle is dropped.

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

/// The error of a session that is over: it was closed, or its log can no longer be written.
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

/// A handle to a session. Clones share the session, which stops when the last one is dropped.
#[derive(Clone, Debug)]
pub(crate) struct SessionHandle {
    commands: CommandSender,
    watchers: Arc<Mutex<EventSubscribers>>,
    _driven: Arc<DriverTask>,
}

/// The owner of the task that drives a session. When it is dropped, the session stops as if the
/// program had ended, and can be resumed from its log.
#[derive(Debug)]
struct DriverTask(AbortHandle);

impl Drop for DriverTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The subscribers to a session's events.
#[derive(Debug, Default)]
struct EventSubscribers {
    /// The subscriber of the current run.
    run: Option<RunSubscriber>,
    runs: u64,
    all: Vec<UnboundedSender<Event>>,
    ended: Option<String>,
}

/// The subscriber of a run.
#[derive(Debug)]
struct RunSubscriber {
    number: u64,
    tell: UnboundedSender<Event>,
    /// True if the session has accepted its prompt.
    has_begun: bool,
}

impl SessionHandle {
    /// Spawns a task that drives the session until it is closed.
    pub(crate) fn begin(mut host: Host, mut people: UserCallbacks, lock: Option<LockFile>) -> Self {
        let (watchers, commands) = (Arc::<Mutex<EventSubscribers>>::default(), host.commands());
        let (told, asked) = (Arc::clone(&watchers), commands.clone());
        let task = tokio::spawn(async move {
            // Held by the task and not by the handles: the task is what writes the log, and may
            // live a little longer than the last handle.
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

    /// Returns the reason why the session is over.
    pub(crate) fn ended(&self) -> SessionEndedError {
        SessionEndedError(
            held(&self.watchers).ended.clone().unwrap_or_else(|| "its task was stopped".into()),
        )
    }

    /// Sends a command without waiting until the session accepts it.
    pub(crate) fn send(&self, command: Command) {
        self.commands.send(command);
    }

    /// Sends a command and waits until the session accepts or refuses it.
    ///
    /// # Errors
    /// The session is over; the inner error is its refusal.
    pub(crate) async fn say(
        &self,
        command: Command,
    ) -> Result<Result<(), RejectedInput>, SessionEndedError> {
        self.commands.say(command, |_, _| {}).await.map_err(|_| self.ended())
    }

    /// Calls a closure with the session and its tools, between two inputs.
    ///
    /// # Errors
    /// The session is over.
    pub(crate) async fn visit<T: Send + 'static>(
        &self,
        visit: impl FnOnce(&Driver, &mut ToolRunner) -> T + Send + 'static,
    ) -> Result<T, SessionEndedError> {
        self.commands.visit(visit).await.map_err(|_| self.ended())
    }

    /// Begins a run without waiting until the session accepts the prompt.
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
            // During a run the session refuses another one, which must not get its place here.
            if watchers.run.is_none() {
                watchers.run = Some(RunSubscriber { number, tell, has_begun: false });
            }
        };
        // Registered by the task right before it takes the prompt: no event of the run can be
        // missed, and none of an earlier run is taken for its own.
        let heard = self.commands.say(command, begin);
        SubmittedRun { number, events, heard }
    }

    /// Interrupts a run that nobody waits for, if it is still the current one.
    pub(crate) fn abandon(&self, number: u64) {
        let (watchers, commands) = (Arc::clone(&self.watchers), self.commands.clone());
        // By a visit, which comes behind the prompt: that may not have been taken yet. By number,
        // since an interruption that comes late must not stop the next run.
        drop(self.commands.visit(move |_, _| {
            if held(&watchers).run.as_ref().is_some_and(|run| run.number == number) {
                commands.send(Command::Interrupt);
            }
        }));
    }

    /// Returns the events from now on; none if the session is over.
    pub(crate) fn subscribe(&self) -> UnboundedReceiver<Event> {
        let (tell, events) = unbounded_channel();
        let mut watchers = held(&self.watchers);
        if watchers.ended.is_none() {
            watchers.all.push(tell);
        }
        events
    }
}

/// A run whose prompt has been sent.
pub(crate) struct SubmittedRun {
    pub(crate) number: u64,
    pub(crate) events: UnboundedReceiver<Event>,
    pub(crate) heard: oneshot::Receiver<Result<(), RejectedInput>>,
}

impl EventSubscribers {
    fn tell(&mut self, event: &Event) {
        if let Some(run) = &mut self.run {
            run.has_begun = true;
            // Fails if the run was dropped, which interrupts it: its end is still to be noted here.
            let _heard = run.tell.send(event.clone());
        }
        self.all.retain(|watcher| watcher.send(event.clone()).is_ok());
        let is_end = matches!(event.kind, EventKind::ProcessingEnd { .. });
        if is_end && event.agent == AgentId::ROOT {
            self.run = None;
        }
    }

    /// Forgets the run whose prompt was refused. A run that has had events is another one, which
    /// continues.
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
    // Poisoned or not: nothing under the lock is left half changed by a panic.
    watchers.lock().unwrap_or_else(PoisonError::into_inner)
}
