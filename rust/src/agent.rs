//! An agent: a session, and what can be done with it at any time.

use crate::{
    build_error::BuildError,
    builder::{AgentBuilder, StartedSession},
    run::AgentRun,
    session::{SessionEndedError, SessionHandle, SubmittedRun},
    session_site::{SessionLog, SessionResources},
};
use innerloop_core::{
    event::Event,
    id::{AgentId, SessionId},
    input::{Command, RejectedInput},
    json::JsonObject,
    message::Turn,
    status::Status,
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

/// A coding agent: a session with a model, over a folder. Clones are handles of the same one. When
/// the last of them and of its runs is dropped, the session stops where it is, as if the program
/// had ended. Everything but [`Agent::run`] works while a run is under way, too.
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
    /// The session refuses it, and is as it was.
    #[error(transparent)]
    Refused(#[from] RejectedInput),
    /// The session is over.
    #[error(transparent)]
    Ended(#[from] SessionEndedError),
    /// It is no JSON object.
    #[error("the patch is no JSON object: {0}")]
    Patch(String),
}

impl AgentBuilder {
    /// Makes the agent: opens the workspace, looks at the project, and begins the session. It runs
    /// on the tokio runtime of the caller.
    ///
    /// # Errors
    /// [`BuildError`], which says what to do.
    pub async fn build(self) -> Result<Agent, BuildError> {
        let StartedSession { id, link, site } = self.begin().await?;
        Ok(Agent { id, link, site: Arc::new(site) })
    }
}

impl Agent {
    /// Returns what an agent is made with.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// The session's id.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// Begins a run. While one is under way, another is refused: [`Agent::steer`] and
    /// [`Agent::follow_up`] say something to it.
    pub fn run(&self, prompt: impl Into<Prompt>) -> AgentRun {
        let Prompt { parts, options } = prompt.into();
        let options = options.map(Box::new);
        let SubmittedRun { number, events, heard } =
            self.link.submit(Command::Submit { parts, options });
        AgentRun::new(number, self.link.clone(), events, heard)
    }

    /// Says something to the run that is under way: the model reads it after the current round of
    /// tool calls. While none is, it waits for the next one.
    ///
    /// # Errors
    /// [`AgentError`] if there is nothing in it, or the session is over.
    pub async fn steer(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        self.say(Command::Steer { parts: prompt.into().parts }).await
    }

    /// Says something for when the model is done with what it is doing.
    ///
    /// # Errors
    /// As [`Agent::steer`].
    pub async fn follow_up(&self, prompt: impl Into<Prompt>) -> Result<(), AgentError> {
        let Prompt { parts, options } = prompt.into();
        self.say(Command::FollowUp { parts, options: options.map(Box::new) }).await
    }

    /// Stops the run that is under way. Its result says so.
    pub fn interrupt(&self) {
        self.link.send(Command::Interrupt);
    }

    /// Takes back the newest steps of the conversation, each of which began with a prompt. Files
    /// stay as they are.
    ///
    /// # Errors
    /// [`AgentError`] while a run is under way, or where there is nothing to undo.
    pub async fn undo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Undo { steps }).await
    }

    /// Puts back steps that were undone, the last one first.
    ///
    /// # Errors
    /// As [`Agent::undo`].
    pub async fn redo(&self, steps: u32) -> Result<(), AgentError> {
        self.say(Command::Redo { steps }).await
    }

    /// Has the model read less of the conversation: its oldest turns are summed up.
    ///
    /// # Errors
    /// [`AgentError`] while a run is under way, or where all turns are among those that stay.
    pub async fn compact(&self) -> Result<(), AgentError> {
        self.say(Command::Compact { instructions: None }).await
    }

    /// Changes the configuration from the next model call on, by a JSON Merge Patch (RFC 7396) of
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
    /// [`AgentError`]: it is no JSON object, or makes no configuration that works.
    pub async fn configure(&self, patch: &str) -> Result<(), AgentError> {
        let patch = innerloop_core::json::from_str::<JsonObject>(patch);
        let patch = patch.map_err(|error| AgentError::Patch(error.to_string()))?;
        self.say(Command::Configure { patch }).await
    }

    /// Gives the model a tool more, in place of one of that name, from the next model call on.
    ///
    /// # Errors
    /// [`AgentError`]: its schema is none that arguments can be checked by, or the session is over.
    pub async fn add_tool(&self, tool: impl Into<OwnTool>) -> Result<(), AgentError> {
        let tool = tool.into();
        self.change_tools(move |tools| {
            let name = tool.spec().name.clone();
            tools.without(&name).with(tool)
        })
        .await
    }

    /// Takes a tool of the program's own from the model, if there is one of that name.
    ///
    /// # Errors
    /// [`AgentError`] if the session is over.
    pub async fn remove_tool(&self, name: &str) -> Result<(), AgentError> {
        let name = name.to_owned();
        self.change_tools(move |tools| tools.without(&name)).await
    }

    /// All turns of the conversation, oldest first, also those that the model does not read any
    /// more.
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn history(&self) -> Result<Vec<Turn>, SessionEndedError> {
        let turns = self.link.visit(|driver, _| {
            let history = driver.session().history(AgentId::ROOT);
            history.map_or_else(Vec::new, |history| history.turns().to_vec())
        });
        turns.await
    }

    /// Returns where the agent stands, and what it has used so far.
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn status(&self) -> Result<Status, SessionEndedError> {
        let status = self.link.visit(|driver, _| driver.session().status(AgentId::ROOT)).await?;
        status.ok_or_else(|| self.link.ended())
    }

    /// The session as bytes, from which [`AgentBuilder::restore`] goes on, here or elsewhere. Files
    /// are not in it.
    ///
    /// # Errors
    /// [`SessionEndedError`] if the session is over.
    pub async fn snapshot(&self) -> Result<Vec<u8>, SessionEndedError> {
        self.link.visit(|driver, _| driver.snapshot()).await
    }

    /// A new session that has heard all that this one has, or its first `turns` turns, over the
    /// same workspace, with the same tools and the same people to ask. It has no log.
    ///
    /// # Errors
    /// [`BuildError`]: this session is over, or the system gives no id.
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

    /// Everything that happens from here on, in all runs and between them. It waits in memory until
    /// it is read.
    #[must_use]
    pub fn subscribe(&self) -> EventStream {
        EventStream(self.link.subscribe())
    }

    /// The folder that the agent works on.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        self.site.workspace()
    }

    /// Returns what the agent has changed and nobody has applied yet; of a workspace in place, what
    /// it has changed.
    pub async fn changes(&self) -> Vec<FileChange> {
        let workspace = self.site.workspace().clone();
        spawn_blocking(move || workspace.changes().0).await.unwrap_or_default()
    }

    /// Brings what the agent has changed into the folder, all of it or nothing. In place there is
    /// nothing to do.
    ///
    /// # Errors
    /// [`ApplyError`]: nothing was applied, for example since somebody else has changed the same
    /// files.
    pub async fn apply(&self) -> Result<(), ApplyError> {
        let workspace = self.site.workspace().clone();
        let applied = spawn_blocking(move || {
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

    /// Ends the session for good, and waits until it has: a run that is under way is stopped, and
    /// what is logged cannot be resumed.
    pub async fn close(&self) {
        let mut events = self.link.subscribe();
        self.link.send(Command::Close);
        while events.recv().await.is_some() {}
    }

    async fn say(&self, command: Command) -> Result<(), AgentError> {
        Ok(self.link.say(command).await??)
    }

    /// Changes the tools that are run, and then those that the model is told of.
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
            // What the model is not told of is not run either.
            self.link.visit(move |_, tools| *tools = before).await?;
        }
        said
    }
}

/// The events of a session, until it is closed.
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
