//! What belongs to one running guest, and how an imported function gets at it.

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
    /// Its streams, arguments, clocks and random numbers.
    pub(super) wasi: WasiP1Ctx,
    pub(super) limiter: RunLimiter,
    pub(super) files: Arc<Mutex<GuestFiles>>,
    /// The state for the calls that only a shell may make; `None` for other guests.
    pub(super) shell: Option<ShellProcess>,
}

/// Looks at what the guest has open, without touching the file system.
pub(super) fn look<T>(caller: &mut GuestCaller<'_>, look: impl FnOnce(&mut GuestFiles) -> T) -> T {
    with(&caller.data().files, look)
}

/// Works on the guest's files on a thread that may block. If nobody waits for it any more, it is
/// still done to its end once it has begun.
pub(super) async fn work<T: Send + 'static>(
    caller: &mut GuestCaller<'_>,
    work: impl FnOnce(&mut GuestFiles) -> Result<T, CallError> + Send + 'static,
) -> Result<T, CallError> {
    let files = Arc::clone(&caller.data().files);
    let done = spawn_blocking(move || with(&files, work)).await;
    done.unwrap_or_else(|error| Err(CallError::Broken(Error::msg(error.to_string()))))
}

/// The files, once nothing else works on them.
pub(super) fn with<T>(files: &Mutex<GuestFiles>, use_them: impl FnOnce(&mut GuestFiles) -> T) -> T {
    use_them(&mut files.lock().unwrap_or_else(PoisonError::into_inner))
}
