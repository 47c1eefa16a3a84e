//! What belongs to one running guest, and how an imported function gets at it.

use super::{limits::RunLimiter, policy::Policy};
use wasmtime::{AsContextMut, Caller, Extern, Result, bail};
use wasmtime_wasi::p1::{WasiP1Ctx, wasi_snapshot_preview1::WasiSnapshotPreview1};
use wiggle::GuestMemory;

/// Where guests import from.
pub(super) const MODULE: &str = "wasi_snapshot_preview1";

/// What belongs to one running guest.
pub(super) struct RunState {
    pub(super) wasi: WasiP1Ctx,
    pub(super) limiter: RunLimiter,
    pub(super) policy: Policy,
}

/// The guest's memory and the run's state, with the fuel set that bounds what the host copies.
pub(super) fn split<'a>(
    caller: &'a mut Caller<'_, RunState>,
) -> Result<(GuestMemory<'a>, &'a mut RunState)> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        bail!("the program does not export its memory");
    };
    let fuel = caller.as_context_mut().hostcall_fuel();
    let (bytes, state) = memory.data_and_store_mut(caller);
    state.wasi.set_hostcall_fuel(fuel);
    Ok((GuestMemory::Unshared(bytes), state))
}
