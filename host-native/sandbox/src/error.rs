//! The errors of a sandbox that can't be set up, and of a module that can't be run. Each message
//! says what is wrong in words that a model or a user can act on.

use super::embedded_modules::EmbeddedModuleError;
use std::path::PathBuf;

/// The reason why the engine could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// wasmtime refused the settings on this machine.
    #[error("the sandbox can't be set up on this machine: {0}")]
    Settings(wasmtime::Error),
    /// The thread that interrupts guests could not be started.
    #[error("the sandbox can't start its timer thread: {0}")]
    Timer(std::io::Error),
}

/// The reason why a module can't be run.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The module's file can't be read.
    #[error("can't read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The module's file has changed since its digest was taken.
    #[error("{} has changed since it was registered; start again", .0.display())]
    Changed(PathBuf),
    /// The module has a known name, and other bytes than are pinned for it.
    #[error(
        "{} is not {version}: its SHA-256 is {found}, expected {pinned}; replace the file, or \
         rename it if it is another program",
        path.display()
    )]
    Pinned {
        /// The file.
        path: PathBuf,
        /// The program and version that are pinned for the name.
        version: String,
        /// The file's SHA-256.
        found: String,
        /// The SHA-256 of the known program.
        pinned: String,
    },
    /// The module is embedded, and this program's file is not as it was built.
    #[error(transparent)]
    Damaged(#[from] EmbeddedModuleError),
    /// An asset of the program can't be opened.
    #[error("it needs {}, which can't be opened; install it again", .0.display())]
    Asset(PathBuf),
    /// The path is not that of a plain file in the workspace, or the file is too large.
    #[error("it is no file of at most 16 MiB")]
    NoFile,
    /// The bytes are not WebAssembly.
    #[error("it is not a WebAssembly module")]
    NotWasm,
    /// The bytes are a component, not a core module.
    #[error("it is a WebAssembly component; a WASI preview 1 command is needed")]
    Component,
    /// The module is not valid, or uses a proposal that the sandbox leaves off.
    #[error("it is not a valid module: {0}")]
    Invalid(String),
    /// The module has too many functions to be compiled.
    #[error("it has {0} functions; at most {1} are compiled")]
    Functions(u32, u32),
    /// Compiling it takes more memory or time than a module of the workspace gets.
    #[error("compiling it takes more than 1 GiB of memory or 60 seconds; make it smaller")]
    TooLarge,
    /// The program that compiles modules of the workspace does not work.
    #[error("what compiles modules of the workspace {0}")]
    Compiler(String),
    /// The module imports something that the sandbox does not offer.
    #[error("it needs more than WASI preview 1 offers: {0}")]
    Import(String),
    /// The module is a library, without a start.
    #[error("it has no `_start` function, so it is not a WASI command")]
    NoStart,
    /// The engine could not be set up.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The task that compiled or ran the module panicked.
    #[error("the sandbox broke: {0}")]
    Task(String),
}
