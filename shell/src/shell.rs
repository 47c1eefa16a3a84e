//! One command line from its request to its reply: the shell is set up with the state of the last
//! one, runs, and gives its new state.

use crate::{
    analysis::reads_only,
    builtins::{
        self,
        nesting::{TOO_DEEP, is_deep_script},
    },
    files::ShellFileSystem,
    missing::{MissingCommandResolver, is_kept},
    modules,
    programs::{HostProgram, driven},
    state,
};
use bashkit::{
    Bash, Error, ExecOptions, ExecutionLimits, FileSystem, LimitExceeded, MemoryLimits, Result,
    SessionLimits,
};
use innerloop_shell_protocol::{ShellReply, ShellRequest};
use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

/// The status of a command line with a syntax error.
const SYNTAX: i32 = 2;

/// Carries out a request.
pub(crate) fn answer(request: &ShellRequest) -> ShellReply {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    match runtime {
        Ok(runtime) => runtime.block_on(driven(carried_out(request))),
        Err(error) => failed(&format!("the shell can't be set up: {error}"), 1),
    }
}

async fn carried_out(request: &ShellRequest) -> ShellReply {
    let files = Arc::new(ShellFileSystem::new(request.tmp));
    let mut bash = match opened(request, &files, &[]) {
        Ok(bash) => bash,
        Err(error) => return failed(&format!("the shell's state is lost: {error}"), 1),
    };
    // Paths can only become commands when the shell is built, and only a built one with its state
    // knows its folder. So it may be built twice.
    if request.programs.iter().any(|program| program == modules::RUN) {
        let cwd = bash.shell_state().cwd;
        let folder = request.folder.as_ref().map_or(cwd, |folder| Path::new("/").join(folder));
        let paths = modules::named(&request.script, &folder);
        if !paths.is_empty()
            && let Ok(with_paths) = opened(request, &files, &paths)
        {
            bash = with_paths;
        }
    }
    // Before `/tmp` is restored: an analysis runs nothing.
    if request.analyze {
        let reads_only = reads_only(&bash, &request.script);
        return ShellReply { reads_only, ..ShellReply::default() };
    }
    if let Some(state) = &request.state {
        state::take_up(&files, state).await;
    }
    if let Some(folder) = &request.folder {
        return within(&mut bash, &files, folder, request).await;
    }
    run(&mut bash, &files, request).await
}

/// Returns a shell in the state that the last command line left, with these paths as commands.
fn opened(
    request: &ShellRequest,
    files: &Arc<ShellFileSystem>,
    paths: &[String],
) -> std::result::Result<Bash, String> {
    let mut bash = build(request, files, paths);
    if let Some(state) = &request.state {
        state::restore(&mut bash, files, state)?;
    }
    Ok(bash)
}

/// Runs a command line in a folder, and leaves the shell in the folder where it was.
async fn within(
    bash: &mut Bash,
    files: &ShellFileSystem,
    folder: &str,
    request: &ShellRequest,
) -> ShellReply {
    let mut outside = bash.shell_state();
    let folder = Path::new("/").join(folder);
    if !fs::metadata(&folder).is_ok_and(|found| found.is_dir()) {
        let why = format!("there is no folder {} to run in", folder.display());
        return failed(&why, 1);
    }
    let before = std::mem::replace(&mut outside.cwd, folder);
    bash.restore_shell_state(&outside);
    let reply = run(bash, files, request).await;
    let mut inside = bash.shell_state();
    inside.cwd = before;
    bash.restore_shell_state(&inside);
    ShellReply { state: state::save(bash, files).await, ..reply }
}

async fn run(bash: &mut Bash, files: &ShellFileSystem, request: &ShellRequest) -> ShellReply {
    if is_deep_script(&request.script) {
        let state = state::save(bash, files).await;
        return ShellReply { state, ..failed(&format!("syntax error: {TOO_DEEP}"), SYNTAX) };
    }
    let mut options = ExecOptions::new();
    if let Some(stdin) = &request.stdin {
        options = options.stdin(stdin.as_str());
    }
    if let Some((name, args)) = request.args.split_first() {
        options = options.arg0(name).positional(args);
    }
    let ended = bash
        .execute(&request.script)
        // Output goes out as it comes and is not collected: the host keeps and limits it.
        .capture(0)
        .stdout_fn(|bytes| async move { Ok(io::stdout().write_all(&bytes)?) })
        .stderr_fn(|bytes| async move { Ok(io::stderr().write_all(&bytes)?) })
        .options(options)
        .await;
    let _flushed = io::stdout().flush();
    let ended = ended.map(|ended| ended.exit_code);
    ShellReply { state: state::save(bash, files).await, ..told(ended, &request.script) }
}

fn build(request: &ShellRequest, files: &Arc<ShellFileSystem>, paths: &[String]) -> Bash {
    let limits = ExecutionLimits {
        max_work_units: u64::MAX,
        max_aggregate_input_bytes: u64::MAX,
        max_live_intermediate_bytes: 256 << 20,
        max_parser_operations: 10_000_000,
        max_stdout_bytes: 256 << 20,
        max_stderr_bytes: 256 << 20,
        timeout: Duration::from_millis(request.timeout_ms.clamp(1, 1 << 30)),
        ..ExecutionLimits::cli()
    };
    let mut bash = Bash::builder()
        .fs(Arc::clone(files) as Arc<dyn FileSystem>)
        .rootfs(false)
        .cwd("/")
        .username("user")
        .hostname("innerloop")
        .env("HOME", "/")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .limits(limits)
        .session_limits(SessionLimits::unlimited())
        .memory_limits(MemoryLimits::default());
    bash = builtins::register(bash, files).builtin_filter(is_kept);
    for name in &request.programs {
        bash = bash.command(name, HostProgram(Arc::clone(files)));
    }
    let commands = Arc::default();
    bash =
        bash.command_resolver(Arc::new(MissingCommandResolver::new(&request.missing, &commands)));
    let bash = modules::register(bash, paths).build();
    let _first = commands.set(bash.builtin_names());
    files.name_commands(bash.builtin_names());
    bash
}

fn told(ended: Result<i32>, script: &str) -> ShellReply {
    match ended {
        Ok(status) => ShellReply { status, ..ShellReply::default() },
        Err(Error::ResourceLimit(LimitExceeded::Timeout(_))) => {
            ShellReply { status: 124, timed_out: true, ..ShellReply::default() }
        }
        Err(error) => match error.syntax_report("bash", script) {
            Some(report) => {
                // If standard error is closed, nobody is left to report it to.
                let _told = write!(io::stderr(), "{report}");
                ShellReply { status: SYNTAX, ..ShellReply::default() }
            }
            None => failed(&error.to_string(), 1),
        },
    }
}

fn failed(why: &str, status: i32) -> ShellReply {
    // If standard error is closed, nobody is left to report it to.
    let _told = writeln!(io::stderr(), "bash: {why}");
    ShellReply { status, ..ShellReply::default() }
}
