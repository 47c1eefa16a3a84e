//! The core as a WebAssembly module without imports, for hosts in any language
//! (`docs/protocol.md#the-module`). Requests and answers are those of [`LineServer`]. They cross in
//! the module's memory, at addresses that its functions return.

use innerloop_driver::LineServer;
use std::cell::RefCell;

/// The size above which a room is freed when a smaller one will do.
const LARGE: usize = 1 << 20;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

thread_local! {
    /// The sessions, and the room into which the host writes its requests.
    static MODULE: RefCell<(LineServer, Vec<u8>)> = RefCell::default();
}

/// Returns the version of this interface, which is that of these three functions.
#[expect(unsafe_code, reason = "the name of an export; nothing is unsafe about calling it")]
#[unsafe(no_mangle)]
pub const extern "C" fn innerloop_abi() -> u32 {
    1
}

/// Returns the address of room for that many bytes, which stays valid until the next call of this
/// function; 0 if there is no memory for it.
#[expect(unsafe_code, reason = "the name of an export; nothing is unsafe about calling it")]
#[unsafe(no_mangle)]
pub extern "C" fn innerloop_room(len: u32) -> u32 {
    MODULE.with_borrow_mut(|(_, room)| {
        let len = len as usize;
        if len > room.len() || room.len() > LARGE {
            // Freed before the new one is allocated: both at once would raise the module's memory,
            // which never shrinks.
            *room = Vec::new();
            // A module without imports can't report an abort, so that a lack of memory is an
            // answer.
            if room.try_reserve_exact(len).is_err() {
                return 0;
            }
            room.resize(len, 0);
        }
        address(room)
    })
}

/// Takes a request of that many bytes from the room, and returns the address of the answer with its
/// length in the lower 32 bits. The answer stays valid until the next call of this function.
#[expect(unsafe_code, reason = "the name of an export; nothing is unsafe about calling it")]
#[unsafe(no_mangle)]
pub extern "C" fn innerloop_call(len: u32) -> u64 {
    MODULE.with_borrow_mut(|(lines, room)| {
        let answer = lines.call(room.get(..len as usize).unwrap_or_default()).as_bytes();
        u64::from(address(answer)) << 32 | answer.len() as u64
    })
}

fn address(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.as_ptr().expose_provenance()).unwrap_or_default()
}
