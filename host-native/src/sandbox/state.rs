//! What belongs to one running guest, and how an imported function gets at it.

use super::{denied::Denied, files::Files, quota::RunLimiter};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::spawn_blocking;
use wasmtime::{AsContextMut, Caller, Error, Extern, Result, bail};
use wasmtime_wasi::p1::{WasiP1Ctx, wasi_snapshot_preview1::WasiSnapshotPreview1};
use wiggle::GuestMemory;

/// Where guests import from.
pub(super) const MODULE: &str = "wasi_snapshot_preview1";

/// What belongs to one running guest.
pub(super) struct RunState {
    /// Its streams, arguments, clocks and random numbers.
    pub(super) wasi: WasiP1Ctx,
    pub(super) limiter: RunLimiter,
    pub(super) files: Arc<Mutex<Files>>,
}

/// The guest's memory and wasmtime's own state, with the fuel set that bounds what it copies.
pub(super) fn split<'a>(
    caller: &'a mut Caller<'_, RunState>,
) -> Result<(GuestMemory<'a>, &'a mut WasiP1Ctx)> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        bail!("the program does not export its memory");
    };
    let fuel = caller.as_context_mut().hostcall_fuel();
    let (bytes, state) = memory.data_and_store_mut(caller);
    state.wasi.set_hostcall_fuel(fuel);
    Ok((GuestMemory::Unshared(bytes), &mut state.wasi))
}

/// Looks at what the guest has open, without touching the file system.
pub(super) fn look<T>(caller: &mut Caller<'_, RunState>, look: impl FnOnce(&mut Files) -> T) -> T {
    with(&caller.data().files, look)
}

/// Works on the guest's files on a thread that may block. If nobody waits for it any more, it is
/// still done to its end.
pub(super) async fn work<T: Send + 'static>(
    caller: &mut Caller<'_, RunState>,
    work: impl FnOnce(&mut Files) -> std::result::Result<T, Denied> + Send + 'static,
) -> std::result::Result<T, Denied> {
    let files = Arc::clone(&caller.data().files);
    let done = spawn_blocking(move || with(&files, work)).await;
    done.unwrap_or_else(|error| Err(Denied::Broken(Error::msg(error.to_string()))))
}

/// The files, once nothing else works on them.
pub(super) fn with<T>(files: &Mutex<Files>, use_them: impl FnOnce(&mut Files) -> T) -> T {
    use_them(&mut files.lock().unwrap_or_else(PoisonError::into_inner))
}
