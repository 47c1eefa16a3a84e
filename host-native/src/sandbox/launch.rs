//! Runs the programs that a shell starts: as guests of the shell's run, over the same workspace and
//! within the same limits.

use super::{
    engine::{Guest, SandboxEngine},
    group::Group,
    guest::{self, program_env},
    pipe::{Reader, Writer},
    programs::Programs,
    shell::{Launcher, Pipes},
    state::RunState,
};
use innerloop_driver::capture::End;
use innerloop_shell_protocol::Launch;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
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
        let guest = programs.guest(&launch.program).ok().flatten()?;
        let wasi = context(&launch, &pipes, group.open_files());
        let (engine, group, root) = (Arc::clone(&engine), Arc::clone(&group), root.clone());
        let Launch { program, folder, .. } = launch;
        Some(Box::pin(async move {
            let status = run_guest(&engine, &guest, &group, wasi, (root, &folder)).await;
            status.unwrap_or_else(|(status, why)| {
                Writer(pipes.stderr).say(&format!("{program}: {why}\n"));
                status
            })
        }))
    })
}

fn context(launch: &Launch, pipes: &Pipes, open_files: usize) -> WasiP1Ctx {
    let mut wasi = WasiCtxBuilder::new();
    wasi.arg(&launch.program).args(&launch.args);
    let given = launch.env.chunks_exact(2).filter_map(|pair| match pair {
        [name, value] => Some((name.as_str(), value.as_str())),
        _ => None,
    });
    // What the shell says counts, but for the folder, which is always the program's `/`.
    let mut env: BTreeMap<&str, &str> = given.filter(|(name, _)| *name != "PWD").collect();
    let usual = program_env();
    for (name, value) in &usual {
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
    engine: &SandboxEngine,
    guest: &Guest,
    group: &Group,
    wasi: WasiP1Ctx,
    (root, folder): (PathBuf, &str),
) -> Result<i32, (i32, String)> {
    let no_folder = || (CAN_NOT_RUN, format!("there is no folder {folder} to run in"));
    let files = group.files_in(&root, folder).await.ok_or_else(no_folder)?;
    let ready = engine.ready(guest).await;
    let ready = ready.map_err(|error| (CAN_NOT_RUN, format!("can't be run: {error}")))?;
    let state = RunState { wasi, limiter: group.limiter(), files, shell: None };
    match guest::to_end(&ready, state).await {
        End::Exit(code) => Ok(code & 0xff),
        end @ End::Crash(_) => Err((CRASHED, end.to_string())),
        end => Err((KILLED, end.to_string())),
    }
}
