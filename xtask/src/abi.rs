//! The core and the supervisor as modules without imports, for hosts in any language: built, left
//! with nothing but their four exports, and optimised.

use crate::failure::TaskError;
use crate::files;
use crate::module;
use crate::npm;
use crate::wasm;
use crate::workspace::Workspace;

/// The path of the module.
pub(crate) const CORE: &str = "target/core/innerloop_core.wasm";
const EXPORTS: [&str; 4] = ["memory", "innerloop_abi", "innerloop_room", "innerloop_call"];

/// Step: builds the core's module.
///
/// # Errors
/// When the build or wasm-opt fails.
pub(crate) fn build(workspace: &mut Workspace) -> Result<(), TaskError> {
    build_bare(workspace, "innerloop-abi", CORE)
}

/// Step: builds the supervisor's module.
///
/// # Errors
/// When the build or wasm-opt fails.
pub(crate) fn build_supervisor(workspace: &mut Workspace) -> Result<(), TaskError> {
    build_bare(workspace, "innerloop-supervisor-abi", wasm::SUPERVISOR)
}

fn build_bare(workspace: &Workspace, package: &str, output: &str) -> Result<(), TaskError> {
    let built = wasm::build_module(workspace, package, &[])?;
    let strange = || TaskError(format!("{} is no wasm module", built.display()));
    let bare = module::exporting(&files::read(&built)?, &EXPORTS).ok_or_else(strange)?;
    let file = built.with_extension("bare.wasm");
    files::write_if_changed(&file, &bare)?;
    let optimised = workspace.path(output);
    npm::optimise_module(workspace, &file, &optimised)?;
    println!("{output}: {} bytes", files::read(&optimised)?.len());
    Ok(())
}
