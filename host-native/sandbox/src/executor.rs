//! The executor of the built-in tools' actions. Actions that only read run natively, unless they
//! are to be isolated as well; the others run in the guest tools program, and `run_program` in the
//! program that it names. The executor also calls modules for the host's own tools. Whatever goes
//! wrong, it returns an outcome that a model can read.

use super::{
    call_context::CallContext,
    command_line::{self, CommandLine, SessionShells, StartablePrograms},
    embedded_modules,
    engine::{GuestModule, SandboxEngine},
    error::ModuleError,
    guest::program_env,
    guest_view::GuestVisibility,
    limits::{RunLimits, SessionLimits},
    module::{ModuleCall, RegisteredModule},
    programs::{BY_PATH, ProgramPermissions, ProgramRegistry, ProgramStart},
    quota::SessionQuota,
    run::{self, GuestInvocation, RunOutcome},
    stdio::OnDelta,
};
use innerloop_driver::{
    SecretKeys,
    capture::{ExceededLimit, ProgramExit, unknown_program},
};
use innerloop_tools::TmpMeaning;
use innerloop_types::{
    action::{Action, Outcome, Part, ToolError},
    json::{from_str, to_string},
};
use innerloop_workspace::{
    ChangeRecords, Workspace, at,
    reading::{self, StopFlag},
};
use std::{
    collections::BTreeMap,
    future::{Future, pending},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::task::spawn_blocking;

/// The name of the shell's file among the programs.
pub(super) const SHELL: &str = "bash";
const SHELL_NAMES: [&str; 2] = [SHELL, "sh"];

/// The time that the shell may take beyond the time limit of a command line, to save its state.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The place where actions that only read files are carried out: `read`, `view_image`, `read_many`,
/// `list`, `glob` and `grep`. Actions that write or execute always run in the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadIsolation {
    /// In the host, by several threads, over the workspace's handle, which reaches no more than a
    /// guest does.
    #[default]
    Native,
    /// In the sandbox, by the guest tools program.
    Wasi,
}

/// An executor of actions over one workspace: in the sandbox, except for those that only read, see
/// [`ReadIsolation`]. It stays the same from call to call; whatever belongs to one call alone is in
/// a [`CallContext`].
#[derive(Clone, Debug)]
pub struct Executor {
    engine: Arc<SandboxEngine>,
    pub(super) workspace: Workspace,
    programs: ProgramRegistry,
    limits: RunLimits,
    isolation: ReadIsolation,
    budget: Arc<SessionQuota>,
    keys: SecretKeys,
    pub(super) shells: SessionShells,
}

/// A call that is under way.
pub(super) struct CallScope<'a> {
    pub(super) call: &'a CallContext,
    /// The folder that the call means by `tmp`.
    meant: TmpMeaning,
    /// The workspace with that meaning of `tmp`.
    pub(super) workspace: Workspace,
}

impl Executor {
    /// An executor with the limits of [`RunLimits::default`]. The engine stops keeping compiled
    /// modules on disk if its cache folder and the workspace overlap.
    #[must_use]
    pub fn new(
        engine: Arc<SandboxEngine>,
        workspace: Workspace,
        programs: ProgramRegistry,
    ) -> Self {
        engine.keep_cache_from(workspace.root());
        let (limits, keys) = (RunLimits::default(), SecretKeys::default());
        let isolation = ReadIsolation::default();
        let budget = SessionQuota::new(&SessionLimits::default());
        let shells = SessionShells::default();
        Self { engine, workspace, programs, limits, isolation, budget, keys, shells }
    }

    /// The same executor with another place for the actions that only read.
    #[must_use]
    pub const fn with_isolation(mut self, isolation: ReadIsolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Returns whether an action needs the sandbox.
    fn needs_sandbox(&self, action: &Action) -> bool {
        self.isolation == ReadIsolation::Wasi || !reading::only_reads(action)
    }

    /// The same executor with other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The same executor with other limits for all runs of it and its clones together.
    #[must_use]
    pub fn with_session_limits(mut self, limits: &SessionLimits) -> Self {
        self.budget = SessionQuota::new(limits);
        self
    }

    /// The same executor, which removes these keys from the output of programs.
    #[must_use]
    pub fn without_keys(mut self, keys: &SecretKeys) -> Self {
        self.keys = keys.clone();
        self
    }

    /// The workspace on which the actions work.
    #[must_use]
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The programs that `run_program` can run.
    #[must_use]
    pub const fn programs(&self) -> &ProgramRegistry {
        &self.programs
    }

    /// Compiles the guest tools program if no earlier run has, which takes a while. One that is
    /// compiled already is loaded when the first action needs it, which takes milliseconds.
    /// Programs, including the shell, are compiled when they are first called.
    ///
    /// # Errors
    /// [`ModuleError`] if it can't be compiled on this machine.
    pub async fn compile(&self) -> Result<(), ModuleError> {
        self.engine.compiled(&tools()).await
    }

    /// Compiles or loads the guest tools program now, so that the first action does not wait.
    ///
    /// # Errors
    /// [`ModuleError`] if it can't be compiled on this machine.
    pub async fn prepare(&self) -> Result<(), ModuleError> {
        self.engine.ready(&tools()).await.map(drop)
    }

    /// Carries out `action` for the session's own agent in the workspace's root, for `timeout` at
    /// most. The output of a program goes to `on_delta` as it comes. Dropping the future stops the
    /// run; what it changed until then stays.
    pub async fn run(
        &self,
        action: &Action,
        timeout: Duration,
        on_delta: Option<OnDelta>,
    ) -> Outcome {
        self.run_until(&CallContext::default(), action, timeout, on_delta, pending()).await
    }

    /// As [`Executor::run`], but in the context of `call`. When `stop` is done, the run ends with
    /// [`ToolError::Interrupted`] and with its output and changes until then.
    pub async fn run_until(
        &self,
        call: &CallContext,
        action: &Action,
        timeout: Duration,
        on_delta: Option<OnDelta>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        if !self.needs_sandbox(action) {
            return self.read(call, action, timeout, stop).await;
        }
        let reads = action.is_read_only();
        let meant = if reads { TmpMeaning::default() } else { TmpMeaning::of(action) };
        let scope = self.scope(call, meant);
        match action {
            Action::RunProgram { program, args, stdin } => {
                let called = (program.as_str(), args.as_slice(), stdin.as_deref());
                self.run_program(&scope, called, timeout, on_delta, stop).await
            }
            Action::Shell { command, folder } => {
                let line = (command.as_str(), folder.as_deref());
                self.run_shell(&scope, line, timeout, on_delta, stop).await
            }
            _ => self.run_tool(&scope, action, timeout, stop).await,
        }
    }

    /// The scope of a call that means this by `tmp`.
    pub(super) fn scope<'a>(&self, call: &'a CallContext, meant: TmpMeaning) -> CallScope<'a> {
        CallScope { call, meant, workspace: self.workspace.meaning(meant) }
    }

    async fn run_program(
        &self,
        scope: &CallScope<'_>,
        (program, args, stdin): (&str, &[String], Option<&str>),
        timeout: Duration,
        on_delta: Option<OnDelta>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        let start = match self.start(program).await {
            Ok(start) => start,
            Err(outcome) => return outcome,
        };
        let mut stop = Box::pin(stop);
        // Compiling the shell takes seconds, and a cancellation does not wait for it.
        let is_shell = SHELL_NAMES.contains(&program)
            && tokio::select! {
                biased;
                () = &mut stop => return stopped(),
                is_shell = self.is_shell(&start.guest) => is_shell,
            };
        let argv = std::iter::once(program).chain(args.iter().map(String::as_str));
        let argv = argv.map(str::to_owned).collect();
        let (stdin, end): (_, fn(ProgramExit, Option<&str>) -> ProgramExit) = if is_shell {
            let programs = started_by_name(&self.programs);
            let said = command_line::as_program(args, stdin, programs, (timeout, scope.meant));
            (said, |end, reply| command_line::told(end, reply).0)
        } else {
            (stdin.unwrap_or_default().to_owned(), |end, _| end)
        };
        let starts = is_shell.then(|| self.programs.clone());
        let ProgramStart { guest, terms } = start;
        let (limits, timeout) = (terms.limits(self.limits), terms.time(timeout));
        let plain = self.invocation(scope, guest, argv, stdin.into_bytes(), timeout);
        let ProgramPermissions { is_driver, env, sight, .. } = terms;
        let invocation =
            GuestInvocation { is_driver, env, sight, limits, on_delta, starts, ..plain };
        self.outcome(scope, invocation, stop, end).await
    }

    async fn run_shell(
        &self,
        scope: &CallScope<'_>,
        (command, folder): (&str, Option<&str>),
        timeout: Duration,
        on_delta: Option<OnDelta>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        // Taken whatever becomes of the call: a later one may have the same id.
        let named = self.shells.take_named(&scope.call.id);
        let may_write = !self.shells.take_reader(&scope.call.id);
        let ProgramStart { guest, terms } = match self.start(SHELL).await {
            Ok(start) => start,
            Err(outcome) => return outcome,
        };
        let timeout = terms.time(timeout);
        let mut stop = Box::pin(stop);
        let is_shell = tokio::select! {
            biased;
            () = &mut stop => return stopped(),
            is_shell = self.is_shell(&guest) => is_shell,
        };
        // The call was allowed for the names of its programs. Another call may have redefined them
        // since, in the shell or by a file of the workspace, so they are checked again.
        if named.is_some_and(|programs| !self.are_as_named(scope, &programs)) {
            let why = "The call was allowed for the programs that it names, and by now the names \
                       stand for something else. Call again.";
            return Outcome::error(ToolError::PermissionDenied, why);
        }
        if !is_shell {
            let script = plain_script(command, folder);
            let args = ["-c".to_owned(), script];
            return self.run_program(scope, (SHELL, &args, None), timeout, on_delta, stop).await;
        }
        let line = CommandLine { agent: scope.call.agent, command, folder };
        // A call that was found to only read gets a folder that it can't change, and no programs:
        // should the analysis be wrong, nothing is lost.
        let limits = terms.limits(self.limits);
        let programs = if may_write { self.programs.clone() } else { ProgramRegistry::default() };
        let names = started_by_name(&programs);
        let stdin = self.shells.request(line, names, (timeout, scope.meant)).into_bytes();
        // The shell stops by itself at the time limit and saves its state. What does not look at
        // the clock meanwhile, such as a loop in awk, is ended a little later, by the host.
        let argv = vec![SHELL.to_owned()];
        let plain = self.invocation(scope, guest, argv, stdin, timeout + LAST_WORDS);
        let starts = Some(programs);
        let ProgramPermissions { env, mut sight, .. } = terms;
        sight.may_write &= may_write;
        let invocation = GuestInvocation { env, sight, limits, on_delta, starts, ..plain };
        let ended = |end, reply: Option<&str>| self.shells.ended(line, end, reply);
        self.outcome(scope, invocation, stop, ended).await
    }

    /// The program that a command starts.
    ///
    /// # Errors
    /// The outcome for the model if there is no such program or it can't be used.
    pub(super) async fn start(&self, program: &str) -> Result<ProgramStart, Outcome> {
        // The shell answers to `sh` as well, unless there is a program of that name.
        let file = if SHELL_NAMES.contains(&program) { SHELL } else { program };
        let found = match self.programs.start(program).await {
            Ok(None) => self.programs.start(file).await,
            found => found,
        };
        match found {
            Ok(Some(start)) => Ok(start),
            Ok(None) => Err(match self.programs.missing(program) {
                Some(words) => Outcome::error(ToolError::NotFound, words),
                None => unknown_program(program, &self.programs.names().collect::<Vec<_>>()),
            }),
            Err(error) => Err(not_started(program, &error)),
        }
    }

    /// Returns whether a module is our shell, which has a protocol of its own. False if it can't be
    /// loaded: running it reports the reason.
    pub(super) async fn is_shell(&self, guest: &GuestModule) -> bool {
        self.engine.ready(guest).await.is_ok_and(|ready| ready.is_shell())
    }

    /// Runs a program in the agent's folder and returns its outcome. `end` makes the program's exit
    /// of the guest's exit and the shell's reply.
    async fn outcome(
        &self,
        scope: &CallScope<'_>,
        invocation: GuestInvocation,
        stop: impl Future<Output = ()> + Send + 'static,
        end: impl FnOnce(ProgramExit, Option<&str>) -> ProgramExit,
    ) -> Outcome {
        match self.run_in_folder(scope, invocation, stop).await {
            Ok(RunOutcome {
                end: how,
                printed,
                records: ChangeRecords { changes, overflow },
                reply,
            }) => printed.outcome(&end(how, reply.as_deref()), changes, overflow),
            Err(outcome) => outcome,
        }
    }

    /// Compiles or loads a module now, so that its first call does not wait.
    ///
    /// # Errors
    /// [`ModuleError`] if its file can't be read, or is not a module that can be run.
    pub async fn prepare_module(&self, module: &RegisteredModule) -> Result<(), ModuleError> {
        self.engine.ready(&module.guest()).await.map(drop)
    }

    /// Calls a module as a program is run, for `timeout` at most or until `stop` is done. The
    /// call's folder is its `/`, and its output goes to `on_delta` as it comes. Its standard output
    /// is the result; an exit code other than 0 makes that an error.
    pub async fn call_module(
        &self,
        call: &CallContext,
        module: &RegisteredModule,
        given: ModuleCall,
        timeout: Duration,
        on_delta: Option<OnDelta>,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        let ModuleCall { args, env, stdin, may_write, limits } = given;
        let argv = std::iter::once(module.name().to_owned()).chain(args).collect();
        let limits = limits.unwrap_or(self.limits);
        let own = env.into_iter().map(|(name, value)| (name.to_owned(), value));
        let env = program_env().into_iter().chain(own).collect();
        let sight = GuestVisibility::workspace(may_write);
        let scope = self.scope(call, TmpMeaning::default());
        let plain = self.invocation(&scope, module.guest(), argv, stdin.into_bytes(), timeout);
        let invocation = GuestInvocation { env, sight, limits, on_delta, ..plain };
        match self.run_in_folder(&scope, invocation, stop).await {
            Ok(RunOutcome {
                end, printed, records: ChangeRecords { changes, overflow }, ..
            }) => printed.result(&end, changes, overflow),
            Err(outcome) => outcome,
        }
    }

    /// The path of a folder of the workspace on this machine.
    ///
    /// # Errors
    /// The outcome for the model if it does not exist, or a link leads out of the workspace.
    pub fn folder(&self, folder: &str) -> Result<PathBuf, Outcome> {
        let inside = self.workspace.folder(folder);
        let inside = inside.map(|inside| at(self.workspace.root(), &inside));
        inside.ok_or_else(|| no_folder(folder))
    }

    /// Runs a program that sees the call's folder as `/`.
    ///
    /// # Errors
    /// The outcome for the model if it can't be started.
    pub(super) async fn run_in_folder(
        &self,
        scope: &CallScope<'_>,
        invocation: GuestInvocation,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<RunOutcome, Outcome> {
        let root = scope.root().await.ok_or_else(|| no_folder(&scope.call.folder))?;
        let name = invocation.guest.name.clone();
        let invocation = GuestInvocation { root, keys: self.keys.clone(), ..invocation };
        let ended = run::run(&self.engine, invocation, stop).await;
        ended.map_err(|error| not_started(&name, &error))
    }

    /// Carries out an action that only reads, on threads for blocking work.
    async fn read(
        &self,
        call: &CallContext,
        action: &Action,
        timeout: Duration,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        let ending = StopFlag::default();
        // Nobody waits for threads that are still reading when the call ends early or its future is
        // dropped: they see the flag at the next file or MiB.
        let _ends = ending.on_drop();
        let (workspace, action) = (self.workspace.clone(), action.clone());
        let CallContext { folder, known, .. } = call.clone();
        let reading = spawn_blocking(move || {
            reading::perform(&workspace, &folder, &action, known.as_deref(), &ending)
        });
        let end = tokio::select! {
            biased;
            () = stop => ProgramExit::Interrupted,
            read = tokio::time::timeout(timeout, reading) => match read {
                Ok(Ok(outcome)) if self.has_room_for(&outcome) => return outcome,
                Ok(Ok(_)) => ProgramExit::Limit(ExceededLimit::Output),
                Ok(Err(error)) => ProgramExit::Crash(error.to_string()),
                Err(_) => ProgramExit::TimedOut,
            },
        };
        tool_failed(&end, "", timeout)
    }

    /// Charges an outcome's text and images to the limits of output; false if they do not suffice.
    fn has_room_for(&self, outcome: &Outcome) -> bool {
        let bytes = outcome.parts.iter().map(|part| match part {
            Part::Text { text } => text.len(),
            Part::Image { data, .. } => data.len(),
            _ => 0,
        });
        let bytes = bytes.sum::<usize>() as u64;
        bytes <= self.limits.output_bytes && self.budget.take_output(bytes)
    }

    async fn run_tool(
        &self,
        scope: &CallScope<'_>,
        action: &Action,
        timeout: Duration,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        let stdin = to_string(action).into_bytes();
        // The outcome is one JSON text, which can only be read whole. An output is kept half from
        // the start and half from the end, so twice the limit keeps any of them.
        let kept_output_bytes = usize::try_from(self.limits.output_bytes).unwrap_or(usize::MAX);
        let limits =
            RunLimits { kept_output_bytes: kept_output_bytes.saturating_mul(2), ..self.limits };
        let CallContext { folder, known, .. } = scope.call;
        let known = known.as_ref().map(to_string);
        let argv = ["tools".to_owned(), folder.clone()].into_iter().chain(known).collect();
        let plain = self.invocation(scope, tools(), argv, stdin, timeout);
        let sight = GuestVisibility { writes_whole: true, ..plain.sight.clone() };
        // This host replaces files as a whole, so the tools need not write beside them and rename.
        let env = BTreeMap::from([(innerloop_tools::REPLACED_BY_HOST.to_owned(), "1".to_owned())]);
        let invocation = GuestInvocation { limits, sight, env, ends_changes: true, ..plain };
        // The tools see the whole workspace, and take the agent's folder as an argument.
        match run::run(&self.engine, invocation, stop).await {
            Ok(ended) => tool_outcome(ended, timeout),
            Err(error) => not_started("the tools program", &error),
        }
    }

    pub(super) fn invocation(
        &self,
        scope: &CallScope<'_>,
        guest: GuestModule,
        argv: Vec<String>,
        stdin: Vec<u8>,
        timeout: Duration,
    ) -> GuestInvocation {
        GuestInvocation {
            guest,
            argv,
            is_driver: false,
            env: BTreeMap::new(),
            stdin,
            workspace: scope.workspace.clone(),
            root: PathBuf::new(),
            sight: GuestVisibility::workspace(true),
            limits: self.limits,
            budget: Arc::clone(&self.budget),
            timeout,
            ends_changes: false,
            on_delta: None,
            keys: SecretKeys::default(),
            starts: None,
        }
    }
}

impl CallScope<'_> {
    /// The call's folder as a real path of the workspace, if it exists.
    async fn root(&self) -> Option<PathBuf> {
        // The root always exists, and a call that works there needs no thread for files.
        if self.call.folder.is_empty() {
            return Some(PathBuf::new());
        }
        let (workspace, folder) = (self.workspace.clone(), self.call.folder.clone());
        spawn_blocking(move || workspace.folder(&folder)).await.ok().flatten()
    }
}

/// A script for a shell that is a program like any other.
fn plain_script(command: &str, folder: Option<&str>) -> String {
    match folder {
        // Whatever the folder is called: in single quotes only the quote itself has a meaning.
        Some(folder) => format!("cd '{}' || exit 1\n{command}", folder.replace('\'', "'\\''")),
        None => command.to_owned(),
    }
}

/// The programs of the registry that a command line can start.
fn started_by_name(programs: &ProgramRegistry) -> StartablePrograms {
    // In the shell, `bash` and `sh` are its own commands, as `command_line::as_program` expects.
    let names = programs.names().filter(|name| !SHELL_NAMES.contains(name));
    let by_path = programs.by_path().map(|_| BY_PATH);
    let names = names.chain(by_path).map(str::to_owned).collect();
    StartablePrograms { programs: names, missing: programs.told_missing() }
}

/// The guest tools program, built from the crate `tools`.
fn tools() -> GuestModule {
    GuestModule::carried(&embedded_modules::TOOLS)
}

/// The outcome of a call that was stopped while its module was compiled.
fn stopped() -> Outcome {
    Outcome::error(ToolError::Interrupted, ProgramExit::Interrupted.to_string())
}

fn no_folder(folder: &str) -> Outcome {
    Outcome::error(ToolError::NotFound, format!("there is no folder {folder} to run in"))
}

fn not_started(name: &str, error: &ModuleError) -> Outcome {
    Outcome::error(ToolError::Crashed, format!("{name} can't be run: {error}"))
}

/// Reads the outcome that the guest tools program printed.
fn tool_outcome(ended: RunOutcome, timeout: Duration) -> Outcome {
    let RunOutcome { end, printed, records, .. } = ended;
    let (stdout, stderr) = printed.whole();
    // A tool that came to its end lists its own changes; the recorder's are for those that did not.
    if let (ProgramExit::Exit(0), Some(stdout)) = (&end, stdout) {
        return from_str(&String::from_utf8_lossy(&stdout)).unwrap_or_else(|error| {
            Outcome::error(
                ToolError::Crashed,
                format!("the tools program gave no outcome that can be read: {error}"),
            )
        });
    }
    let said = stderr.trim();
    let why = if said.is_empty() { String::new() } else { format!("\n{said}") };
    Outcome { changes: records.changes, ..tool_failed(&end, &why, timeout) }
}

/// The outcome of a tool that was ended early or crashed.
fn tool_failed(end: &ProgramExit, why: &str, timeout: Duration) -> Outcome {
    let error = end.error().unwrap_or(ToolError::Limit);
    let how = match end {
        ProgramExit::TimedOut => format!("the time limit of {} ms ended it", timeout.as_millis()),
        end => end.to_string(),
    };
    let outcome = Outcome::error(error, format!("the tool failed: {how}{why}"));
    Outcome { timed_out: *end == ProgramExit::TimedOut, ..outcome }
}
