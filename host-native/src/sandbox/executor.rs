//! Carries out the actions of the built-in tools: all by the guest tools program, `run_program`
//! by the program it names. What comes back is always an outcome that a model can read.

use super::{
    digest::Digest,
    engine::{Guest, ModuleError, SandboxEngine, Source},
    limits::Limits,
    programs::Programs,
    record::{Recorder, Records},
    run::{self, Ended, Invocation},
    stdio::OnDelta,
    workspace::Workspace,
};
use innerloop_core::{
    action::{Action, Outcome, ToolError},
    json::{from_str, to_string},
};
use innerloop_driver::{
    Keys,
    capture::{End, unknown_program},
};
use std::{
    future::{Future, pending},
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::Duration,
};

/// The guest tools program, built from the crate `tools`.
const TOOLS: &[u8] = include_bytes!(env!("INNERLOOP_TOOLS_WASM_PATH"));

static TOOLS_DIGEST: LazyLock<Digest> = LazyLock::new(|| Digest::of(TOOLS));

/// A program's environment. That of the guest tools is empty.
const PROGRAM_ENV: &[(&str, &str)] =
    &[("HOME", "/"), ("LANG", "C.UTF-8"), ("PWD", "/"), ("TZ", "UTC")];

/// Carries out actions over one workspace.
#[derive(Clone, Debug)]
pub struct Executor {
    engine: Arc<SandboxEngine>,
    workspace: Workspace,
    programs: Programs,
    limits: Limits,
    keys: Keys,
    /// The folder of the workspace in which actions' paths begin, and which programs see.
    folder: String,
}

impl Executor {
    /// An executor with the limits of [`Limits::default`]. The engine stops keeping compiled
    /// modules on disk if its cache folder and the workspace lie in one another.
    #[must_use]
    pub fn new(engine: Arc<SandboxEngine>, workspace: Workspace, programs: Programs) -> Self {
        engine.keep_cache_from(workspace.root());
        let (limits, keys) = (Limits::default(), Keys::default());
        Self { engine, workspace, programs, limits, keys, folder: String::new() }
    }

    /// The same executor with other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same executor, which takes these keys out of what programs print.
    #[must_use]
    pub fn without_keys(mut self, keys: &Keys) -> Self {
        self.keys = keys.clone();
        self
    }

    /// The same executor for an agent that works in a folder of the workspace: the paths of actions
    /// begin there, and programs see it as `/` and nothing else.
    #[must_use]
    pub fn within(&self, folder: &str) -> Self {
        Self { folder: folder.to_owned(), ..self.clone() }
    }

    /// The workspace that the actions work on.
    #[must_use]
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The programs that `run_program` can run.
    #[must_use]
    pub const fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Compiles or loads the guest tools program now, so that the first action does not wait.
    ///
    /// # Errors
    /// [`ModuleError`] if it can't be compiled on this machine.
    pub async fn prepare(&self) -> Result<(), ModuleError> {
        self.engine.ready(&tools()).await.map(drop)
    }

    /// Carries out `action`, for `timeout` at most. The output of a program goes to `on_delta`
    /// as it comes. Dropping the future stops the run; what it changed until then stays.
    pub async fn run(
        &self,
        action: &Action,
        timeout: Duration,
        on_delta: Option<OnDelta>,
    ) -> Outcome {
        self.run_until(action, timeout, on_delta, pending()).await
    }

    /// As [`Executor::run`], but when `stop` is done the run ends with
    /// [`ToolError::Interrupted`] and what it printed and changed until then.
    pub async fn run_until(
        &self,
        action: &Action,
        timeout: Duration,
        on_delta: Option<OnDelta>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        match action {
            Action::RunProgram { program, args, stdin } => {
                let guest = match self.programs.guest(program) {
                    Ok(Some(guest)) => guest,
                    Ok(None) => {
                        let names: Vec<&str> = self.programs.names().collect();
                        return unknown_program(program, &names);
                    }
                    Err(error) => return not_started(program, &error),
                };
                let Some(root) = self.workspace.folder(&self.folder) else {
                    let message = format!("there is no folder {} to run in", self.folder);
                    return Outcome::error(ToolError::NotFound, message);
                };
                let argv = std::iter::once(program).chain(args).cloned().collect();
                let stdin = stdin.clone().unwrap_or_default().into_bytes();
                let invocation = Invocation {
                    env: PROGRAM_ENV,
                    root,
                    on_delta,
                    keys: self.keys.clone(),
                    ..self.invocation(guest, argv, stdin, timeout)
                };
                match run::run(&self.engine, invocation, stop).await {
                    Ok(Ended { end, printed, records: Records { changes, overflow } }) => {
                        printed.outcome(&end, changes, overflow)
                    }
                    Err(error) => not_started(program, &error),
                }
            }
            _ => self.run_tool(action, timeout, stop).await,
        }
    }

    async fn run_tool(
        &self,
        action: &Action,
        timeout: Duration,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        let stdin = to_string(action).into_bytes();
        // The outcome must come whole, or it can't be read.
        let kept_output_bytes = usize::try_from(self.limits.output_bytes).unwrap_or(usize::MAX);
        let limits =
            Limits { kept_output_bytes: kept_output_bytes.saturating_mul(2), ..self.limits };
        let plain =
            self.invocation(tools(), vec!["tools".into(), self.folder.clone()], stdin, timeout);
        match run::run(&self.engine, Invocation { limits, ..plain }, stop).await {
            Ok(ended) => tool_outcome(ended, timeout),
            Err(error) => not_started("the tools program", &error),
        }
    }

    fn invocation(
        &self,
        guest: Guest,
        argv: Vec<String>,
        stdin: Vec<u8>,
        timeout: Duration,
    ) -> Invocation {
        Invocation {
            guest,
            argv,
            env: &[],
            stdin,
            workspace: self.workspace.root().to_path_buf(),
            root: PathBuf::new(),
            limits: self.limits,
            timeout,
            on_delta: None,
            keys: Keys::default(),
            recorder: Recorder::new(self.workspace.root()),
        }
    }
}

fn tools() -> Guest {
    Guest { name: "the tools".into(), digest: *TOOLS_DIGEST, source: Source::Embedded(TOOLS) }
}

fn not_started(name: &str, error: &ModuleError) -> Outcome {
    Outcome::error(ToolError::Crashed, format!("{name} can't be run: {error}"))
}

/// Reads the outcome that the guest tools program printed.
fn tool_outcome(ended: Ended, timeout: Duration) -> Outcome {
    let Ended { end, printed, records } = ended;
    let (stdout, stderr) = printed.whole();
    if let (End::Exit(0), Some(stdout)) = (&end, stdout) {
        return from_str(&String::from_utf8_lossy(&stdout)).unwrap_or_else(|error| {
            Outcome::error(
                ToolError::Crashed,
                format!("the tools program gave no outcome that can be read: {error}"),
            )
        });
    }
    let said = stderr.trim();
    let why = if said.is_empty() { String::new() } else { format!("\n{said}") };
    let error = end.error().unwrap_or(ToolError::Limit);
    let how = match &end {
        End::TimedOut => format!("the time limit of {} ms ended it", timeout.as_millis()),
        end => end.to_string(),
    };
    Outcome {
        timed_out: end == End::TimedOut,
        changes: records.changes,
        ..Outcome::error(error, format!("the tool failed: {how}{why}"))
    }
}
