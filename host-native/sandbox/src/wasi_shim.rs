//! The functions that guests import: wasmtime's WASI preview 1, with all functions on files
//! replaced by our own. Those that take paths are in [`super::paths`], those that take descriptors
//! in [`super::descriptors`]. No function of wasmtime sees a file of the workspace.

use super::{
    descriptors, paths, poll, shell_imports,
    state::{MODULE, RunState},
};
use wasmtime::{Error, Linker, Result};
use wasmtime_wasi::{I32Exit, p1};

/// Links all imports of a guest.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    p1::add_to_linker_async(linker, |state| &mut state.wasi)?;
    // Shadowing is allowed for our replacements alone: a name that is defined twice after that is a
    // mistake.
    linker.allow_shadowing(true);
    paths::link(linker)?;
    descriptors::link(linker)?;
    poll::link(linker)?;
    // wasmtime turns exit codes from 126 on into a trap; here every code is the program's own.
    linker.func_wrap(MODULE, "proc_exit", |code: i32| -> Result<()> {
        Err(Error::new(I32Exit(code)))
    })?;
    linker.allow_shadowing(false);
    shell_imports::link(linker)
}
