//! One run, from an invocation to its outcome: a guest, or a shell and the programs that it starts.
//! However a run ends, its output and changes until then are in the outcome, and no operation on a
//! file goes on after the changes are listed.

use super::{
    drivers::{self, DriverJob},
    engine::{GuestModule, SandboxEngine},
    error::ModuleError,
    guest,
    guest_view::GuestVisibility,
    limits::RunLimits,
    program_launcher::launcher,
    programs::ProgramRegistry,
    quota::SessionQuota,
    run_group::GuestGroup,
    shell::{ReplySlot, ShellProcess},
    state::RunState,
    stdio::{OnDelta, RunStdio},
};
use innerloop_driver::{
    SecretKeys,
    capture::{OutputCapture, ProgramExit, StandardStream},
};
use innerloop_workspace::{ChangeRecords, Workspace};
use std::{
    collections::BTreeMap,
    future::Future,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};
use wasmtime_wasi::{WasiCtxBuilder, WasiView, p1::WasiP1Ctx, p2::pipe::MemoryInputPipe};

/// The longest wait for the last operation on a file.
const LAST_OPERATION: Duration = Duration::from_secs(5);
/// The time that a stopped run has to finish the changes that it has begun.
const LAST_CHANGES: Duration = Duration::from_secs(1);

/// The guest to run, with its input, its workspace and its limits.
pub(super) struct GuestInvocation {
    pub(super) guest: GuestModule,
    /// The arguments, the program's own name first.
    pub(super) argv: Vec<String>,
    /// True if it only plans jobs, see [`drivers`](super::drivers).
    pub(super) is_driver: bool,
    pub(super) env: BTreeMap<String, String>,
    pub(super) stdin: Vec<u8>,
    pub(super) workspace: Workspace,
    /// The folder of the workspace that the guest sees as `/`.
    pub(super) root: PathBuf,
    /// The guest's view of the workspace, and of the folders beside it.
    pub(super) sight: GuestVisibility,
    pub(super) limits: RunLimits,
    /// The resources that are left for the session.
    pub(super) budget: Arc<SessionQuota>,
    pub(super) timeout: Duration,
    /// True if a stopped guest first finishes the changes that it has begun, so that no file is
    /// left half written.
    pub(super) ends_changes: bool,
    pub(super) on_delta: Option<OnDelta>,
    /// The secrets that are removed from the guest's output.
    pub(super) keys: SecretKeys,
    /// The programs that it may start, if it is a shell.
    pub(super) starts: Option<ProgramRegistry>,
}

/// The outcome of a run.
#[derive(Debug)]
pub(super) struct RunOutcome {
    pub(super) end: ProgramExit,
    pub(super) printed: OutputCapture,
    pub(super) records: ChangeRecords,
    /// The reply of a shell.
    pub(super) reply: Option<String>,
}

/// Runs a guest to its end, its time limit, or until `stop` is done. The time limit does not count
/// compiling a module. Dropping the future stops the guest at its next tick.
///
/// # Errors
/// [`ModuleError`] if the guest can't be started at all.
pub(super) async fn run(
    engine: &Arc<SandboxEngine>,
    invocation: GuestInvocation,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<RunOutcome, ModuleError> {
    let engine = engine.clone();
    // A guest may compute for a whole tick; in a task of its own it does not delay its caller. The
    // set ends its task when it is dropped, which a plain `spawn` would not.
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let GuestInvocation { keys, limits, budget, on_delta, workspace, ends_changes, .. } =
            &invocation;
        let stdio = RunStdio::new(keys, limits, Arc::clone(budget), on_delta.clone());
        let group = Arc::new(GuestGroup::new(workspace.for_run(), *limits, Arc::clone(budget)));
        let replied = ReplySlot::default();
        let stop = async {
            stop.await;
            if *ends_changes && group.has_begun() {
                sleep(LAST_CHANGES).await;
            }
        };
        // `stop` comes first: a call that was stopped before it began does not begin.
        let end = tokio::select! {
            biased;
            () = stop => ProgramExit::Interrupted,
            end = run_to_end(&engine, &invocation, &stdio, (&group, &replied)) => end?,
        };
        let (printed, reply) = (stdio.take(), replied.take());
        Ok(RunOutcome { end, printed, records: records(group).await, reply })
    });
    match tasks.join_next().await {
        Some(Ok(ended)) => ended,
        Some(Err(error)) => Err(ModuleError::Task(error.to_string())),
        None => Err(ModuleError::Task("it was not started".into())),
    }
}

/// Returns the run's changes, once its last operation on a file is done: one that was under way
/// when the guest was stopped goes on to its end.
async fn records(group: Arc<GuestGroup>) -> ChangeRecords {
    if group.end_untouched() {
        return ChangeRecords::default();
    }
    // A file system that hangs must not hold up the session: the changes are unknown then.
    let ending = Arc::clone(&group);
    let records = match timeout(LAST_OPERATION, spawn_blocking(move || ending.end())).await {
        Ok(Ok(records)) => records,
        Ok(Err(_)) | Err(_) => ChangeRecords { overflow: true, ..ChangeRecords::default() },
    };
    // Saved before anybody hears of the changes, so that the log lists none that a kill would undo.
    let _is_saved = spawn_blocking(move || group.save()).await;
    records
}

async fn run_to_end(
    engine: &Arc<SandboxEngine>,
    invocation: &GuestInvocation,
    stdio: &RunStdio,
    (group, replied): (&Arc<GuestGroup>, &ReplySlot),
) -> Result<ProgramExit, ModuleError> {
    let ready = engine.ready(&invocation.guest).await?;
    let GuestInvocation { root, sight, starts, .. } = invocation;
    let shell = starts.clone().map(|programs| {
        let (engine, group) = (Arc::clone(engine), Arc::clone(group));
        ShellProcess::new(launcher(engine, programs, group, root.clone()), replied.clone())
    });
    // A driver runs several guests, but a shell is always one: the first guest takes it.
    let shell = Mutex::new(shell);
    let guest = |job: DriverJob| {
        let files = group.files(root.clone(), sight.clone());
        let (wasi, limiter) = (context(invocation, job, stdio), group.limiter(usize::MAX));
        let shell = shell.lock().unwrap_or_else(PoisonError::into_inner).take();
        guest::to_end(&ready, RunState { wasi, limiter, files, shell })
    };
    let leaves = |paths| group.leaves(group.files(root.clone(), sight.clone()), paths);
    // The clock starts here, after the module was compiled and loaded.
    let ended = drivers::run(invocation.is_driver, invocation.argv.clone(), guest, leaves);
    Ok(timeout(invocation.timeout, ended).await.unwrap_or(ProgramExit::TimedOut))
}

fn context(invocation: &GuestInvocation, job: DriverJob, stdio: &RunStdio) -> WasiP1Ctx {
    let mut wasi = WasiCtxBuilder::new();
    wasi.args(&job.argv);
    for (name, value) in &invocation.env {
        wasi.env(name, value);
    }
    // A plan is read by the host alone: a driver that is only asked for it reads no input.
    if let Some(plan) = job.plan {
        wasi.stderr(plan);
    } else {
        wasi.stdin(MemoryInputPipe::new(invocation.stdin.clone()));
        wasi.stdout(stdio.stream(StandardStream::Out)).stderr(stdio.stream(StandardStream::Err));
    }
    let mut wasi = wasi.build_p1();
    // wasmtime's own table has streams and pollables; our files are counted in `GuestFiles`.
    wasi.ctx().table.set_max_capacity(invocation.limits.open_files);
    wasi
}
