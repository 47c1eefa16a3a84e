//! The native host of a session: it carries out what the driver asks for, each effect in a task of
//! its own, and returns the answers, no faster than the session takes them. It decides nothing:
//! what anything means is the business of the driver and the session.

use crate::{
    hooks::HookHandler,
    http::{HttpClient, HttpTimeouts},
    inbox::{EffectResponder, HostMessage, Inbox, Place, ROOM, SessionInspection},
    journal::{Journal, JournalError},
    output_stream::DeltaChannel,
    pictures,
    recording::RecordingWriter,
    tools::ToolRunner,
};
use innerloop_core::{
    event::{Event, EventKind},
    id::{AgentId, EffectId, SessionId},
    input::{Answer, Command, HttpInput, Input, RejectedInput, ToolInput},
    media::MediaLimits,
    output::{Ask, HookRun},
    time::SessionInstant,
    tool::ToolRun,
};
use innerloop_driver::{
    BaseUrl, Driver, DriverOutput, DriverOutputBatch, EndpointRequest, EndpointTable,
    custom_tool_outcome,
};
use innerloop_workspace::private_files::random;
use std::{
    collections::BTreeMap, future::Future, io, num::NonZero, sync::Arc,
    thread::available_parallelism, time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc::UnboundedSender, oneshot},
    task::JoinSet,
    time::sleep_until,
};

/// The number of tools that run at once: at least this many, and so many for each processor.
const LEAST_RUNS: usize = 4;
const RUNS_PER_PROCESSOR: usize = 2;

/// The number of requests that are under way at once.
const REQUESTS: usize = 32;

/// The parts that a host works with.
#[derive(Debug)]
pub struct HostParts {
    /// The client that sends requests; `None` if a recording answers them.
    pub http: Option<HttpClient>,
    /// The runner of the tools.
    pub tools: ToolRunner,
    /// The session's log, if there is one.
    pub journal: Option<Journal>,
    /// The recording, if one is made.
    pub recording: Option<RecordingWriter>,
}

/// News for the program that watches the session.
#[derive(Clone, Copy, Debug)]
pub enum HostEvent<'a> {
    /// An event of the session.
    Event(&'a Event),
    /// The session refused a command.
    Rejected(&'a RejectedInput),
    /// A question to a person; the answer goes back by [`CommandSender::answer`].
    Asked(EffectId, AgentId, &'a Ask),
    /// A question to a person or a request to an endpoint needs no answer any more.
    Withdrawn(EffectId),
    /// The progress of a request to an endpoint.
    Http(EffectId, RequestProgress<'a>),
}

/// The progress of a request to an endpoint.
#[derive(Clone, Copy, Debug)]
pub enum RequestProgress<'a> {
    /// The request is on its way to that address.
    Sent(&'a BaseUrl),
    /// A part of the response has come.
    Came,
    /// The last part has come, or nothing will.
    Over,
}

pub use crate::key_renewal::KeyRenewal;

/// Sends commands and answers to a session from anywhere. Clones send to the same one.
#[derive(Clone, Debug)]
pub struct CommandSender(UnboundedSender<HostMessage>);

impl CommandSender {
    /// Sends a command to the session's own agent. After the session's end it is ignored.
    pub fn send(&self, command: Command) {
        drop(self.0.send(HostMessage::Input(Input::command(command))));
    }

    /// Calls `look` with the session, then sends a command to the session's own agent, with nothing
    /// in between. The receiver gets whether the session took it, and after the session's end no
    /// answer.
    pub fn say(
        &self,
        command: Command,
        look: impl FnOnce(&Driver, &mut ToolRunner) + Send + 'static,
    ) -> oneshot::Receiver<Result<(), RejectedInput>> {
        let (tell, told) = oneshot::channel();
        let say = Some((Input::command(command), tell));
        drop(self.0.send(HostMessage::Visit(SessionInspection { look: Box::new(look), say })));
        told
    }

    /// Calls `look` between two inputs of the session, with the session and the tools that it runs
    /// from then on. After the session's end the receiver gets no answer.
    pub fn visit<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Driver, &mut ToolRunner) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (tell, told) = oneshot::channel();
        let look = move |driver: &Driver, tools: &mut ToolRunner| {
            // The caller may have stopped waiting, and then nobody misses the answer.
            drop(tell.send(look(driver, tools)));
        };
        drop(
            self.0.send(HostMessage::Visit(SessionInspection { look: Box::new(look), say: None })),
        );
        told
    }

    /// Adds endpoints, to which the session's configuration may then change. `renewal` looks up the
    /// key of the session's own endpoint from then on.
    pub fn reach(&self, endpoints: EndpointTable, renewal: Option<KeyRenewal>) {
        drop(self.0.send(HostMessage::Reach(endpoints, renewal)));
    }

    /// Answers a question to a person.
    pub fn answer(&self, id: EffectId, answer: Answer) {
        drop(self.0.send(HostMessage::Input(Input::Answer { id, answer })));
    }
}

/// An effect that is under way.
#[derive(Debug)]
struct InFlightEffect {
    stop: oneshot::Sender<()>,
    /// The channel for what a tool prints while it runs.
    said: Option<DeltaChannel>,
}

/// A session and everything that is under way for it. Dropping it stops all of that.
#[derive(Debug)]
pub struct Host {
    driver: Driver,
    http: Option<Arc<HttpClient>>,
    /// Shared with the runs that are under way, which keep those that they began with.
    tools: Arc<ToolRunner>,
    journal: Option<Journal>,
    recording: Option<RecordingWriter>,
    renewal: Option<KeyRenewal>,
    hooks: Option<Arc<dyn HookHandler>>,
    inbox: Inbox,
    /// The time at which session time was 0.
    begun: tokio::time::Instant,
    /// The effects that are under way, with the means to stop them.
    open: BTreeMap<EffectId, InFlightEffect>,
    /// Room for tools' runs, and for requests.
    runs: Arc<Semaphore>,
    requests: Arc<Semaphore>,
    tasks: JoinSet<()>,
    closed: bool,
}

impl Host {
    /// Creates a host for a session that has just been opened.
    #[must_use]
    pub fn new(driver: Driver, parts: HostParts) -> Self {
        let HostParts { http, tools, journal, recording } = parts;
        // A restored session goes on at the time where it stood, so that session time began that
        // long ago.
        let past = Duration::from_millis(driver.session().now().0);
        let now = tokio::time::Instant::now();
        Self {
            driver,
            http: http.map(Arc::new),
            tools: Arc::new(tools),
            journal,
            recording,
            renewal: None,
            hooks: None,
            inbox: Inbox::new(),
            begun: now.checked_sub(past).unwrap_or(now),
            open: BTreeMap::new(),
            runs: Arc::new(Semaphore::new(runs_at_once())),
            requests: Arc::new(Semaphore::new(REQUESTS)),
            tasks: JoinSet::new(),
            closed: false,
        }
    }

    /// Returns the same host with a key that may change, if there is a way to know.
    #[must_use]
    pub fn with_renewal(self, renewal: Option<KeyRenewal>) -> Self {
        Self { renewal, ..self }
    }

    /// Returns the same host with hooks, at the points that the driver's
    /// [`HostCapabilities`](innerloop_driver::HostCapabilities) name.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn HookHandler>) -> Self {
        Self { hooks: Some(hooks), ..self }
    }

    /// Returns a way to send commands and answers.
    #[must_use]
    pub fn commands(&self) -> CommandSender {
        CommandSender(self.inbox.words())
    }

    /// Returns the driver of the session, as it stands.
    #[must_use]
    pub const fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Takes the recording, if one is made. Its [`finish`](RecordingWriter::finish) tells whether
    /// all of it was written.
    pub fn take_recording(&mut self) -> Option<RecordingWriter> {
        self.recording.take()
    }

    /// Drives the session to its end. Its news go to `watch`, in order.
    ///
    /// # Errors
    /// [`JournalError`] if the log can no longer be written, so that nothing may follow
    /// from it.
    pub async fn run(&mut self, mut watch: impl FnMut(HostEvent<'_>)) -> Result<(), JournalError> {
        let opening = self.driver.start();
        self.carry_out(opening, &mut watch)?;
        while !self.closed {
            // The place is kept to the end of the round. If it became free before the answer is
            // heard, another run could start that this answer cancels.
            let (word, _place) = self.next().await;
            match word {
                HostMessage::Input(input) => drop(self.take(input, &mut watch).await?),
                HostMessage::Reach(endpoints, renewal) => self.reach(endpoints, renewal),
                HostMessage::Visit(SessionInspection { look, say }) => {
                    // Runs that are under way hold the old tools; `make_mut` copies them in that
                    // case, so that a change never reaches a run in its middle.
                    look(&self.driver, Arc::make_mut(&mut self.tools));
                    if let Some((input, tell)) = say {
                        drop(tell.send(self.take(input, &mut watch).await?));
                    }
                }
            }
        }
        Ok(())
    }

    fn reach(&mut self, endpoints: EndpointTable, renewal: Option<KeyRenewal>) {
        self.driver.reach(endpoints);
        self.renewal = renewal;
        // A client for this machine alone has no certificates. Where none can be made, requests
        // to the new endpoint fail with the reason.
        if self.http.is_some()
            && let Ok(http) = HttpClient::new(self.driver.endpoints().are_loopback())
        {
            self.http = Some(Arc::new(http));
        }
    }

    /// Handles an input. If it ends a run, everything that was printed before it is handled first.
    async fn take(
        &mut self,
        input: Input,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<Result<(), RejectedInput>, JournalError> {
        if let Input::Command { command: Command::Interrupt | Command::Close, .. } = input {
            self.catch_up(watch).await?;
        }
        // Before the session sees the input: the log holds what was sent, and a replay has no
        // decoder.
        let input = pictures::fit_input(input, self.media_limits()).await;
        self.hear(input, watch)
    }

    /// Returns the limits for the size of pictures.
    fn media_limits(&self) -> MediaLimits {
        MediaLimits::of(&self.driver.session().config().model)
    }

    /// Handles everything that was printed before a command that ends the runs. Other commands take
    /// effect before what comes after them, such as the end of a tool's run.
    async fn catch_up(
        &mut self,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<(), JournalError> {
        let said = self.open.iter().filter_map(|(id, open)| Some((*id, open.said.clone()?)));
        let said: Vec<(EffectId, DeltaChannel)> = said.collect();
        // While these are held, no output moves from a channel to the inbox. Otherwise it could
        // come in after the inbox was emptied and stand behind the rest that is taken below.
        let mut turns = Vec::new();
        for (_, deltas) in &said {
            turns.push(deltas.turn().await);
        }
        // The inbox has this much room, so that no more can have waited before the command.
        for _ in 0..ROOM {
            let Some((input, _place)) = self.inbox.waiting() else { break };
            drop(self.hear(input, watch)?);
        }
        for (id, deltas) in &said {
            let text = deltas.take();
            if !text.is_empty() {
                drop(self.hear(Input::Tool { id: *id, input: ToolInput::Delta(text) }, watch)?);
            }
        }
        Ok(())
    }

    /// Passes an input to the driver, and returns whether the session takes it.
    fn hear(
        &mut self,
        input: Input,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<Result<(), RejectedInput>, JournalError> {
        let now = self.now();
        if let Input::Command { command: Command::Submit { .. }, .. } = &input
            && let Some(key) = self.renewal.as_mut().and_then(|renewal| renewal.renew())
        {
            self.driver.rekey(key);
        }
        // Before the input is handled, so that watchers see the end of a request before the request
        // that follows from it.
        if let Some((id, traffic)) = traffic_of(&input) {
            watch(HostEvent::Http(id, traffic));
        }
        match self.driver.handle(input, now) {
            Ok(outputs) => self.carry_out(outputs, watch).map(Ok),
            Err(rejected) => {
                watch(HostEvent::Rejected(&rejected));
                Ok(Err(rejected))
            }
        }
    }

    /// Returns the next message: something from the inbox, or the deadline.
    async fn next(&mut self) -> (HostMessage, Option<Place>) {
        let due = self.driver.deadline().map(|at| self.begun + Duration::from_millis(at.0));
        let tick = async move {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        self.inbox.next(tick).await
    }

    /// Returns session time, rounded up, so that a deadline is over when its tick comes.
    fn now(&self) -> SessionInstant {
        // Rounded down, a tick that comes on time would be a fraction too early, change nothing,
        // and be due again at once.
        let elapsed = self.begun.elapsed() + Duration::from_micros(999);
        SessionInstant(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    /// Writes the log, then carries out what follows. This order is what makes a session survive a
    /// crash: no effect is begun that the log does not know.
    fn carry_out(
        &mut self,
        outputs: DriverOutputBatch,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<(), JournalError> {
        let DriverOutputBatch { log, snapshot, recording, list } = outputs;
        // Events change nothing outside, so that a step that has only those need not wait for the
        // disk.
        let acts = list.iter().any(|output| !matches!(output, DriverOutput::Event(_)));
        if let Some(journal) = &mut self.journal {
            journal.append(&log, acts)?;
            journal.append_snapshot(&snapshot.unwrap_or_default())?;
        }
        if let Some(file) = &mut self.recording {
            file.append(&recording);
        }
        for output in list {
            match output {
                DriverOutput::Event(event) => {
                    watch(HostEvent::Event(&event));
                    self.closed |= matches!(event.kind, EventKind::SessionEnd { .. });
                }
                DriverOutput::Send { id, request } => {
                    watch(HostEvent::Http(id, RequestProgress::Sent(&request.base)));
                    self.send(id, request);
                }
                DriverOutput::Run { id, agent, run } => self.run_tool(id, agent, run),
                DriverOutput::Ask { id, agent, ask } => watch(HostEvent::Asked(id, agent, &ask)),
                DriverOutput::Hook { id, agent, hook } => self.run_hook(id, agent, hook),
                DriverOutput::Cancel { id } => {
                    // The task is signalled and still answers by itself; one that has ended has
                    // answered already.
                    let _stopped = self.open.remove(&id).map(|open| open.stop.send(()));
                    watch(HostEvent::Withdrawn(id));
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, id: EffectId, request: EndpointRequest) {
        let Some(http) = self.http.clone() else { return self.give_up(id) };
        let room = self.requests.clone();
        let patience = HttpTimeouts::of(self.driver.session().config(), &request.url);
        self.spawn(id, None, |answering, mut stop| async move {
            let Some(_place) = place(room, &mut stop).await else { return };
            tokio::select! {
                biased;
                _ = stop => {}
                () = http.exchange(request, patience, |input| answering.http(input)) => {}
            }
        });
    }

    fn run_tool(&mut self, id: EffectId, agent: AgentId, run: Arc<ToolRun>) {
        let tools = Arc::clone(&self.tools);
        let room = self.runs.clone();
        let deltas = DeltaChannel::default();
        let limits = self.media_limits();
        self.spawn(id, Some(deltas.clone()), |answering, mut stop| async move {
            let Some(place) = place(room, &mut stop).await else {
                // The model reads an outcome of every call, also of one that was stopped before it
                // began.
                return answering.done(custom_tool_outcome::interrupted(), None).await;
            };
            let running = tools.run(agent, run, Arc::new(deltas.clone()), stop);
            let outcome = deltas.send_during(running, id, answering.inbox()).await;
            let outcome = pictures::fit_outcome(outcome, limits).await;
            answering.done(outcome, Some(place)).await;
        });
    }

    fn run_hook(&mut self, id: EffectId, agent: AgentId, run: HookRun) {
        let Some(hooks) = self.hooks.clone() else { return self.give_up(id) };
        self.spawn(id, None, |answering, stop| async move {
            tokio::select! {
                biased;
                _ = stop => {}
                reply = hooks.reply(agent, run) => answering.hook(reply).await,
            }
        });
    }

    /// Spawns the task of an effect, with its responder and its signal to stop.
    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        id: EffectId,
        said: Option<DeltaChannel>,
        task: impl FnOnce(EffectResponder, oneshot::Receiver<()>) -> F,
    ) {
        // A set keeps ended tasks until they are joined, so that a long session would keep one for
        // every effect.
        while self.tasks.try_join_next().is_some() {}
        let (stop, stopped) = oneshot::channel();
        self.open.insert(id, InFlightEffect { stop, said });
        // A task that has ended has dropped its receiver. Its entry would otherwise stay for ever.
        self.open.retain(|_, open| !open.stop.is_closed());
        let answering = self.inbox.answering(id);
        self.tasks.spawn(task(answering, stopped));
    }

    /// Reports an effect as lost, as nobody here carries it out.
    fn give_up(&self, id: EffectId) {
        drop(self.inbox.words().send(HostMessage::Input(Input::Lost { id })));
    }
}

/// Returns the progress of a request that an input reports.
const fn traffic_of(input: &Input) -> Option<(EffectId, RequestProgress<'static>)> {
    match input {
        Input::Http { id, input: HttpInput::Head(_) | HttpInput::Chunk(_) } => {
            Some((*id, RequestProgress::Came))
        }
        Input::Http { id, .. } | Input::Lost { id } => Some((*id, RequestProgress::Over)),
        _ => None,
    }
}

/// Creates an id that no other session has.
///
/// # Errors
/// The system gives no random numbers.
pub fn new_session_id() -> io::Result<SessionId> {
    let bits = random().map(u128::from_ne_bytes)?;
    Ok(SessionId(format!("{bits:032x}")))
}

/// Returns the number of tools that run at once. Others wait, and their time limits begin when they
/// run.
#[must_use]
pub fn runs_at_once() -> usize {
    let processors = available_parallelism().map_or(1, NonZero::get);
    LEAST_RUNS.max(RUNS_PER_PROCESSOR * processors)
}

/// Waits for a place among those that are under way at once, which is kept until it is dropped;
/// `None` if the signal to stop comes first.
async fn place(room: Arc<Semaphore>, stop: &mut oneshot::Receiver<()>) -> Option<Place> {
    tokio::select! {
        biased;
        _ = stop => None,
        place = room.acquire_owned() => place.ok(),
    }
}
