//! An agent: a session, and what can be done with it at any time.

use crate::{
    build_error::BuildError,
    builder::{AgentBuilder, new_session_id},
    clock::wall_time,
    files::MemoryFiles,
    host::{ROOT, SessionHost},
    run::AgentRun,
    tool::Tool,
};
use futures::{Stream, StreamExt as _, channel::mpsc::UnboundedReceiver};
use innerloop_core::{
    event::Event,
    id::SessionId,
    input::{Command, Input, RejectedInput},
    json::{JsonObject, from_str},
    message::Turn,
    status::{AgentState, Status},
};
use innerloop_driver::{ApiKey, DriverOptions, EndpointTable};
use innerloop_face::{Prompt, patch};
use std::{
    fmt,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

/// A coding agent: a session with a model, over files in the page's memory. Clones are handles of
/// the same one. When the last of them and of its runs is dropped, the session stops where it is:
/// requests are aborted, tools' futures dropped. Everything but [`Agent::run`] works while a run is
/// under way, too, and answers at once.
///
/// ```no_run
/// use innerloop_web::{Agent, MemoryFiles};
///
/// # async fn example(key: String) -> Result<(), Box<dyn std::error::Error>> {
/// let files = MemoryFiles::new();
/// files.write("poem.md", "Roses are red.")?;
/// let agent =
///     Agent::builder().provider("anthropic").api_key(key).files(files.clone()).build()?;
/// let result = agent.run("Go on with poem.md").await?;
/// assert!(files.text("poem.md").is_some_and(|poem| poem.len() > 20), "{}", result.text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    host: Rc<SessionHost>,
    endpoints: EndpointTable,
}

/// The reason why a request to an agent had no effect.
///
/// ```
/// use innerloop_web::{Agent, AgentError};
///
/// # fn example(agent: &Agent) -> Result<(), AgentError> {
/// match agent.configure(r#"{"limits": {"max_turn": 5}}"#) {
///     // "config.limits.max_turn: unknown field `max_turn`, expected one of …"
///     Err(AgentError::Refused(refused)) => eprintln!("{}", refused.reason),
///     other => other?,
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The session refuses it, and is as it was.
    #[error(transparent)]
    Refused(#[from] Box<RejectedInput>),
    /// It is no JSON object.
    #[error("the patch is no JSON object: {0}")]
    Patch(String),
}

impl AgentBuilder {
    /// Makes the agent.
    ///
    /// # Errors
    /// [`BuildError`], which says what to do.
    pub fn build(self) -> Result<Agent, BuildError> {
        let (host, endpoints) = self.begin()?;
        Ok(Agent { host, endpoints })
    }
}

impl Agent {
    /// Returns what an agent is made with.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.host.driver.borrow().session().id().clone()
    }

    /// Begins a run. While one is under way, another is refused: [`Agent::steer`] and
    /// [`Agent::follow_up`] say something to it.
    pub fn run(&self, prompt: impl Into<Prompt>) -> AgentRun {
        AgentRun::begin(Rc::clone(&self.host), prompt.into())
    }

    /// Says something to the run that is under way: the model reads it after the current round of
    /// tool calls. While none is, it waits for the next one.
    ///
    /// # Errors
    /// [`AgentError`] if there is nothing in it, or the session is closed.
    pub fn steer(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        self.say(Command::Steer { parts: prompt.into().parts })
    }

    /// Says something for when the model is done with what it is doing.
    ///
    /// # Errors
    /// As [`Agent::steer`].
    pub fn follow_up(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        let Prompt { parts, options } = prompt.into();
        self.say(Command::FollowUp { parts, options: options.map(Box::new) })
    }

    /// Stops the run that is under way. Its result says so.
    pub fn interrupt(&self) {
        // What is closed has nothing to stop.
        drop(self.say(Command::Interrupt));
    }

    /// Takes back the newest steps of the conversation, each of which began with a prompt. Files
    /// stay as they are.
    ///
    /// # Errors
    /// [`AgentError`] while a run is under way, or where there is nothing to undo.
    pub fn undo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Undo { steps })
    }

    /// Puts back steps that were undone, the last one first.
    ///
    /// # Errors
    /// As [`Agent::undo`].
    pub fn redo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Redo { steps })
    }

    /// Has the model read less of the conversation: its oldest turns are summed up.
    ///
    /// # Errors
    /// [`AgentError`] while a run is under way, or where all turns are among those that stay.
    pub fn compact(&self) -> Result<(), AgentError> {
        self.say(Command::Compact { instructions: None })
    }

    /// Changes the configuration from the next model call on, by a JSON Merge Patch (RFC 7396) of
    /// [`SessionConfig`](innerloop_core::config::SessionConfig)'s JSON.
    ///
    /// ```no_run
    /// # fn example(agent: innerloop_web::Agent) -> Result<(), innerloop_web::AgentError> {
    /// agent.configure(r#"{"model": {"name": "claude-haiku-4-5"}}"#)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`AgentError`]: it is no JSON object, or makes no configuration that works.
    pub fn configure(&self, patch: &str) -> Result<(), AgentError> {
        let patch = from_str::<JsonObject>(patch);
        let patch = patch.map_err(|error| AgentError::Patch(error.to_string()))?;
        self.say(Command::Configure { patch })
    }

    /// Uses another key from the next request on, for example since the server has refused the one
    /// before.
    pub fn set_api_key(&self, key: &str) {
        let key = ApiKey::new(key);
        self.host.site.borrow_mut().key = Some(key.clone());
        self.host.driver.borrow_mut().rekey(key);
    }

    /// Gives the model a tool more, in place of one of that name, from the next model call on.
    ///
    /// # Errors
    /// [`AgentError`]: its schema is none that arguments can be checked by, or the session is
    /// closed.
    pub fn add_tool(&self, tool: Tool) -> Result<(), AgentError> {
        let name = tool.spec().name.clone();
        self.change_tools(|tools| {
            tools.retain(|known| known.spec().name != name);
            tools.push(tool);
        })
    }

    /// Takes a tool of the page's own from the model, if there is one of that name.
    ///
    /// # Errors
    /// [`AgentError`] if the session is closed.
    pub fn remove_tool(&self, name: &str) -> Result<(), AgentError> {
        self.change_tools(|tools| tools.retain(|known| known.spec().name != name))
    }

    /// All turns of the conversation, oldest first, also those that the model does not read any
    /// more.
    #[must_use]
    pub fn history(&self) -> Vec<Turn> {
        let driver = self.host.driver.borrow();
        let history = driver.session().history(ROOT);
        history.map_or_else(Vec::new, |history| history.turns().to_vec())
    }

    /// Returns where the agent stands, and what it has used so far; nothing once the session is
    /// closed.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        let status = self.host.driver.borrow().session().status(ROOT);
        status.filter(|status| status.state != AgentState::Closed)
    }

    /// The session as bytes, at any time, from which [`AgentBuilder::restore`] goes on. Where they
    /// are kept is the page's business; files are not in them, and a key is not.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.host.driver.borrow().snapshot()
    }

    /// A new session that has heard all that this one has, or its first `turns` turns, over the
    /// same files, with the same tools and the same people to ask.
    ///
    /// # Errors
    /// [`BuildError`]: the page gives no random numbers, of which the id is made.
    pub fn fork(&self, turns: Option<usize>) -> Result<Self, BuildError> {
        let site = self.host.site.borrow().clone();
        let parts = DriverOptions {
            endpoints: self.endpoints.clone(),
            people: site.asked(),
            ..DriverOptions::default()
        };
        let (id, turns) = (new_session_id()?, turns.unwrap_or(usize::MAX));
        let mut driver = self.host.driver.borrow().fork(id, turns, wall_time(), parts)?;
        site.key.iter().for_each(|key| driver.rekey(key.clone()));
        Ok(Self { host: SessionHost::new(driver, site), endpoints: self.endpoints.clone() })
    }

    /// Everything that happens from here on, in all runs and between them. It waits in memory until
    /// it is read.
    #[must_use]
    pub fn subscribe(&self) -> EventStream {
        EventStream(self.host.watchers.borrow_mut().subscribe())
    }

    /// The files that the agent works on.
    #[must_use]
    pub fn files(&self) -> MemoryFiles {
        self.host.site.borrow().files.clone()
    }

    /// Ends the session for good: a run that is under way is stopped.
    pub fn close(&self) {
        // What is closed stays so.
        drop(self.say(Command::Close));
    }

    fn say(&self, command: Command) -> Result<(), AgentError> {
        Ok(self.host.tell(Input::command(command)).map_err(Box::new)?)
    }

    /// Changes the tools that are run, and then those that the model is told of.
    fn change_tools(&self, change: impl FnOnce(&mut Vec<Tool>)) -> Result<(), AgentError> {
        let before = self.host.site.borrow().tools.clone();
        change(&mut self.host.site.borrow_mut().tools);
        let specs = self.host.site.borrow().specs();
        let said = self.say(Command::Configure { patch: patch::of_tools(&specs) });
        if said.is_err() {
            // What the model is not told of is not run either.
            self.host.site.borrow_mut().tools = before;
        }
        said
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// The events of a session, until it is closed.
///
/// ```
/// use futures::StreamExt as _;
/// use innerloop_web::{Agent, EventKind};
///
/// # async fn example(agent: &Agent, show: impl Fn(&str)) {
/// let mut events = agent.subscribe();
/// while let Some(event) = events.next().await {
///     if let EventKind::Warning { message } = &event.kind {
///         show(message);
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct EventStream(UnboundedReceiver<Event>);

impl Stream for EventStream {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().0.poll_next_unpin(context)
    }
}
