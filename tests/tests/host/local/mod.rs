//! Commands on the machine itself, as a library has them and as `--env local`. What only happens
//! inside of bubblewrap is looked at where that works; otherwise each test says that it skips it.

mod commands;
mod confined;
mod endings;
mod places;
mod program;
mod wrapped;

use innerloop_core::action::{Action, Outcome};
use innerloop_host::{
    environment::{ActionRequest, CallContext, Environment, StopFuture},
    local::{BubblewrapMode, LocalEnvironment, LocalOptions},
};
use innerloop_sandbox::{
    EngineOptions, Executor, OnDelta, SandboxEngine, programs::ProgramRegistry,
};
use innerloop_tests::skip::skip;
use innerloop_workspace::Workspace;
use serde_json::{Value, json};
use std::{fs, future::pending, path::PathBuf, time::Duration};
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(60);

/// A folder, and this machine over it.
struct Machine {
    dir: TempDir,
    local: LocalEnvironment,
}

impl Machine {
    /// Without bubblewrap.
    fn bare() -> Self {
        Self::open(&LocalOptions { bubblewrap: BubblewrapMode::Never, ..LocalOptions::default() })
            .unwrap()
    }

    /// Inside of bubblewrap, where that works.
    fn confined(network: bool) -> Option<Self> {
        let options =
            LocalOptions { bubblewrap: BubblewrapMode::Always, network, ..LocalOptions::default() };
        match Self::open(&options) {
            Ok(machine) => Some(machine),
            Err(why) => {
                skip("inside of bubblewrap", &why);
                None
            }
        }
    }

    /// Without bubblewrap and, where that works, inside of it.
    fn both() -> impl Iterator<Item = Self> {
        [Self::bare()].into_iter().chain(Self::confined(false))
    }

    fn open(options: &LocalOptions) -> Result<Self, String> {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("workspace")).unwrap();
        let workspace = Workspace::open(dir.path().join("workspace")).unwrap();
        let local = LocalEnvironment::open(executor(workspace), options)
            .map_err(|error| error.to_string())?;
        Ok(Self { dir, local })
    }

    /// The real path of something in the workspace.
    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join("workspace").join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    async fn shell(&self, command: &str) -> Outcome {
        self.shell_for(LONG, command).await
    }

    async fn shell_for(&self, timeout: Duration, command: &str) -> Outcome {
        let action = shell(command, None);
        self.local.carry_out(ActionRequest { timeout, ..request(action) }).await
    }

    /// What a command says that goes well.
    async fn says(&self, command: &str) -> String {
        said(&self.shell(command).await)
    }

    /// What comes of an action, as JSON.
    async fn act(&self, action: Value) -> Outcome {
        let action = serde_json::from_value(action).unwrap();
        self.local.carry_out(request(action)).await
    }
}

/// The sandbox over a folder, with the tools compiled once for all tests.
fn executor(workspace: Workspace) -> Executor {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sandbox-cache");
    let options = EngineOptions { cache_dir: Some(cache), ..EngineOptions::default() };
    Executor::new(SandboxEngine::new(options), workspace, ProgramRegistry::default())
}

fn shell(command: &str, folder: Option<&str>) -> Action {
    Action::Shell { command: command.to_owned(), folder: folder.map(str::to_owned) }
}

/// An action of the session's own agent, which nobody watches or stops.
fn request(action: Action) -> ActionRequest {
    ActionRequest {
        action,
        call: CallContext { id: "call".to_owned(), ..CallContext::default() },
        timeout: LONG,
        on_delta: None,
        stop: never(),
    }
}

fn never() -> StopFuture {
    Box::pin(pending())
}

/// What was printed by a command that went well.
fn said(outcome: &Outcome) -> String {
    assert_eq!((outcome.exit, outcome.error), (Some(0), None), "{outcome:?}");
    outcome.joined_text()
}

/// The arguments of a call of the shell.
fn line(command: &str) -> Value {
    json!({ "command": command })
}

/// Keeps what it is told.
fn listener() -> (std::sync::Arc<std::sync::Mutex<String>>, OnDelta) {
    let heard = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let to = heard.clone();
    (heard, std::sync::Arc::new(move |text: &str| to.lock().unwrap().push_str(text)))
}
