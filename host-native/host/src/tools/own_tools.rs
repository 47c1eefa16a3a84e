//! The host's own tools: a function of the program that embeds this crate, or a WASI module that
//! the sandbox runs.

use super::{call::OwnToolCall, reply, time_limit::TimeLimit};
use innerloop_core::{
    action::Outcome,
    json::Json,
    tool::{ToolRun, ToolSpec},
};
use innerloop_driver::custom_tool_outcome;
use innerloop_sandbox::{CallContext, Executor, ModuleCall, OnDelta, RegisteredModule, RunLimits};
use std::{
    any::Any,
    fmt::{self, Display},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::watch,
    task::{JoinError, JoinSet, spawn_blocking},
};

/// A tool of the host's own: the specification that the model reads, and the code that carries it
/// out.
///
/// ```
/// use innerloop_core::{json::Json, tool::ToolSpec};
/// use innerloop_host::tools::{OwnToolCall, OwnTool};
///
/// #[derive(serde::Deserialize)]
/// struct Arguments {
///     city: String,
/// }
///
/// let parameters = Json::parse(
///     r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
/// )?;
/// let description = "The temperature in a city, in degrees Celsius.";
/// let spec = ToolSpec {
///     read_only: true,
///     timeout_ms: Some(5_000),
///     ..ToolSpec::new("temperature", description, parameters)
/// };
/// let tool = OwnTool::new(spec, async |call: OwnToolCall| {
///     let Arguments { city } = call.read()?;
///     call.say("asking the weather service\n");
///     Ok::<_, serde_json::Error>(format!("21 degrees in {city}"))
/// });
/// assert_eq!(tool.spec().name, "temperature");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OwnTool {
    spec: ToolSpec,
    work: ToolImplementation,
}

#[derive(Clone)]
enum ToolImplementation {
    Function(Arc<ToolFunction>),
    Module { module: RegisteredModule, args: Vec<String>, limits: Option<RunLimits> },
}

type ToolFunction = dyn Fn(OwnToolCall) -> ToolFuture + Send + Sync;
type ToolFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

impl OwnTool {
    /// Creates a tool from an async function. A text that it returns is the result, and an
    /// [`Outcome`] can hold more. An error or a panic becomes an error result for the model, and
    /// the session goes on. When the run is interrupted or its time is up, the result is not waited
    /// for, and the future is dropped at its next await.
    pub fn new<F, R, T, E>(spec: ToolSpec, function: F) -> Self
    where
        F: Fn(OwnToolCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Outcome>,
        E: Display,
    {
        let name = spec.name.clone();
        let run = move |call| {
            let name = name.clone();
            let running = function(call);
            Box::pin(async move { outcome(&name, running.await) }) as ToolFuture
        };
        Self { spec, work: ToolImplementation::Function(Arc::new(run)) }
    }

    /// Creates a tool from a function that may block, which runs on a thread for such work.
    /// Otherwise it is like [`OwnTool::new`], but the function itself can't be stopped: if it takes
    /// long, it should check [`OwnToolCall::is_cancelled`].
    pub fn blocking<F, T, E>(spec: ToolSpec, function: F) -> Self
    where
        F: Fn(OwnToolCall) -> Result<T, E> + Send + Sync + 'static,
        T: Into<Outcome>,
        E: Display,
    {
        let (name, function) = (spec.name.clone(), Arc::new(function));
        let run = move |call| {
            let (name, function) = (name.clone(), Arc::clone(&function));
            Box::pin(async move {
                let its = name.clone();
                let thread = spawn_blocking(move || outcome(&its, function(call)));
                thread.await.unwrap_or_else(|error| broken(&name, error))
            }) as ToolFuture
        };
        Self { spec, work: ToolImplementation::Function(Arc::new(run)) }
    }

    /// Creates a tool from a WASI module, which the sandbox runs as a program of the agent. It
    /// reads the arguments as JSON from standard input and prints the result to standard output: a
    /// text, or a JSON object with `text` or `parts` that says more. With an exit code other than
    /// 0, the output is an error. The call's id is in the variable `INNERLOOP_CALL_ID`, the tool's
    /// name in `INNERLOOP_TOOL`, and `args` follow the name as arguments. If the tool is read-only,
    /// the module can't change the folder.
    #[must_use]
    pub const fn module(spec: ToolSpec, module: RegisteredModule, args: Vec<String>) -> Self {
        Self { spec, work: ToolImplementation::Module { module, args, limits: None } }
    }

    /// Returns the same tool with limits for its module instead of the sandbox's. For a function
    /// they have no effect.
    #[must_use]
    pub const fn with_limits(mut self, own: RunLimits) -> Self {
        if let ToolImplementation::Module { limits, .. } = &mut self.work {
            *limits = Some(own);
        }
        self
    }

    /// Returns the specification that the model reads.
    #[must_use]
    pub const fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Returns its module, if it is one.
    #[must_use]
    pub const fn as_module(&self) -> Option<&RegisteredModule> {
        match &self.work {
            ToolImplementation::Module { module, .. } => Some(module),
            ToolImplementation::Function(_) => None,
        }
    }

    /// Carries out a call, given as its context, its run and the arguments to use.
    pub async fn run(
        &self,
        sandbox: &Executor,
        (call, run, arguments): (&CallContext, &ToolRun, &Json),
        on_delta: OnDelta,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        let limit = Duration::from_millis(run.timeout_ms);
        match &self.work {
            ToolImplementation::Module { module, args, limits } => {
                let variable = |name, value: &str| (name, value.to_owned());
                let given = ModuleCall {
                    args: args.clone(),
                    env: vec![
                        variable("INNERLOOP_CALL_ID", &run.call_id),
                        variable("INNERLOOP_TOOL", &run.name),
                    ],
                    stdin: arguments.text().to_owned(),
                    may_write: !self.spec.read_only,
                    limits: *limits,
                };
                let said = Some(on_delta);
                let called = sandbox.call_module(call, module, given, limit, said, stop).await;
                reply::read(&self.spec.name, called)
            }
            ToolImplementation::Function(function) => {
                let folder = match sandbox.folder(&call.folder) {
                    Ok(folder) => folder,
                    Err(outcome) => return outcome,
                };
                // The sender lives as long as this future: its end, even by a drop, tells every
                // clone of the call that nobody waits any more.
                let (waits, awaited) = watch::channel(());
                let (id, arguments) = (run.call_id.clone(), arguments.clone());
                let left = TimeLimit::of(limit);
                let time = (limit, left.clone());
                let call = OwnToolCall::new(id, arguments, folder, time, on_delta, awaited);
                let outcome = wait_for(&run.name, Arc::clone(function), call, &left, stop).await;
                drop(waits);
                outcome
            }
        }
    }
}

impl fmt::Debug for OwnTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// Calls the function and waits for its outcome, until the time is up or `stop` is done.
async fn wait_for(
    name: &str,
    function: Arc<ToolFunction>,
    call: OwnToolCall,
    left: &TimeLimit,
    stop: impl Future<Output = ()> + Send,
) -> Outcome {
    // In a task of its own a function may panic, or keep a thread busy for a while, without harm to
    // the host. The drop of the set aborts it.
    let mut task = JoinSet::new();
    task.spawn(async move { function(call).await });
    let ended = tokio::select! {
        // A result that is there counts, even if the time is up by now.
        biased;
        () = stop => return custom_tool_outcome::interrupted(),
        ended = task.join_next() => ended,
        () = left.is_near(Duration::ZERO) => return custom_tool_outcome::timed_out(),
    };
    match ended {
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) => broken(name, error),
        None => custom_tool_outcome::failed(name, &"it was not started"),
    }
}

fn outcome<T: Into<Outcome>, E: Display>(name: &str, result: Result<T, E>) -> Outcome {
    match result {
        Ok(result) => result.into(),
        Err(error) => custom_tool_outcome::failed(name, &error),
    }
}

/// The outcome of a function that did not return.
fn broken(name: &str, error: JoinError) -> Outcome {
    match error.try_into_panic() {
        Ok(payload) => {
            let said = said(payload.as_ref());
            custom_tool_outcome::failed(name, &format_args!("it panicked: {said}"))
        }
        Err(error) => custom_tool_outcome::failed(name, &error),
    }
}

/// Returns the message of a panic.
fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}
