//! The raw binding behind the npm package `innerloop`: what only a page or Node can do for a
//! session (fetch, timers, workers, calling functions of JavaScript), the workspace in memory,
//! and the bare session. Private to the package: its TypeScript is the interface. Methods are
//! synchronous; nothing here holds a borrow across an await or a call into JavaScript, so user
//! functions may call back in.
#![forbid(unsafe_code)]

mod agent;
mod callbacks;
mod clock;
mod custom;
#[cfg(feature = "log")]
mod durable;
mod effects;
mod files;
mod host;
mod http;
mod js;
mod misuse;
mod options;
mod people;
mod program;
mod providers;
mod session;
mod task;

pub use agent::RawAgent;
pub use files::RawFiles;
pub use options::config_json;
pub use providers::providers_json;
pub use session::RawSession;

/// The standard library's allocator weighs more.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
