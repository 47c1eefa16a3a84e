//! The state of one running guest, and the access of imported functions to it. The guest's files
//! are shared with the run, which closes them when it ends.

use super::{files::GuestFiles, quota::RunLimiter, shell::ShellProcess, wasi_error::CallError};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::spawn_blocking;
use wasmtime::{Caller, Error};
use wasmtime_wasi::p1::WasiP1Ctx;

/// The name of the module from which guests import the host's functions.
pub(super) const MODULE: &str = "wasi_snapshot_preview1";

/// A guest that has called one of our functions.
pub(super) type GuestCaller<'a> = Caller<'a, RunState>;

/// The state of one running guest.
pub(super) struct RunState {
    /// The guest's streams, arguments, clocks and random numbers.
    pub(super) wasi: WasiP1Ctx,
    pub(super) limiter: RunLimiter,
    pub(super) files: Arc<Mutex<GuestFiles>>,
    /// The shell that the guest is; `None` for other guests.
    pub(super) shell: Option<ShellProcess>,
}

/// Looks at the guest's open files, without touching the file system.
pub(super) fn look<T>(caller: &mut GuestCaller<'_>, look: impl FnOnce(&mut GuestFiles) -> T) -> T {
    with(&caller.data().files, look)
}

/// Works on the guest's files on a thread that may block. Work that has begun goes on to its end,
/// even if nobody waits for it any more.
pub(super) async fn work<T: Send + 'static>(
    caller: &mut GuestCaller<'_>,
    work: impl FnOnce(&mut GuestFiles) -> Result<T, CallError> + Send + 'static,
) -> Result<T, CallError> {
    // The lock is held until the work is done. So whoever ends the run and takes the lock knows
    // that no operation is under way, also none of a guest whose future was dropped.
    let files = Arc::clone(&caller.data().files);
    let done = spawn_blocking(move || with(&files, work)).await;
    done.unwrap_or_else(|error| Err(CallError::Broken(Error::msg(error.to_string()))))
}

/// Uses the files once nothing else works on them.
pub(super) fn with<T>(files: &Mutex<GuestFiles>, use_them: impl FnOnce(&mut GuestFiles) -> T) -> T {
    use_them(&mut files.lock().unwrap_or_else(PoisonError::into_inner))
}
