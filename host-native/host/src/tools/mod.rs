//! Tool runs for the driver: built-in actions go to the sandbox or the environment in its place,
//! calls of the host's own tools to those. A run that is stopped still has an outcome, with what
//! there is by then.

mod call;
mod definition;
mod own_tools;
mod reply;
mod time_limit;

pub use call::OwnToolCall;
pub use definition::DefinitionError;
pub use own_tools::OwnTool;

use crate::environment::{ActionRequest, Environment};
use innerloop_core::{
    action::{Action, Outcome, ToolError},
    id::AgentId,
    json::Json,
    tool::{Job, ToolRun, ToolSpec},
};
use innerloop_sandbox::{CallContext, Executor, OnDelta};
use std::{sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// The runner of tools.
#[derive(Clone, Debug)]
pub struct ToolRunner {
    sandbox: Executor,
    own: Arc<Vec<OwnTool>>,
    web: Option<OwnTool>,
    /// The environment that carries out built-in actions; if there is none, the sandbox does.
    environment: Option<Arc<dyn Environment>>,
}

impl ToolRunner {
    /// Creates a runner that runs built-in actions in that sandbox.
    #[must_use]
    pub fn new(sandbox: Executor) -> Self {
        Self { sandbox, own: Arc::default(), web: None, environment: None }
    }

    /// Returns the runner with built-in actions carried out there instead of in the sandbox. The
    /// host's own tools, and the one that reads web pages, run as before.
    #[must_use]
    pub fn with_environment(mut self, environment: impl Environment + 'static) -> Self {
        self.environment = Some(Arc::new(environment));
        self
    }

    /// Returns the runner with a tool that reads web pages, which the model is offered if the
    /// configuration's `web_fetch` is set. The arguments of its calls are those of
    /// [`Action::Fetch`], whatever the model's tool is called.
    #[must_use]
    pub fn with_web_fetch(mut self, reader: OwnTool) -> Self {
        self.web = Some(reader);
        self
    }

    /// Returns the runner with a tool of the host's own. Among tools of one name the latest runs,
    /// even in place of a built-in one.
    #[must_use]
    pub fn with(mut self, tool: OwnTool) -> Self {
        Arc::make_mut(&mut self.own).push(tool);
        self
    }

    /// Returns the runner without the host's own tools of that name, so that a built-in one takes
    /// its place again.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        Arc::make_mut(&mut self.own).retain(|tool| tool.spec().name != name);
        self
    }

    /// Returns the host's own tool of that name, the latest one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OwnTool> {
        self.own.iter().rev().find(|tool| tool.spec().name == name)
    }

    /// Returns the names of the host's own tools, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(|tool| tool.spec().name.as_str())
    }

    /// Returns the specifications of the host's own tools: the `tools` of a session's
    /// configuration.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.own.iter().map(|tool| tool.spec().clone()).collect()
    }

    /// Runs an agent's tool to its end, its time limit, or the signal to stop.
    pub(crate) async fn run(
        &self,
        agent: AgentId,
        run: Arc<ToolRun>,
        on_delta: OnDelta,
        stop: oneshot::Receiver<()>,
    ) -> Outcome {
        let call = CallContext {
            agent,
            id: run.call_id.clone(),
            folder: run.folder.clone(),
            known: run.known.clone(),
        };
        // A sender that was dropped stops the run as well: the host is gone then.
        let stopped = async move { drop(stop.await) };
        match (&run.job, &self.web) {
            // Before the environment: pages are read by this host, which knows the domains that are
            // allowed.
            (Job::Builtin(action @ Action::Fetch { .. }), Some(reader)) => {
                let called = (&call, &*run, &Json::of(action));
                reader.run(&self.sandbox, called, on_delta, stopped).await
            }
            (Job::Builtin(action), _) => {
                let timeout = Duration::from_millis(run.timeout_ms);
                let request = ActionRequest {
                    action: action.clone(),
                    call,
                    timeout,
                    on_delta: Some(on_delta),
                    stop: Box::pin(stopped),
                };
                match &self.environment {
                    Some(environment) => environment.carry_out(request).await,
                    None => self.sandbox.carry_out(request).await,
                }
            }
            // The driver answers these, and hands none on.
            (Job::Kept(_), _) => Outcome::error(ToolError::NotFound, "Nothing is kept here."),
            (Job::Custom(arguments), _) => match self.get(&run.name) {
                Some(tool) => {
                    tool.run(&self.sandbox, (&call, &*run, arguments), on_delta, stopped).await
                }
                // A session that was restored may call a tool that its new host does not have.
                None => {
                    let message = format!("The tool {} is not available here.", run.name);
                    Outcome::error(ToolError::UnknownTool, message)
                }
            },
        }
    }
}
