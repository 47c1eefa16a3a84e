//! The launcher of the programs that a shell starts. They are guests of the shell's run, over the
//! same workspace, within the same limits and with one record of changes. A program sees no more of
//! the workspace than the folder that is the shell's `/`, as far as its own permissions go.

use super::{
    compiler::MAX_MODULE,
    drivers::{self, DriverJob},
    engine::SandboxEngine,
    error::ModuleError,
    guest,
    pipe::{PipeReader, PipeWriter},
    programs::{BY_PATH, ProgramPermissions, ProgramRegistry, ProgramStart},
    run_group::GuestGroup,
    shell::{ProgramLauncher, StdioPipes},
    state::RunState,
};
use innerloop_driver::capture::ProgramExit;
use innerloop_shell_protocol::ProgramLaunch;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::time::timeout;
use wasmtime_wasi::{WasiCtxBuilder, WasiView as _, p1::WasiP1Ctx};

/// The status of a program that can't be run, as in bash.
const CAN_NOT_RUN: i32 = 126;
/// The status of a program that crashed, as after SIGABRT.
const CRASHED: i32 = 134;
/// The status of a program that exceeded a limit, as after SIGKILL.
const KILLED: i32 = 137;

/// The status of a program that was called in the wrong way.
const USAGE: i32 = 2;

/// The launcher for a shell that sees the folder `root` of the workspace as `/`.
pub(super) fn launcher(
    engine: Arc<SandboxEngine>,
    programs: ProgramRegistry,
    group: Arc<GuestGroup>,
    root: PathBuf,
) -> ProgramLauncher {
    Box::new(move |launch, pipes| {
        let (engine, group, root) = (Arc::clone(&engine), Arc::clone(&group), root.clone());
        // Answered at once, so that the shell can say "command not found"; all else is awaited in
        // the program's own task.
        let is_known = match &*launch.program {
            BY_PATH => programs.by_path().is_some(),
            program => programs.has(program),
        };
        let programs = programs.clone();
        is_known.then_some(Box::pin(async move {
            let status = run_guest((&engine, &group), &programs, (&launch, &pipes), &root).await;
            let program = match launch.args.into_iter().next() {
                Some(path) if launch.program == BY_PATH => path,
                _ => launch.program,
            };
            status.unwrap_or_else(|(status, why)| {
                PipeWriter(pipes.stderr).say(&format!("{program}: {why}\n"));
                status
            })
        }))
    })
}

fn context(
    (terms, launch): (&ProgramPermissions, &ProgramLaunch),
    job: DriverJob,
    pipes: StdioPipes,
    open_files: usize,
) -> WasiP1Ctx {
    let mut wasi = WasiCtxBuilder::new();
    wasi.args(&job.argv);
    let given = launch.env.chunks_exact(2).filter_map(|pair| match pair {
        [name, value] => Some((name.as_str(), value.as_str())),
        _ => None,
    });
    // The shell's exported variables win, except for `PWD`: the folder where the shell stands is
    // the program's `/`.
    let mut env: BTreeMap<&str, &str> = given.filter(|(name, _)| *name != "PWD").collect();
    for (name, value) in &terms.env {
        env.entry(name).or_insert(value);
    }
    for (name, value) in env {
        wasi.env(name, value);
    }
    match job.plan {
        Some(plan) => wasi.stderr(plan),
        None => wasi
            .stdin(PipeReader(pipes.stdin))
            .stdout(PipeWriter(pipes.stdout))
            .stderr(PipeWriter(pipes.stderr)),
    };
    let mut wasi = wasi.build_p1();
    // As for the first guest of a run: wasmtime's own table has only streams and pollables.
    wasi.ctx().table.set_max_capacity(open_files);
    wasi
}

/// Runs a program in a folder, to its exit status.
///
/// # Errors
/// The status of a program that did not come to its own end, and the reason.
async fn run_guest(
    (engine, group): (&SandboxEngine, &Arc<GuestGroup>),
    programs: &ProgramRegistry,
    (launch, pipes): (&ProgramLaunch, &StdioPipes),
    root: &Path,
) -> Result<i32, (i32, String)> {
    let not_run = |error: ModuleError| (CAN_NOT_RUN, format!("can't be run: {error}"));
    let folder = launch.folder.as_str();
    let no_folder = || (CAN_NOT_RUN, format!("there is no folder {folder} to run in"));
    let seen = group.folder_in(root, folder).await.ok_or_else(no_folder)?;
    let start = programs.start(&launch.program).await.map_err(not_run)?;
    // `wasi-run` is no program of the registry, so `start` finds nothing for it.
    let (ready, argv, terms) = match (start, programs.by_path()) {
        (Some(ProgramStart { guest, terms }), _) => {
            let argv = [&launch.program].into_iter().chain(&launch.args).cloned().collect();
            (engine.ready(&guest).await.map_err(not_run)?, argv, terms)
        }
        (None, None) => return Err((CAN_NOT_RUN, "it may not be run here".to_owned())),
        (None, Some(by_path)) => {
            let Some(path) = launch.args.first() else {
                return Err((USAGE, "which file is to be run? wasi-run FILE [ARGUMENT…]".into()));
            };
            // `argv[0]` is the path, which is the first argument of `wasi-run`.
            let ready = engine.transient(group.reads(&seen, path, MAX_MODULE)).await;
            (ready.map_err(not_run)?, launch.args.clone(), by_path)
        }
    };
    let guest = |job: DriverJob| {
        let wasi = context((&terms, launch), job, pipes.clone(), group.open_files());
        let files = group.files_in(&seen, terms.sight.clone());
        let limiter = group.limiter(terms.memory());
        // Only the run's first guest has a shell: a program can't start others.
        guest::to_end(&ready, RunState { wasi, limiter, files, shell: None })
    };
    let leaves = |paths| group.leaves(group.files_in(&seen, terms.sight.clone()), paths);
    let ended = drivers::run(terms.is_driver, argv, guest, leaves);
    // The run's time limit holds for the shell and its programs together; this one is the
    // program's own. What its jobs left is removed in either case.
    let ended = timeout(terms.time(Duration::MAX), ended).await;
    group.clear().await;
    match ended.unwrap_or(ProgramExit::TimedOut) {
        // A status has eight bits, and -1 means to the shell that a program is running.
        ProgramExit::Exit(code) => Ok(code & 0xff),
        end @ ProgramExit::Crash(_) => Err((CRASHED, end.to_string())),
        end => Err((KILLED, end.to_string())),
    }
}
