//! WASI preview 1 commands that the host's own tools name by their paths, and the input of their
//! calls. A module is registered with its digest, so that bytes that change while a session runs
//! are refused.

use super::{
    engine::{GuestModule, ModuleSource},
    error::ModuleError,
    limits::RunLimits,
};
use innerloop_workspace::digest::Digest;
use std::path::PathBuf;

/// A module's file, as it was when it was registered.
#[derive(Clone, Debug)]
pub struct RegisteredModule {
    guest: GuestModule,
}

/// The input of a module's call, and its limits.
#[derive(Clone, Debug, Default)]
pub struct ModuleCall {
    /// The arguments that follow its name.
    pub args: Vec<String>,
    /// Environment variables besides those of every program.
    pub env: Vec<(&'static str, String)>,
    /// The text that it reads from standard input.
    pub stdin: String,
    /// True if the module may change the folder of its call.
    pub may_write: bool,
    /// The limits of the call, if they differ from those of all programs.
    pub limits: Option<RunLimits>,
}

impl RegisteredModule {
    /// Registers the module in a file; `name` is its first argument, and its name in messages.
    ///
    /// # Errors
    /// [`ModuleError`] if the file can't be read.
    pub fn open(name: &str, path: impl Into<PathBuf>) -> Result<Self, ModuleError> {
        let source = ModuleSource::File(path.into());
        // The bytes are not kept: they are read again to be compiled, and held to this digest then.
        let digest = Digest::of(&source.read()?);
        Ok(Self { guest: GuestModule { name: name.to_owned(), digest, source } })
    }

    pub(super) fn name(&self) -> &str {
        &self.guest.name
    }

    pub(super) fn guest(&self) -> GuestModule {
        self.guest.clone()
    }
}
