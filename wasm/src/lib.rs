//! The raw binding behind the npm package `innerloop`: a session's driver, the workspace in memory,
//! and the bare session. The package's TypeScript is the public interface, and does what only
//! JavaScript can do: fetch, timers, workers, calling functions of the user. Everything here is
//! synchronous, and no borrow is held across a call into JavaScript, so that user functions may
//! call back in.
#![forbid(unsafe_code)]

mod agent;
mod callbacks;
mod clock;
#[cfg(feature = "log")]
mod durable;
mod effects;
mod event_batch;
mod files;
mod host;
mod js;
mod log;
mod misuse;
mod options;
mod program;
mod providers;
mod session;
mod shared_setup;

pub use agent::RawAgent;
pub use files::RawFiles;
pub use options::config_json;
#[cfg(feature = "tools")]
pub use providers::picture_limits;
pub use providers::providers_json;
pub use session::RawSession;

/// The module's allocator. The standard library's makes the module 2 KB larger.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
