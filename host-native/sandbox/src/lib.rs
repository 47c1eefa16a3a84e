//! The sandbox: WASI preview 1 programs in wasmtime over one folder, with nothing else granted.
//! [`Executor`] carries out the actions of the built-in tools, by the guest tools program that is
//! embedded here or by a program of the registry; actions that only read run natively, over the
//! same handle. Memory, output, disk and time of a run are limited. A run can't change `.git` or
//! `.innerloop`, link out of the workspace, or open anything but files and folders, and its changes
//! are reported.

mod bulk_calls;
mod cache;
mod call_context;
pub mod client;
mod command_line;
mod compiler;
mod descriptors;
mod drivers;
mod embedded_modules;
mod engine;
mod errno;
mod error;
mod executor;
mod files;
mod guest;
mod guest_view;
pub mod install;
mod limits;
mod listing;
pub mod manifest;
mod memory;
mod module;
mod paths;
mod pipe;
mod poll;
pub mod program_folder;
mod program_launcher;
pub mod programs;
pub mod proxy;
mod quota;
mod read_only_check;
mod run;
mod run_group;
mod shell;
mod shell_imports;
mod stat;
mod state;
mod stdio;
pub mod toml_place;
mod wasi_error;
mod wasi_shim;

pub use cache::OnProgress;
pub use call_context::CallContext;
pub use compiler::{compile_if_asked, own_program};
pub use embedded_modules::EmbeddedModuleError;
pub use engine::{EngineOptions, SandboxEngine};
pub use error::{EngineError, ModuleError};
pub use executor::{Executor, ReadIsolation};
pub use limits::{RunLimits, SessionLimits};
pub use module::{ModuleCall, RegisteredModule};
pub use stdio::{OnDelta, OutputWatcher, RoomFuture};
