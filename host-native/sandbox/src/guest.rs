//! One guest from its start to its end: its store, its ticks, and its exit. The guest yields at
//! each tick, so that a timer, a cancellation or a dropped future takes effect whatever it
//! computes.

use super::{engine::PreparedModule, quota::RunLimiter, state::RunState};
use innerloop_driver::capture::{ExceededLimit, ProgramExit};
use std::collections::BTreeMap;
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::{I32Exit, ResourceTableError};

/// The environment of programs. That of the guest tools is empty.
const PROGRAM_ENV: &[(&str, &str)] =
    &[("HOME", "/"), ("LANG", "C.UTF-8"), ("PWD", "/"), ("TZ", "UTC")];

/// The variables that every program finds in its environment.
pub(super) fn program_env() -> BTreeMap<String, String> {
    PROGRAM_ENV.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Runs one guest to its end.
pub(super) async fn to_end(ready: &PreparedModule, state: RunState) -> ProgramExit {
    let mut store = Store::new(ready.module.module().engine(), state);
    store.limiter(|state| &mut state.limiter);
    // The default deadline is 0, which means a trap at once.
    store.set_epoch_deadline(1);
    // tokio's own yield lets timers fire even if the guest keeps its only worker busy.
    store.epoch_deadline_callback(|_| {
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
    });
    // The epoch only moves on while a guest holds such a guard.
    let _running = ready.running();
    let ended = call(ready, &mut store).await;
    classify(ended, &store.data().limiter)
}

async fn call(ready: &PreparedModule, store: &mut Store<RunState>) -> wasmtime::Result<()> {
    let instance = ready.module.instantiate_async(&mut *store).await?;
    let start = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
    start.call_async(store, ()).await
}

/// The text that names the most frequent causes of an exhausted stack.
const TOO_DEEP: &str = "what it was given may call itself without an end, or be nested too deeply; \
                        write it flatter";

fn classify(ended: wasmtime::Result<()>, limiter: &RunLimiter) -> ProgramExit {
    // Our own limits come first: they arrive as errors of a call, whatever the guest did before.
    let Err(error) = ended else { return ProgramExit::Exit(0) };
    if let Some(end) = error.downcast_ref::<ProgramExit>() {
        return end.clone();
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return ProgramExit::Exit(exit.0);
    }
    // After the exit code: a program that coped with the refusal has ended by itself. After one
    // that did not, an allocator traps in ways that name no cause.
    if limiter.refused_memory {
        return ProgramExit::Limit(ExceededLimit::Memory);
    }
    if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) {
        return ProgramExit::Limit(ExceededLimit::Files);
    }
    match error.downcast_ref::<Trap>() {
        // A program has two stacks: wasmtime's, and one at the start of its linear memory, which
        // leaves the memory at its lower end when it overflows.
        Some(trap @ (Trap::StackOverflow | Trap::MemoryOutOfBounds)) => {
            ProgramExit::Crash(format!("{trap}; {TOO_DEEP}"))
        }
        Some(trap) => ProgramExit::Crash(trap.to_string()),
        None => ProgramExit::Crash(format!("{error:#}")),
    }
}
