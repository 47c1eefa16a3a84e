//! The agent: a handle to a session in the page. The names are those of the crate `innerloop`, but
//! a page has one thread: every method calls the session directly and returns at once.

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
    config::SessionConfig,
    event::Event,
    id::SessionId,
    input::{Command, Input, RejectedInput},
    json::{JsonObject, from_str},
    message::Turn,
    status::{AgentState, ContextUsage, PendingInputs, Status, SubagentInfo},
};
use innerloop_driver::{ApiKey, DriverOptions, EndpointTable};
use innerloop_face::{Prompt, patch};
use std::{
    fmt,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

/// A coding agent: a session with a model, over files in the page's memory. Clones are handles to
/// the same session. When the last handle and the last run are dropped, the session stops at that
/// point: requests are aborted, and tools' futures dropped. Everything except [`Agent::run`] also
/// works during a run, and returns at once.
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
    /// The session refuses the request, and is unchanged.
    #[error(transparent)]
    Refused(#[from] Box<RejectedInput>),
    /// The patch is not a JSON object.
    #[error("the patch is no JSON object: {0}")]
    Patch(String),
}

impl AgentBuilder {
    /// Builds the agent. Its session begins on the next turn of the page's event loop, or with the
    /// first prompt or command.
    ///
    /// # Errors
    /// [`BuildError`], which says what to do.
    pub fn build(self) -> Result<Agent, BuildError> {
        let (host, endpoints) = self.begin()?;
        Ok(Agent { host, endpoints })
    }
}

impl Agent {
    /// Returns a builder with the default settings.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// Returns the session's id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.host.driver.borrow().session().id().clone()
    }

    /// Begins a run. During a run another one is refused; use [`Agent::steer`] or
    /// [`Agent::follow_up`] then.
    pub fn run(&self, prompt: impl Into<Prompt>) -> AgentRun {
        AgentRun::begin(Rc::clone(&self.host), prompt.into())
    }

    /// Steers the current run: the model reads the prompt after the current round of tool calls.
    /// Without a run, the prompt waits for the next one.
    ///
    /// # Errors
    /// [`AgentError`] if the prompt is empty, or the session is closed.
    pub fn steer(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        self.say(Command::Steer { parts: prompt.into().parts })
    }

    /// Queues a prompt that starts when the model is done with the current one.
    ///
    /// # Errors
    /// As [`Agent::steer`].
    pub fn follow_up(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        let Prompt { parts, options } = prompt.into();
        self.say(Command::FollowUp { parts, options: options.map(Box::new) })
    }

    /// Interrupts the current run. Its result says so.
    pub fn interrupt(&self) {
        // Refused only by a closed session, which has nothing to stop.
        drop(self.say(Command::Interrupt));
    }

    /// Undoes the newest steps of the conversation, each of which began with a prompt. Files do not
    /// change.
    ///
    /// # Errors
    /// [`AgentError`] during a run, or if there is nothing to undo.
    pub fn undo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Undo { steps })
    }

    /// Redoes steps that were undone, the last one first.
    ///
    /// # Errors
    /// [`AgentError`] during a run, or if there is nothing to redo.
    pub fn redo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Redo { steps })
    }

    /// Shortens the conversation that the model reads: its oldest turns are summarised.
    ///
    /// # Errors
    /// [`AgentError`] during a run, or if no turn is old enough.
    pub fn compact(&self) -> Result<(), AgentError> {
        self.say(Command::Compact { instructions: None })
    }

    /// Changes the configuration from the next model call on, with a JSON Merge Patch (RFC 7396) of
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
    /// [`AgentError`] if the patch is not a JSON object, or makes the configuration invalid.
    pub fn configure(&self, patch: &str) -> Result<(), AgentError> {
        let patch = from_str::<JsonObject>(patch);
        let patch = patch.map_err(|error| AgentError::Patch(error.to_string()))?;
        self.say(Command::Configure { patch })
    }

    /// Uses another key from the next request on, for example because the server has refused the
    /// previous one.
    pub fn set_api_key(&self, key: &str) {
        let key = ApiKey::new(key);
        // Kept for forks, too: their endpoints are those of the builder, with the first key.
        self.host.site.borrow_mut().key = Some(key.clone());
        self.host.driver.borrow_mut().rekey(key);
    }

    /// Adds a tool from the next model call on; one of the same name is replaced.
    ///
    /// # Errors
    /// [`AgentError`] if the schema cannot be used to check arguments, or the session is closed.
    pub fn add_tool(&self, tool: Tool) -> Result<(), AgentError> {
        let name = tool.spec().name.clone();
        self.change_tools(|tools| {
            tools.retain(|known| known.spec().name != name);
            tools.push(tool);
        })
    }

    /// Removes the page's own tool of that name, if there is one.
    ///
    /// # Errors
    /// [`AgentError`] if the session is closed.
    pub fn remove_tool(&self, name: &str) -> Result<(), AgentError> {
        self.change_tools(|tools| tools.retain(|known| known.spec().name != name))
    }

    /// Returns all turns of the conversation, oldest first, including those that the model no
    /// longer reads.
    #[must_use]
    pub fn history(&self) -> Vec<Turn> {
        self.host.driver.borrow().shown_turns(ROOT)
    }

    /// Returns the state of the agent and its usage so far; `None` once the session is closed.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        let status = self.host.driver.borrow().session().status(ROOT);
        status.filter(|status| status.state != AgentState::Closed)
    }

    /// Returns the tokens in the context window, by use.
    #[must_use]
    pub fn context(&self) -> ContextUsage {
        self.host.driver.borrow().session().context(ROOT).unwrap_or_default()
    }

    /// Returns the agent's waiting inputs: steering messages, and the prompts that follow.
    #[must_use]
    pub fn pending(&self) -> PendingInputs {
        self.host.driver.borrow().session().pending(ROOT).unwrap_or_default()
    }

    /// Returns the agents that this one and its subagents have started, in the order of their
    /// numbers.
    #[must_use]
    pub fn agents(&self) -> Vec<SubagentInfo> {
        self.host.driver.borrow().shown_agents()
    }

    /// Returns the configuration in force. It holds no key.
    #[must_use]
    pub fn config(&self) -> SessionConfig {
        self.host.driver.borrow().session().own_config()
    }

    /// Returns the session as bytes, at any time, from which [`AgentBuilder::restore`] resumes it.
    /// The page decides where to keep them. They contain neither files nor a key.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        self.host.driver.borrow().snapshot()
    }

    /// Opens a new session whose history is this one's, or its first `turns` turns, over the same
    /// files, with the same tools and the same people to ask.
    ///
    /// # Errors
    /// [`BuildError`] if the page provides no random numbers for the id.
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

    /// Returns all events from now on, during runs and between them. They wait in memory until they
    /// are read.
    #[must_use]
    pub fn subscribe(&self) -> EventStream {
        EventStream(self.host.watchers.borrow_mut().subscribe())
    }

    /// Returns the files that the agent works on.
    #[must_use]
    pub fn files(&self) -> MemoryFiles {
        self.host.site.borrow().files.clone()
    }

    /// Ends the session for good; a run is stopped.
    pub fn close(&self) {
        // Refused only by a session that is closed already.
        drop(self.say(Command::Close));
    }

    fn say(&self, command: Command) -> Result<(), AgentError> {
        Ok(self.host.tell(Input::command(command)).map_err(Box::new)?)
    }

    /// Changes the tools that can run, and then those that the model knows, in this order: a model
    /// must never know a tool that cannot run.
    fn change_tools(&self, change: impl FnOnce(&mut Vec<Tool>)) -> Result<(), AgentError> {
        let before = self.host.site.borrow().tools.clone();
        change(&mut self.host.site.borrow_mut().tools);
        let specs = self.host.site.borrow().specs();
        let said = self.say(Command::Configure { patch: patch::of_tools(&specs) });
        if said.is_err() {
            // The session refuses the specifications, so the model goes on with the tools before.
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

/// The stream of a session's events, until it is closed.
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
