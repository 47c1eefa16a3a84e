//! One run of a guest: its store, its limits, and how it ended.

use super::{
    engine::{Guest, ModuleError, Ready, SandboxEngine},
    files::Files,
    limits::Limits,
    quota::{Budget, Quota, RunLimiter},
    state::{RunState, with},
    stdio::{OnDelta, Stdio},
};
use crate::workspace::{Records, Workspace};
use innerloop_driver::{
    Keys,
    capture::{Capture, Channel, End, Limit},
};
use std::{
    future::Future,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{task::spawn_blocking, time::timeout};
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::{
    I32Exit, ResourceTableError, WasiCtxBuilder, WasiView, p1::WasiP1Ctx, p2::pipe::MemoryInputPipe,
};

/// How long the last operation on a file is waited for.
const LAST_OPERATION: Duration = Duration::from_secs(5);

/// What to run, on what, with what.
pub(super) struct Invocation {
    pub(super) guest: Guest,
    /// The arguments, the program's own name first.
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(&'static str, String)>,
    pub(super) stdin: Vec<u8>,
    pub(super) workspace: Workspace,
    /// The folder of it that the guest sees as `/`.
    pub(super) root: PathBuf,
    /// Whether it may change anything there.
    pub(super) may_write: bool,
    pub(super) limits: Limits,
    /// What is left of the session's limits.
    pub(super) budget: Arc<Budget>,
    pub(super) timeout: Duration,
    pub(super) on_delta: Option<OnDelta>,
    /// What is taken out of what the guest prints.
    pub(super) keys: Keys,
}

/// What came of a run.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) printed: Capture,
    pub(super) records: Records,
}

/// Runs a guest to its end, its time limit, or until `stop` is done. The time limit does not count
/// what it takes to compile a module. Dropping the future stops the guest at its next tick.
///
/// # Errors
/// [`ModuleError`] if the guest can't be started at all.
pub(super) async fn run(
    engine: &Arc<SandboxEngine>,
    invocation: Invocation,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<Ended, ModuleError> {
    let engine = engine.clone();
    // A guest may compute for a whole tick; in a task of its own it does not delay its caller.
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let Invocation { keys, limits, budget, on_delta, .. } = &invocation;
        let stdio = Stdio::new(keys, limits, Arc::clone(budget), on_delta.clone());
        let files = Arc::new(Mutex::new(files(&invocation)));
        let end = tokio::select! {
            biased;
            () = stop => End::Interrupted,
            end = run_to_end(&engine, &invocation, &stdio, &files) => end?,
        };
        Ok(Ended { end, printed: stdio.take(), records: records(files).await })
    });
    match tasks.join_next().await {
        Some(Ok(ended)) => ended,
        Some(Err(error)) => Err(ModuleError::Task(error.to_string())),
        None => Err(ModuleError::Task("it was not started".into())),
    }
}

/// What the guest has open when it begins.
fn files(invocation: &Invocation) -> Files {
    let Invocation { workspace, root, may_write, limits, budget, .. } = invocation;
    let quota = Quota::new(limits, Arc::clone(budget));
    let (workspace, root) = (workspace.clone(), root.clone());
    Files::new(workspace, root, *may_write, limits.open_files, quota)
}

/// What the run has changed, once its last operation on a file is done: one that was under way when
/// the guest was stopped goes on to its end.
async fn records(files: Arc<Mutex<Files>>) -> Records {
    let look = spawn_blocking(move || with(&files, Files::end));
    match timeout(LAST_OPERATION, look).await {
        Ok(Ok(records)) => records,
        Ok(Err(_)) | Err(_) => Records { overflow: true, ..Records::default() },
    }
}

async fn run_to_end(
    engine: &SandboxEngine,
    invocation: &Invocation,
    stdio: &Stdio,
    files: &Arc<Mutex<Files>>,
) -> Result<End, ModuleError> {
    let ready = engine.ready(&invocation.guest).await?;
    let run = start(&ready, invocation, stdio, files);
    let ended = timeout(invocation.timeout, run).await;
    Ok(ended.unwrap_or(End::TimedOut))
}

async fn start(
    ready: &Ready,
    invocation: &Invocation,
    stdio: &Stdio,
    files: &Arc<Mutex<Files>>,
) -> End {
    let wasi = context(invocation, stdio);
    let limiter = RunLimiter::new(&invocation.limits, Arc::clone(&invocation.budget));
    let files = Arc::clone(files);
    let mut store = Store::new(ready.module.module().engine(), RunState { wasi, limiter, files });
    store.limiter(|state| &mut state.limiter);
    store.set_epoch_deadline(1);
    // tokio's own yield lets timers fire even if the guest keeps its only worker busy.
    store.epoch_deadline_callback(|_| {
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
    });
    let _running = ready.running();
    let ended = call(ready, &mut store).await;
    classify(ended, &store.data().limiter)
}

fn context(invocation: &Invocation, stdio: &Stdio) -> WasiP1Ctx {
    let mut wasi = WasiCtxBuilder::new()
        .args(&invocation.argv)
        .envs(&invocation.env)
        .stdin(MemoryInputPipe::new(invocation.stdin.clone()))
        .stdout(stdio.stream(Channel::Out))
        .stderr(stdio.stream(Channel::Err))
        .build_p1();
    wasi.ctx().table.set_max_capacity(invocation.limits.open_files);
    wasi
}

async fn call(ready: &Ready, store: &mut Store<RunState>) -> wasmtime::Result<()> {
    let instance = ready.module.instantiate_async(&mut *store).await?;
    let start = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
    start.call_async(store, ()).await
}

fn classify(ended: wasmtime::Result<()>, limiter: &RunLimiter) -> End {
    let Err(error) = ended else { return End::Exit(0) };
    if let Some(end) = error.downcast_ref::<End>() {
        return end.clone();
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return End::Exit(exit.0);
    }
    if limiter.refused_memory {
        return End::Limit(Limit::Memory);
    }
    if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) {
        return End::Limit(Limit::Files);
    }
    match error.downcast_ref::<Trap>() {
        Some(trap) => End::Crash(trap.to_string()),
        None => End::Crash(format!("{error:#}")),
    }
}
