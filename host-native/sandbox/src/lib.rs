//! The sandbox: WASI preview 1 programs in wasmtime over one folder, with nothing else granted.
//! [`Executor`] carries out the actions of the built-in tools, by the guest tools program that is
//! embedded here or by a program of the registry; what only reads it carries out natively, over the
//! same handle. Memory, output, disk and time of a run are limited; it can't change `.git` or
//! `.innerloop`, link out of the workspace, or open anything but files and folders; and what it
//! changed is reported.

mod cache;
mod call_context;
mod calls;
mod carried;
pub mod client;
mod command_line;
mod compiler;
mod denied;
mod descriptors;
mod drivers;
mod engine;
mod errno;
mod error;
mod executor;
mod files;
mod group;
mod guest;
pub mod install;
pub mod installed;
mod judging;
mod launch;
mod limits;
mod listing;
pub mod manifest;
mod memory;
mod module;
mod paths;
mod pipe;
mod poll;
pub mod programs;
pub mod proxy;
mod quota;
mod run;
mod shell;
mod shim;
mod sight;
mod stat;
mod state;
mod stdio;
pub mod toml_place;
mod whole;

pub use cache::OnProgress;
pub use call_context::CallContext;
pub use carried::EmbeddedModuleError;
pub use compiler::{compile_if_asked, own_program};
pub use engine::{EngineOptions, SandboxEngine};
pub use error::{EngineError, ModuleError};
pub use executor::{Executor, ReadIsolation};
pub use limits::{RunLimits, SessionLimits};
pub use module::{ModuleCall, RegisteredModule};
pub use stdio::{OnDelta, OutputWatcher, RoomFuture};
