//! The native host of a session: it carries out what the driver asks for, each thing in a task of
//! its own, and brings back what came of it, no faster than the session takes it. What anything
//! means is the driver's and the session's business.

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
    ApiKey, BaseUrl, Driver, DriverOutput, DriverOutputBatch, EndpointRequest, custom_tool_outcome,
};
use innerloop_workspace::private_files::random;
use std::{
    collections::BTreeMap, fmt, future::Future, io, num::NonZero, sync::Arc,
    thread::available_parallelism, time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc::UnboundedSender, oneshot},
    task::JoinSet,
    time::sleep_until,
};

/// The number of tools that run at once: at least so many, and so many for each processor.
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

/// News for whoever watches the session.
#[derive(Clone, Copy, Debug)]
pub enum HostEvent<'a> {
    /// The session says something.
    Event(&'a Event),
    /// The session refused a command.
    Rejected(&'a RejectedInput),
    /// Somebody is asked; the answer goes back by [`CommandSender::answer`].
    Asked(EffectId, AgentId, &'a Ask),
    /// A question to a person or a request to an endpoint needs no answer any more.
    Withdrawn(EffectId),
    /// The progress of a request to an endpoint.
    Http(EffectId, RequestProgress<'a>),
}

/// The progress of a request to an endpoint.
#[derive(Clone, Copy, Debug)]
pub enum RequestProgress<'a> {
    /// It is on its way to that place.
    Sent(&'a BaseUrl),
    /// Something of the response has come.
    Came,
    /// Nothing more comes.
    Over,
}

/// Sends commands and answers to a session from anywhere. Clones send to the same one.
#[derive(Clone, Debug)]
pub struct CommandSender(UnboundedSender<HostMessage>);

/// Gives the endpoint's key anew before each word of the user, where it is another one by now.
pub struct KeyRenewal(Box<dyn FnMut() -> Option<ApiKey> + Send>);

impl KeyRenewal {
    /// Returns what `renew` gives is in force from the next request on.
    #[must_use]
    pub fn new(renew: impl FnMut() -> Option<ApiKey> + Send + 'static) -> Self {
        Self(Box::new(renew))
    }
}

impl fmt::Debug for KeyRenewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRenewal")
    }
}

impl CommandSender {
    /// Sends a command to the session's own agent. After the session's end it is dropped.
    pub fn send(&self, command: Command) {
        drop(self.0.send(HostMessage::Input(Input::command(command))));
    }

    /// Sends a command to the session's own agent, and has it answered whether the session takes
    /// it. Right before, it looks at the session. After the session's end there is no answer.
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

    /// Looks at the session between two things that happen, and at the tools that it runs from then
    /// on. After the session's end there is no answer.
    pub fn visit<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Driver, &mut ToolRunner) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (tell, told) = oneshot::channel();
        let look = move |driver: &Driver, tools: &mut ToolRunner| {
            // Who has stopped waiting misses nothing.
            drop(tell.send(look(driver, tools)));
        };
        drop(
            self.0.send(HostMessage::Visit(SessionInspection { look: Box::new(look), say: None })),
        );
        told
    }

    /// Answers a question.
    pub fn answer(&self, id: EffectId, answer: Answer) {
        drop(self.0.send(HostMessage::Input(Input::Answer { id, answer })));
    }
}

/// An effect that is under way.
#[derive(Debug)]
struct InFlightEffect {
    stop: oneshot::Sender<()>,
    /// The channel for what a tool says on the way.
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
    /// A host for a session that has just been opened.
    #[must_use]
    pub fn new(driver: Driver, parts: HostParts) -> Self {
        let HostParts { http, tools, journal, recording } = parts;
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

    /// The same with a key that may change, if there is a way to know.
    #[must_use]
    pub fn with_renewal(self, renewal: Option<KeyRenewal>) -> Self {
        Self { renewal, ..self }
    }

    /// The same with hooks, at the points that the driver's
    /// [`HostCapabilities`](innerloop_driver::HostCapabilities) name.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn HookHandler>) -> Self {
        Self { hooks: Some(hooks), ..self }
    }

    /// A way to send commands and answers.
    #[must_use]
    pub fn commands(&self) -> CommandSender {
        CommandSender(self.inbox.words())
    }

    /// The driver of the session, as it stands.
    #[must_use]
    pub const fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Returns whether the whole recording could be written, with the first thing that went wrong.
    pub fn take_recording(&mut self) -> Option<RecordingWriter> {
        self.recording.take()
    }

    /// Drives the session to its end. Its news go to `watch`, in order.
    ///
    /// # Errors
    /// [`JournalError`] if what happened can no longer be written down, so that nothing may follow
    /// from it.
    pub async fn run(&mut self, mut watch: impl FnMut(HostEvent<'_>)) -> Result<(), JournalError> {
        let opening = self.driver.start();
        self.carry_out(opening, &mut watch)?;
        while !self.closed {
            let (word, _place) = self.next().await;
            match word {
                HostMessage::Input(input) => drop(self.take(input, &mut watch).await?),
                HostMessage::Visit(SessionInspection { look, say }) => {
                    look(&self.driver, Arc::make_mut(&mut self.tools));
                    if let Some((input, tell)) = say {
                        // Who has stopped waiting misses nothing.
                        drop(tell.send(self.take(input, &mut watch).await?));
                    }
                }
            }
        }
        Ok(())
    }

    /// Hears something, behind what was said before it where it ends whoever said that.
    async fn take(
        &mut self,
        input: Input,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<Result<(), RejectedInput>, JournalError> {
        if let Input::Command { command: Command::Interrupt | Command::Close, .. } = input {
            self.catch_up(watch).await?;
        }
        let input = pictures::fit_input(input, self.media_limits()).await;
        self.hear(input, watch)
    }

    /// Returns how large pictures may be.
    fn media_limits(&self) -> MediaLimits {
        MediaLimits::of(&self.driver.session().config().model)
    }

    /// Hears all that was said before a command that ends whoever said it. Other commands take
    /// effect before what comes after them, such as the end of a tool's run.
    async fn catch_up(
        &mut self,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<(), JournalError> {
        let said = self.open.iter().filter_map(|(id, open)| Some((*id, open.said.clone()?)));
        let said: Vec<(EffectId, DeltaChannel)> = said.collect();
        let mut turns = Vec::new();
        for (_, deltas) in &said {
            turns.push(deltas.turn().await);
        }
        // More than these were not there before the command.
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

    /// Hears something, and says whether the session takes it.
    fn hear(
        &mut self,
        input: Input,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<Result<(), RejectedInput>, JournalError> {
        let now = self.now();
        if let Input::Command { command: Command::Submit { .. }, .. } = &input
            && let Some(key) = self.renewal.as_mut().and_then(|renewal| (renewal.0)())
        {
            self.driver.rekey(key);
        }
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

    /// Returns what happens next: something from the inbox, or the deadline.
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

    /// Session time: rounded up, so that a deadline is over when its tick comes.
    fn now(&self) -> SessionInstant {
        let elapsed = self.begun.elapsed() + Duration::from_micros(999);
        SessionInstant(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    /// Durable first, then what follows.
    fn carry_out(
        &mut self,
        outputs: DriverOutputBatch,
        watch: &mut impl FnMut(HostEvent<'_>),
    ) -> Result<(), JournalError> {
        let DriverOutputBatch { log, snapshot, recording, list } = outputs;
        let acts = list.iter().any(|output| !matches!(output, DriverOutput::Event(_)));
        if let Some(journal) = &mut self.journal {
            journal.append(&log, acts)?;
            journal.append(&snapshot.unwrap_or_default(), false)?;
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
                    // The task hears of it; one that has ended has answered already.
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

    /// Spawns the task of an effect, with its way to answer and the word to stop.
    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        id: EffectId,
        said: Option<DeltaChannel>,
        task: impl FnOnce(EffectResponder, oneshot::Receiver<()>) -> F,
    ) {
        while self.tasks.try_join_next().is_some() {}
        let (stop, stopped) = oneshot::channel();
        self.open.insert(id, InFlightEffect { stop, said });
        self.open.retain(|_, open| !open.stop.is_closed());
        let answering = self.inbox.answering(id);
        self.tasks.spawn(task(answering, stopped));
    }

    /// Tells that there is nobody who does this.
    fn give_up(&self, id: EffectId) {
        drop(self.inbox.words().send(HostMessage::Input(Input::Lost { id })));
    }
}

/// Returns what an input tells of a request.
const fn traffic_of(input: &Input) -> Option<(EffectId, RequestProgress<'static>)> {
    match input {
        Input::Http { id, input: HttpInput::Head(_) | HttpInput::Chunk(_) } => {
            Some((*id, RequestProgress::Came))
        }
        Input::Http { id, .. } | Input::Lost { id } => Some((*id, RequestProgress::Over)),
        _ => None,
    }
}

/// An id that no other session has.
///
/// # Errors
/// The system gives no random numbers.
pub fn new_session_id() -> io::Result<SessionId> {
    let bits = random().map(u128::from_ne_bytes)?;
    Ok(SessionId(format!("{bits:032x}")))
}

/// Returns how many tools run at once; more of them wait, and their time limits with them.
#[must_use]
pub fn runs_at_once() -> usize {
    let processors = available_parallelism().map_or(1, NonZero::get);
    LEAST_RUNS.max(RUNS_PER_PROCESSOR * processors)
}

/// A place among those that are under way at once, kept until it is dropped; none if the word to
/// stop comes first.
async fn place(room: Arc<Semaphore>, stop: &mut oneshot::Receiver<()>) -> Option<Place> {
    tokio::select! {
        biased;
        _ = stop => None,
        place = room.acquire_owned() => place.ok(),
    }
}
