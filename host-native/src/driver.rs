//! The driver of a session: it carries out the effects that the core asks for, each in a task of
//! its own, and brings back what came of them through one channel. What an answer means is the
//! core's business; there is no `if` about it here.

use crate::{
    answering::{Answering, without_key},
    journal::{Journal, JournalError},
    models::Models,
    secret::Key,
    tools::Tools,
};
use innerloop_core::{
    Session,
    config::{ConfigError, SessionConfig},
    event::{Event, EventKind},
    id::{AgentId, EffectId},
    input::{Answer, Command, HookReply, HttpFailure, HttpFailureKind, HttpInput, Input, Rejected},
    output::{Effect, HttpRequest, Output, Outputs},
    time::{Instant, UnixMillis},
    tool::ToolRun,
};
use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    task::JoinSet,
    time::sleep_until,
};

/// What a driver works with.
#[derive(Debug)]
pub struct Parts {
    /// Where model traffic goes.
    pub models: Models,
    /// Who runs tools.
    pub tools: Tools,
    /// Where the session's log goes, if anywhere.
    pub journal: Option<Journal>,
    /// The key that must not get into the session.
    pub key: Key,
}

/// News for whoever watches the session.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// The session says something.
    Event(&'a Event),
    /// The session refused a command.
    Rejected(&'a Rejected),
}

/// Why a driver stops before its session is over.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// What happened can no longer be written down, so that nothing may follow from it.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The configuration cannot work.
    #[error("the configuration cannot work: {0}")]
    Config(#[from] ConfigError),
    /// The log cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Sends commands to a session from anywhere. Clones send to the same one.
#[derive(Clone, Debug)]
pub struct Commands(UnboundedSender<Input>);

impl Commands {
    /// Sends a command to the session's own agent. After the session's end it is dropped.
    pub fn send(&self, command: Command) {
        drop(self.0.send(Input::command(command)));
    }
}

/// A session and everything that is under way for it. Dropping it stops all of that.
#[derive(Debug)]
pub struct Driver {
    session: Session,
    parts: Parts,
    sender: UnboundedSender<Input>,
    inbox: UnboundedReceiver<Input>,
    begun: tokio::time::Instant,
    /// What follows from the opening.
    opening: Outputs,
    /// Open effects and how to stop them.
    open: BTreeMap<EffectId, oneshot::Sender<()>>,
    tasks: JoinSet<()>,
    closed: bool,
}

impl Driver {
    /// Opens a session with `config` at `wall` and writes the first line of its log.
    ///
    /// # Errors
    /// The configuration cannot work, or the log cannot be written.
    pub fn open(config: SessionConfig, wall: UnixMillis, parts: Parts) -> Result<Self, OpenError> {
        let mut parts = parts;
        if let Some(journal) = &mut parts.journal {
            journal.begin(&config, wall)?;
        }
        let (session, opening) = Session::open(config, wall)?;
        let (sender, inbox) = unbounded_channel();
        Ok(Self {
            session,
            parts,
            sender,
            inbox,
            begun: tokio::time::Instant::now(),
            opening,
            open: BTreeMap::new(),
            tasks: JoinSet::new(),
            closed: false,
        })
    }

    /// A way to send commands.
    #[must_use]
    pub fn commands(&self) -> Commands {
        Commands(self.sender.clone())
    }

    /// The session as it stands.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Drives the session to its end. Its news go to `watch`, in order.
    ///
    /// # Errors
    /// [`DriverError`] if it cannot go on.
    pub async fn run(&mut self, mut watch: impl FnMut(News<'_>)) -> Result<(), DriverError> {
        let opening = std::mem::take(&mut self.opening);
        self.carry_out(opening, &mut watch);
        while !self.closed {
            let input = self.next().await;
            self.take_in(input, &mut watch)?;
        }
        Ok(())
    }

    /// What happens next: something from the channel, or the deadline.
    async fn next(&mut self) -> Input {
        let deadline = self.session.deadline();
        let due = deadline.map(|deadline| self.begun + Duration::from_millis(deadline.at.0));
        let tick = async move {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(input) = self.inbox.recv() => input,
            () = tick => Input::Tick,
        }
    }

    /// Durable first, then what follows.
    fn take_in(
        &mut self,
        input: Input,
        watch: &mut impl FnMut(News<'_>),
    ) -> Result<(), DriverError> {
        let input = without_key(input, &self.parts.key);
        let now = self.now();
        let line = self.parts.journal.as_ref().map(|_| Journal::line(&input, now));
        match self.session.handle(input, now) {
            Ok(outputs) => {
                if let (Some(journal), Some(line)) = (&mut self.parts.journal, line) {
                    journal.append(&line, outputs.effects().next().is_some())?;
                }
                self.carry_out(outputs, watch);
            }
            Err(rejected) => watch(News::Rejected(&rejected)),
        }
        Ok(())
    }

    /// Session time: rounded up, so that a deadline is over when its tick comes.
    fn now(&self) -> Instant {
        let elapsed = self.begun.elapsed() + Duration::from_micros(999);
        Instant(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    fn carry_out(&mut self, outputs: Outputs, watch: &mut impl FnMut(News<'_>)) {
        for output in outputs {
            match output {
                Output::Event(event) => {
                    watch(News::Event(&event));
                    self.closed |= matches!(event.kind, EventKind::SessionEnd { .. });
                }
                Output::Effect(effect) => self.start(effect),
            }
        }
    }

    fn start(&mut self, effect: Effect) {
        match effect {
            Effect::Http { id, agent, request, .. } => self.start_http(id, agent, request),
            Effect::RunTool { id, run, .. } => self.start_tool(id, run),
            Effect::Ask { id, .. } => {
                let reason = "nobody is here to be asked".to_owned();
                self.answer(Input::Answer { id, answer: Answer::Deny { reason } });
            }
            Effect::RunHook { id, .. } => {
                let message = "this host has no hooks".to_owned();
                self.answer(Input::Hook { id, reply: HookReply::Failed { message } });
            }
            Effect::Cancel { id, .. } => {
                // The task hears of it and answers; one that has ended has answered already.
                let _stopped = self.open.remove(&id).map(|stop| stop.send(()));
            }
        }
    }

    fn start_http(&mut self, id: EffectId, agent: AgentId, request: HttpRequest) {
        let history = self.session.history(agent);
        let exchange = self.parts.models.begin(request, history);
        self.spawn(id, |mut answer, stop| async move {
            let stopped = {
                let carried = exchange.carry_out(|input| answer.http(input));
                tokio::select! {
                    () = carried => false,
                    _ = stop => true,
                }
            };
            if stopped {
                let message = "the model call was cancelled".to_owned();
                let kind = HttpFailureKind::Cancelled;
                answer.http(HttpInput::Failed(HttpFailure { kind, message }));
            }
        });
    }

    fn start_tool(&mut self, id: EffectId, run: Arc<ToolRun>) {
        let tools = self.parts.tools.clone();
        let key = self.parts.key.clone();
        self.spawn(id, |mut answer, stop| async move {
            let deltas = answer.deltas(key);
            let outcome = tools.run(run, deltas, stop).await;
            answer.done(outcome);
        });
    }

    /// Spawns the task of an effect, with its way to answer and the word to stop.
    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        id: EffectId,
        task: impl FnOnce(Answering, oneshot::Receiver<()>) -> F,
    ) {
        while self.tasks.try_join_next().is_some() {}
        let (stop, stopped) = oneshot::channel();
        self.open.insert(id, stop);
        self.open.retain(|_, stop| !stop.is_closed());
        let answering = Answering::new(id, self.sender.clone());
        self.tasks.spawn(task(answering, stopped));
    }

    fn answer(&self, input: Input) {
        // The driver holds the receiving end itself.
        drop(self.sender.send(input));
    }
}
