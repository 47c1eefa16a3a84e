//! The core as a module without imports, for hosts in any language: built, left with nothing but
//! its four exports, and optimised.

use crate::failure::TaskError;
use crate::files;
use crate::module;
use crate::npm;
use crate::wasm;
use crate::workspace::Workspace;

/// The path of the module.
pub(crate) const CORE: &str = "target/core/innerloop_core.wasm";
const EXPORTS: [&str; 4] = ["memory", "innerloop_abi", "innerloop_room", "innerloop_call"];

/// Step: builds the module.
///
/// # Errors
/// When the build or wasm-opt fails.
pub(crate) fn build(workspace: &mut Workspace) -> Result<(), TaskError> {
    let built = wasm::build_module(workspace, "innerloop-abi", &[])?;
    let strange = || TaskError(format!("{} is no wasm module", built.display()));
    let bare = module::exporting(&files::read(&built)?, &EXPORTS).ok_or_else(strange)?;
    let file = built.with_extension("bare.wasm");
    files::write_if_changed(&file, &bare)?;
    let core = workspace.path(CORE);
    npm::optimise_module(workspace, &file, &core)?;
    println!("{CORE}: {} bytes", files::read(&core)?.len());
    Ok(())
}
