//! Runs the programs that a shell starts: as guests of the shell's run, over the same workspace and
//! within the same limits.

use super::{
    engine::{ModuleError, SandboxEngine},
    group::Group,
    guest,
    pipe::{Reader, Writer},
    programs::{Programs, Start},
    shell::{Launcher, Pipes},
    state::RunState,
};
use innerloop_driver::capture::End;
use innerloop_shell_protocol::Launch;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::time::timeout;
use wasmtime_wasi::{WasiCtxBuilder, WasiView as _, p1::WasiP1Ctx};

/// The status of a program that can't be run, that broke, and that went beyond a limit.
const CAN_NOT_RUN: i32 = 126;
const CRASHED: i32 = 134;
const KILLED: i32 = 137;

/// What runs programs for a shell that sees the folder `root` of the workspace as `/`.
pub(super) fn launcher(
    engine: Arc<SandboxEngine>,
    programs: Programs,
    group: Arc<Group>,
    root: PathBuf,
) -> Launcher {
    Box::new(move |launch, pipes| {
        let (engine, group, root) = (Arc::clone(&engine), Arc::clone(&group), root.clone());
        let start = programs.start(&launch.program).transpose()?;
        Some(Box::pin(async move {
            let status = run_guest((&engine, &group), start, (&launch, &pipes), &root).await;
            let program = launch.program;
            status.unwrap_or_else(|(status, why)| {
                Writer(pipes.stderr).say(&format!("{program}: {why}\n"));
                status
            })
        }))
    })
}

fn context(start: &Start, launch: &Launch, pipes: &Pipes, open_files: usize) -> WasiP1Ctx {
    let mut wasi = WasiCtxBuilder::new();
    wasi.arg(&launch.program).args(&launch.args);
    let given = launch.env.chunks_exact(2).filter_map(|pair| match pair {
        [name, value] => Some((name.as_str(), value.as_str())),
        _ => None,
    });
    // What the shell says counts, but for the folder, which is always the program's `/`.
    let mut env: BTreeMap<&str, &str> = given.filter(|(name, _)| *name != "PWD").collect();
    for (name, value) in &start.env {
        env.entry(name).or_insert(value);
    }
    for (name, value) in env {
        wasi.env(name, value);
    }
    let Pipes { stdin, stdout, stderr } = pipes.clone();
    wasi.stdin(Reader(stdin)).stdout(Writer(stdout)).stderr(Writer(stderr));
    let mut wasi = wasi.build_p1();
    wasi.ctx().table.set_max_capacity(open_files);
    wasi
}

/// Runs a program in a folder, to its exit status.
///
/// # Errors
/// The status where it did not come to its own end, and why.
async fn run_guest(
    (engine, group): (&SandboxEngine, &Group),
    start: Result<Start, ModuleError>,
    (launch, pipes): (&Launch, &Pipes),
    root: &Path,
) -> Result<i32, (i32, String)> {
    let not_run = |error: ModuleError| (CAN_NOT_RUN, format!("can't be run: {error}"));
    let start = start.map_err(not_run)?;
    let folder = launch.folder.as_str();
    let no_folder = || (CAN_NOT_RUN, format!("there is no folder {folder} to run in"));
    let files = group.files_in((root, folder), start.sight.clone()).await;
    let files = files.ok_or_else(no_folder)?;
    let ready = engine.ready(&start.guest).await.map_err(not_run)?;
    let wasi = context(&start, launch, pipes, group.open_files());
    let state = RunState { wasi, limiter: group.limiter(start.memory()), files, shell: None };
    let ended = timeout(start.time(Duration::MAX), guest::to_end(&ready, state)).await;
    match ended.unwrap_or(End::TimedOut) {
        End::Exit(code) => Ok(code & 0xff),
        end @ End::Crash(_) => Err((CRASHED, end.to_string())),
        end => Err((KILLED, end.to_string())),
    }
}
