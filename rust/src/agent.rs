//! The agent: a handle to a session that a task drives. Each method sends the task a command or a
//! closure and awaits the answer, so that handles are cheap, can be cloned, and work during a run.

use crate::{
    build_error::BuildError,
    builder::{AgentBuilder, StartedSession},
    run::AgentRun,
    session::{SessionEndedError, SessionHandle, SubmittedRun},
    session_site::{SessionLog, SessionResources},
};
use innerloop_core::{
    config::SessionConfig,
    event::Event,
    id::{AgentId, SessionId},
    input::{Command, RejectedInput},
    json::JsonObject,
    message::Turn,
    status::{ContextUsage, PendingInputs, Status, SubagentInfo},
};
use innerloop_face::{Prompt, patch};
use innerloop_host::tools::{OwnTool, ToolRunner};
use innerloop_workspace::{ApplyError, FileChange, Workspace};
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::{sync::mpsc::UnboundedReceiver, task::spawn_blocking};

/// A coding agent: a session with a model, over a folder. Clones are handles to the same session.
/// When the last handle and the last run are dropped, the session stops at that point, as if the
/// program had ended. Everything except [`Agent::run`] also works during a run.
///
/// ```
/// use innerloop::Agent;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder().provider("anthropic").workspace(".").build().await?;
/// let result = agent.run("Add a test for the parser").await?;
/// println!("{}", result.text);
/// for change in agent.changes().await {
///     println!("{}", change.path);
/// }
/// agent.apply().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Agent {
    id: SessionId,
    link: SessionHandle,
    site: Arc<SessionResources>,
}

/// The reason why a request to an agent had no effect.
///
/// ```
/// use innerloop::{Agent, AgentError};
///
/// # async fn example(agent: Agent) -> Result<(), AgentError> {
/// match agent.configure(r#"{"limits": {"max_turn": 5}}"#).await {
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
    Refused(#[from] RejectedInput),
    /// The session is over.
    #[error(transparent)]
    Ended(#[from] SessionEndedError),
    /// The patch is not a JSON object.
    #[error("the patch is no JSON object: {0}")]
    Patch(String),
}

impl AgentBuilder {
    /// Builds the agent: opens the workspace, reads the project's facts, and begins the session,
    /// which runs on the caller's tokio runtime.
    ///
    /// # Errors
    /// [`BuildError`], which says what to do.
    pub async fn build(self) -> Result<Agent, BuildError> {
        let StartedSession { id, link, site } = self.begin().await?;
        Ok(Agent { id, link, site: Arc::new(site) })
    }
}

impl Agent {
    /// Returns a builder with the default settings.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// Returns the session's id.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// Begins a run. During a run another one is refused; use [`Agent::steer`] or
    /// [`Agent::follow_up`] then.
    pub fn run(&self, prompt: impl Into<Prompt>) -> AgentRun {
        let Prompt { parts, options } = prompt.into();
        let options = options.map(Box::new);
        let SubmittedRun { number, events, heard } =
            self.link.submit(Command::Submit { parts, options });
        AgentRun::new(number, self.link.clone(), events, heard)
    }

    /// Steers the current run: the model reads the prompt after the current round of tool calls.
    /// Without a run, the prompt waits for the next one.
    ///
    /// # Errors
    /// [`AgentError`] if the prompt is empty, or the session is over.
    pub async fn steer(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        self.say(Command::Steer { parts: prompt.into().parts }).await
    }

    /// Queues a prompt that starts when the model is done with the current one.
    ///
    /// # Errors
    /// As [`Agent::steer`].
    pub async fn follow_up(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        let Prompt { parts, options } = prompt.into();
        self.say(Command::FollowUp { parts, options: options.map(Box::new) }).await
    }

    /// Interrupts the current run. Its result says so.
    pub fn interrupt(&self) {
        self.link.send(Command::Interrupt);
    }

    /// Undoes the newest steps of the conversation, each of which began with a prompt. Files do not
    /// change.
    ///
    /// # Errors
    /// [`AgentError`] during a run, or if there is nothing to undo.
    pub async fn undo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Undo { steps }).await
    }

    /// Redoes steps that were undone, the last one first.
    ///
    /// # Errors
    /// [`AgentError`] during a run, or if there is nothing to redo.
    pub async fn redo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Redo { steps }).await
    }

    /// Shortens the conversation that the model reads: its oldest turns are summarised.
    ///
    /// # Errors
    /// [`AgentError`] during a run, or if no turn is old enough.
    pub async fn compact(&self) -> Result<(), AgentError> {
        self.say(Command::Compact { instructions: None }).await
    }

    /// Changes the configuration from the next model call on, with a JSON Merge Patch (RFC 7396) of
    /// [`SessionConfig`](innerloop_core::config::SessionConfig)'s JSON.
    ///
    /// ```
    /// # async fn example(agent: innerloop::Agent) -> Result<(), innerloop::AgentError> {
    /// agent.configure(r#"{"model": {"name": "claude-haiku-4-5"}}"#).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`AgentError`] if the patch is not a JSON object, or makes the configuration invalid.
    pub async fn configure(&self, patch: &str) -> Result<(), AgentError> {
        let patch = innerloop_core::json::from_str::<JsonObject>(patch);
        let patch = patch.map_err(|error| AgentError::Patch(error.to_string()))?;
        self.say(Command::Configure { patch }).await
    }

    /// Adds a tool from the next model call on; one of the same name is replaced.
    ///
    /// # Errors
    /// [`AgentError`] if the schema cannot be used to check arguments, or the session is over.
    pub async fn add_tool(&self, tool: impl Into<OwnTool>) -> Result<(), AgentError> {
        let tool = tool.into();
        self.change_tools(move |tools| {
            let name = tool.spec().name.clone();
            tools.without(&name).with(tool)
        })
        .await
    }

    /// Removes the program's own tool of that name, if there is one.
    ///
    /// # Errors
    /// [`AgentError`] if the session is over.
    pub async fn remove_tool(&self, name: &str) -> Result<(), AgentError> {
        let name = name.to_owned();
        self.change_tools(move |tools| tools.without(&name)).await
    }

    /// Returns all turns of the conversation, oldest first, including those that the model no
    /// longer reads.
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn history(&self) -> Result<Vec<Turn>, SessionEndedError> {
        self.link.visit(|driver, _| driver.shown_turns(AgentId::ROOT)).await
    }

    /// Returns the state of the agent and its usage so far.
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn status(&self) -> Result<Status, SessionEndedError> {
        let status = self.link.visit(|driver, _| driver.session().status(AgentId::ROOT)).await?;
        status.ok_or_else(|| self.link.ended())
    }

    /// Returns the tokens in the context window, by use.
    ///
    /// ```
    /// # async fn example(agent: innerloop::Agent) -> Result<(), innerloop::SessionEndedError> {
    /// let context = agent.context().await?;
    /// println!("{} of {}, {} for tools", context.total, context.window, context.tools);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn context(&self) -> Result<ContextUsage, SessionEndedError> {
        let context = self.link.visit(|driver, _| driver.session().context(AgentId::ROOT)).await?;
        context.ok_or_else(|| self.link.ended())
    }

    /// Returns the agent's waiting inputs: steering messages, and the prompts that follow.
    ///
    /// ```
    /// # async fn example(agent: innerloop::Agent) -> Result<(), innerloop::SessionEndedError> {
    /// println!("{} prompts wait", agent.pending().await?.follow_ups.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn pending(&self) -> Result<PendingInputs, SessionEndedError> {
        let pending = self.link.visit(|driver, _| driver.session().pending(AgentId::ROOT)).await?;
        pending.ok_or_else(|| self.link.ended())
    }

    /// Returns the agents that this one and its subagents have started, in the order of their
    /// numbers.
    ///
    /// ```
    /// # async fn example(agent: innerloop::Agent) -> Result<(), innerloop::SessionEndedError> {
    /// for started in agent.agents().await? {
    ///     println!("{} is {}: {}", started.id.0, started.state.name(), started.task);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn agents(&self) -> Result<Vec<SubagentInfo>, SessionEndedError> {
        self.link.visit(|driver, _| driver.shown_agents()).await
    }

    /// Returns the configuration in force. It holds no key.
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn config(&self) -> Result<SessionConfig, SessionEndedError> {
        self.link.visit(|driver, _| driver.session().own_config()).await
    }

    /// Returns the session as bytes, from which [`AgentBuilder::restore`] resumes it, here or
    /// elsewhere. They do not contain the files.
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn snapshot(&self) -> Result<Vec<u8>, SessionEndedError> {
        self.link.visit(|driver, _| driver.snapshot()).await
    }

    /// Opens a new session whose history is this one's, or its first `turns` turns, over the same
    /// workspace, with the same tools and the same people to ask. It has no log.
    ///
    /// # Errors
    /// [`BuildError`] if this session is over, or the system provides no random numbers for an id.
    pub async fn fork(&self, turns: Option<usize>) -> Result<Self, BuildError> {
        let site = Arc::clone(&self.site);
        let forked = self
            .link
            .visit(move |driver, tools| site.fork(driver, turns).map(|fork| (fork, tools.clone())));
        let (opened, tools) = forked.await??;
        let (id, site) = (opened.session().id().clone(), Arc::clone(&self.site));
        let link = site.begin(opened, tools, SessionLog::default());
        Ok(Self { id, link, site })
    }

    /// Returns all events from now on, during runs and between them. They wait in memory until they
    /// are read.
    #[must_use]
    pub fn subscribe(&self) -> EventStream {
        EventStream(self.link.subscribe())
    }

    /// Returns the workspace: the folder that the agent works on.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        self.site.workspace()
    }

    /// Returns the agent's changes that are not applied yet; in a workspace in place, all of its
    /// changes.
    pub async fn changes(&self) -> Vec<FileChange> {
        // On a thread of its own, here and below: it reads files, for which the runtime's threads
        // must not wait.
        let workspace = self.site.workspace().clone();
        spawn_blocking(move || workspace.changes().0).await.unwrap_or_default()
    }

    /// Applies the agent's changes to the folder, all of them or none. Does nothing in a workspace
    /// in place.
    ///
    /// # Errors
    /// [`ApplyError`]: nothing was applied, for example because somebody else has changed the same
    /// files.
    pub async fn apply(&self) -> Result<(), ApplyError> {
        let workspace = self.site.workspace().clone();
        let applied = spawn_blocking(move || {
            // Frozen meanwhile, since a run may be writing: half a change must not be applied.
            workspace.freeze();
            let applied = workspace.apply();
            workspace.thaw();
            applied
        });
        applied.await.unwrap_or_else(|broken| {
            let path = self.site.workspace().root().display().to_string();
            Err(ApplyError::Failed { path, error: io::Error::other(broken) })
        })
    }

    /// Ends the session for good, and waits until it has ended: a run is stopped, and the log
    /// cannot be resumed.
    pub async fn close(&self) {
        // Subscribed before the command is sent, or the end could be missed. A session that is over
        // already has no events, so that the wait ends at once.
        let mut events = self.link.subscribe();
        self.link.send(Command::Close);
        while events.recv().await.is_some() {}
    }

    async fn say(&self, command: Command) -> Result<(), AgentError> {
        Ok(self.link.say(command).await??)
    }

    /// Changes the tools that can run, and then those that the model knows, in this order: a model
    /// must never know a tool that cannot run.
    async fn change_tools(
        &self,
        change: impl FnOnce(ToolRunner) -> ToolRunner + Send + 'static,
    ) -> Result<(), AgentError> {
        let changed = self.link.visit(move |_, tools| {
            let before = tools.clone();
            *tools = change(before.clone());
            (before, tools.specs())
        });
        let (before, specs) = changed.await?;
        let said = self.say(Command::Configure { patch: patch::of_tools(&specs) }).await;
        if said.is_err() {
            // The session refuses the specifications, so the model goes on with the tools before.
            self.link.visit(move |_, tools| *tools = before).await?;
        }
        said
    }
}

/// The stream of a session's events, until it is closed.
///
/// ```
/// use futures_util::StreamExt as _;
/// use innerloop::{Agent, EventKind};
///
/// # async fn example(agent: &Agent) {
/// let mut events = agent.subscribe();
/// tokio::spawn(async move {
///     while let Some(event) = events.next().await {
///         if let EventKind::Warning { message } = &event.kind {
///             eprintln!("agent {}: {message}", event.agent.0);
///         }
///     }
/// });
/// # }
/// ```
#[derive(Debug)]
pub struct EventStream(UnboundedReceiver<Event>);

impl futures_core::Stream for EventStream {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().0.poll_recv(context)
    }
}
