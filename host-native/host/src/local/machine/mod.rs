//! The machine as Linux and macOS offer it: processes in groups, and a POSIX shell. Files stay the
//! business of the sandbox's executor; only commands and programs are carried out here.

mod bubblewrap;
mod command;
mod hook_commands;
mod hook_event;
mod paths;
mod processes;
mod shell;
mod variables;

pub use hook_commands::HookCommands;

use super::options::{BubblewrapMode, InheritPolicy, LocalError, LocalOptions};
use crate::environment::{ActionRequest, Environment, OutcomeFuture};
use bubblewrap::Bubblewrap;
use command::OutputListener;
use innerloop_core::{
    action::{Action, Outcome, ToolError},
    config::{EnvironmentFacts, ProgramFacts},
};
use innerloop_driver::SecretKeys;
use innerloop_sandbox::{CallContext, Executor, OnDelta, RunLimits, SessionLimits};
use innerloop_workspace::platform::HAS_BUBBLEWRAP;
use processes::ProcessSpec;
use shell::{FolderNote, Shell, ShellFolders, StartFolder};
use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use variables::{EnvironmentVariables, variables};

/// The machine: commands run on it, files are the workspace's. Clones share the current folders of
/// the agents' shells.
#[derive(Clone, Debug)]
pub struct LocalEnvironment {
    files: Executor,
    shell: Shell,
    /// Bubblewrap for the commands, or the reason why they run without it.
    jail: Result<Bubblewrap, String>,
    variables: EnvironmentVariables,
    /// The number of variables of this program's environment that commands do not see, since they
    /// hold secrets.
    kept_back: usize,
    limits: RunLimits,
    budget: command::OutputBudget,
    keys: SecretKeys,
    places: Arc<ShellFolders>,
}

impl LocalEnvironment {
    /// Opens the machine over the workspace of a sandbox, which carries out what concerns files. It
    /// starts bubblewrap once to see whether it works.
    ///
    /// # Errors
    /// [`LocalError`] if the workspace is an overlay, or bubblewrap is wanted and does not work.
    pub fn open(files: Executor, options: &LocalOptions) -> Result<Self, LocalError> {
        if files.workspace().is_overlay() {
            return Err(LocalError::Overlay);
        }
        let set = options.variables.iter().cloned();
        // Whoever asks for all variables gets these, too.
        let is_secret = |name: &OsString| {
            options.inherit != InheritPolicy::All
                && options.secrets.iter().any(|secret| name == &**secret)
        };
        let (secrets, inherited): (Vec<_>, Vec<_>) =
            env::vars_os().partition(|(name, _)| is_secret(name));
        let (variables, kept_back) = variables(options.inherit, inherited, set);
        let kept_back = kept_back + secrets.len();
        let jail = jail(files.workspace().root(), options, &variables);
        // Falling back to no jail would be the one thing that this option rules out.
        if let (BubblewrapMode::Always, Err(why)) = (options.bubblewrap, &jail) {
            return Err(LocalError::Unconfined(why.clone()));
        }
        let places = Arc::new(ShellFolders::new().map_err(LocalError::Notes)?);
        let budget = Arc::new(AtomicU64::new(SessionLimits::default().output_bytes));
        let (limits, keys) = (RunLimits::default(), SecretKeys::default());
        let shell = Shell::find();
        Ok(Self { files, shell, jail, variables, kept_back, limits, budget, keys, places })
    }

    /// Returns the same machine, which removes these keys from what commands print.
    #[must_use]
    pub fn without_keys(self, keys: &SecretKeys) -> Self {
        Self { keys: keys.clone(), files: self.files.without_keys(keys), ..self }
    }

    /// Returns the same machine with other limits for the output of each command; all other limits
    /// are the sandbox's.
    #[must_use]
    pub fn with_limits(self, limits: RunLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns a line that tells the person whose machine it is what it means to run commands here.
    #[must_use]
    pub fn notice(&self) -> String {
        let user = env::var("USER").ok().filter(|user| !user.is_empty());
        let user = user.unwrap_or_else(|| format!("user {}", rustix::process::geteuid().as_raw()));
        let folder = self.files.workspace().root().display();
        let kept_back = match self.kept_back {
            0 => String::new(),
            1 => "; 1 variable that holds a secret is kept from them".to_owned(),
            count => format!("; {count} variables that hold secrets are kept from them"),
        };
        match &self.jail {
            Ok(jail) => {
                let network = if jail.network { "with the network" } else { "without a network" };
                format!(
                    "commands run on this machine as {user}, inside bubblewrap: they change \
                     {folder} and nothing else, {network}{kept_back}"
                )
            }
            Err(why) => format!(
                "commands run on this machine as {user}, without bubblewrap ({why}): they can do \
                 whatever {user} can{kept_back}"
            ),
        }
    }

    /// Carries out a command line. It starts in the folder where the agent's last one ended, unless
    /// a folder is named for this one.
    async fn command(&self, line: &str, folder: Option<&str>, call: ExecutionContext) -> Outcome {
        let home = match self.files.folder(&call.context.folder) {
            Ok(home) => home,
            Err(outcome) => return outcome,
        };
        let place = match folder {
            Some("/") => StartFolder::Home,
            Some(folder) => StartFolder::There(home.join(folder)),
            None => {
                self.places.last(call.context.agent).map_or(StartFolder::Home, StartFolder::Last)
            }
        };
        // A command with a folder of its own does not move the agent's shell, so that it notes
        // nothing.
        let note = match folder {
            Some(_) => None,
            None => match self.places.note() {
                Ok(note) => Some(note),
                Err(error) => return not_started(self.shell.name, &error),
            },
        };
        let agent = call.context.agent;
        let script = shell::script(line, &place, note.as_ref().map(FolderNote::path));
        let argv = self.shell.argv(script);
        let outcome =
            self.run_in(argv, None, home, note.as_ref().map(FolderNote::path), call).await;
        // Also after a command that failed: it may have changed the folder before.
        if let Some(note) = &note {
            self.places.set(agent, note);
        }
        outcome
    }

    /// Runs a program of the machine by its name.
    async fn program(
        &self,
        program: &str,
        args: &[String],
        stdin: Option<String>,
        call: ExecutionContext,
    ) -> Outcome {
        let argv = [program].into_iter().chain(args.iter().map(String::as_str));
        let argv = argv.map(OsString::from).collect();
        match self.files.folder(&call.context.folder) {
            Ok(home) => self.run_in(argv, stdin, home, None, call).await,
            Err(outcome) => outcome,
        }
    }

    async fn run_in(
        &self,
        argv: Vec<OsString>,
        stdin: Option<String>,
        folder: PathBuf,
        note: Option<&Path>,
        call: ExecutionContext,
    ) -> Outcome {
        let ExecutionContext { timeout, on_delta, stop, .. } = call;
        let name = argv.first().map(|name| name.display().to_string()).unwrap_or_default();
        let mut variables = self.variables.clone();
        let (argv, folder) = match &self.jail {
            Err(_) => (argv, folder),
            Ok(jail) => {
                // In the jail `/tmp` is the only folder for temporary files; the one that the
                // variable names is not there.
                if let Some(place) = variables.get_mut(std::ffi::OsStr::new("TMPDIR")) {
                    *place = "/tmp".into();
                }
                (jail.argv(argv, &folder, note, &variables), PathBuf::from("/"))
            }
        };
        let (is_jail, has_input) = (self.jail.is_ok(), stdin.is_some());
        let plan = ProcessSpec { argv, variables, folder, is_jail, has_input };
        let (keys, limits, budget) = (self.keys.clone(), self.limits, Arc::clone(&self.budget));
        let listener = OutputListener { keys, limits, budget, on_delta, waits: true };
        match command::run(plan, stdin, listener, timeout, stop).await {
            // Nobody watches which files it has changed.
            Ok((end, printed)) => printed.outcome(&end, Vec::new(), false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let message = format!("there is no program `{name}` on this machine");
                Outcome::error(ToolError::NotFound, message)
            }
            Err(error) => not_started(&name, &error),
        }
    }
}

/// The circumstances in which a command is carried out.
struct ExecutionContext {
    context: CallContext,
    timeout: Duration,
    on_delta: Option<OnDelta>,
    stop: crate::environment::StopFuture,
}

impl Environment for LocalEnvironment {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        let ActionRequest { action, call: context, timeout, on_delta, stop } = request;
        let call = ExecutionContext { context, timeout, on_delta, stop };
        Box::pin(async move {
            match action {
                Action::Shell { command, folder } => {
                    self.command(&command, folder.as_deref(), call).await
                }
                Action::RunProgram { program, args, stdin } => {
                    self.program(&program, &args, stdin, call).await
                }
                action => {
                    // The model knows real paths from its commands and uses them for files, too.
                    let root = self.files.workspace().root().to_string_lossy();
                    let action = paths::below(&root, action);
                    let ExecutionContext { context, timeout, on_delta, stop } = call;
                    self.files.run_until(&context, &action, timeout, on_delta, stop).await
                }
            }
        })
    }

    fn facts(&self, found: EnvironmentFacts) -> EnvironmentFacts {
        let root = self.files.workspace().root().to_string_lossy().into_owned();
        let confined = match &self.jail {
            Ok(jail) if jail.network => "; of its files only the working directory can be changed",
            Ok(_) => {
                "; of its files only the working directory can be changed, and there is no network"
            }
            Err(_) => "; it is in no sandbox",
        };
        let description = format!(
            "this machine's shell, with the programs that are installed on it; the folder that it \
             stands in is kept from command to command, variables are not{confined}"
        );
        let shell = ProgramFacts { name: self.shell.name.to_owned(), description };
        EnvironmentFacts { working_directory: root, programs: vec![shell], ..found }
    }
}

/// Returns where bubblewrap is installed, if it is. It does not tell whether it works.
#[must_use]
pub fn bubblewrap() -> Option<PathBuf> {
    shell::installed("bwrap")
}

/// Returns bubblewrap for the commands, or the reason why they run without it.
fn jail(
    root: &Path,
    options: &LocalOptions,
    variables: &EnvironmentVariables,
) -> Result<Bubblewrap, String> {
    if options.bubblewrap == BubblewrapMode::Never {
        return Err("as was wanted".to_owned());
    }
    if !HAS_BUBBLEWRAP {
        return Err("it confines commands under Linux only".to_owned());
    }
    let program = bubblewrap().ok_or("it is not installed")?;
    let (workspace, network) = (root.to_owned(), options.network);
    let jail = Bubblewrap { program, workspace, network };
    match jail.fault(variables) {
        None => Ok(jail),
        Some(why) => Err(format!("it does not work here: {why}")),
    }
}

fn not_started(name: &str, error: &io::Error) -> Outcome {
    Outcome::error(ToolError::Crashed, format!("{name} can't be run: {error}"))
}
