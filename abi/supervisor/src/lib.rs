//! The supervisor as a WebAssembly module without imports, for hosts in any language. Its three
//! functions are those of the core's module, `innerloop-abi`, so that a host that calls one calls
//! the other as well. It is a module of its own: the core's pays no byte for it.

use std::cell::RefCell;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

thread_local! {
    /// The room into which the host writes its requests, and the last answer.
    static MODULE: RefCell<(Vec<u8>, String)> = const { RefCell::new((Vec::new(), String::new())) };
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
    MODULE.with_borrow_mut(|(room, _)| {
        // What people type is short: the room of one text is not kept for the next.
        *room = Vec::new();
        if room.try_reserve_exact(len as usize).is_err() {
            return 0;
        }
        room.resize(len as usize, 0);
        address(room)
    })
}

/// Takes a request of that many bytes from the room, and returns the address of the answer with its
/// length in the lower 32 bits. The answer stays valid until the next call of this function.
#[expect(unsafe_code, reason = "the name of an export; nothing is unsafe about calling it")]
#[unsafe(no_mangle)]
pub extern "C" fn innerloop_call(len: u32) -> u64 {
    MODULE.with_borrow_mut(|(room, answer)| {
        let request = room.get(..len as usize).unwrap_or_default();
        *answer = innerloop_supervisor::answer(request);
        u64::from(address(answer.as_bytes())) << 32 | answer.len() as u64
    })
}

fn address(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.as_ptr().expose_provenance()).unwrap_or_default()
}
