//! A WASI preview 1 command by its path, and what a call of it is given. A module is registered
//! with its digest, so that bytes that change while a session runs are refused.

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
    /// Variables besides those that every program has.
    pub env: Vec<(&'static str, String)>,
    /// The text that it reads from standard input.
    pub stdin: String,
    /// True if it may change the folder.
    pub may_write: bool,
    /// The limits of the call, if they differ from those of all programs.
    pub limits: Option<RunLimits>,
}

impl RegisteredModule {
    /// The module in a file; `name` is its first argument, and its name in messages.
    ///
    /// # Errors
    /// [`ModuleError`] if the file can't be read.
    pub fn open(name: &str, path: impl Into<PathBuf>) -> Result<Self, ModuleError> {
        let source = ModuleSource::File(path.into());
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
