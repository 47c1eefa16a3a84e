//! Builds for wasm: the tools' guest for WASI, and the page's binding with its glue. What the npm
//! package makes of the binding is in `npm`.

use crate::files;
use crate::process;
use crate::steps::Failure;
use crate::toolchain::{PAGE, WASI};
use crate::workspace::Workspace;

/// Where the guest lies that `host-native` embeds.
const GUEST: &str = "target/guests/tools.wasm";
/// Where wasm-bindgen leaves the module and its glue.
pub(crate) const GLUE: &str = "target/npm/glue";

/// Step: builds the tools as a WASI program and puts it where the native host embeds it.
///
/// # Errors
/// When the build fails or the copy cannot be written.
pub(crate) fn build_guest(workspace: &mut Workspace) -> Result<(), Failure> {
    let toolchain = workspace.found_toolchain()?;
    let mut cargo = toolchain.cargo("build", WASI, workspace);
    process::run(cargo.args(["-p", "innerloop-tools", "--bin", "innerloop-tools"]))?;
    let built = workspace.wasm_target().join(WASI).join("wasm/innerloop-tools.wasm");
    let changed = files::copy_if_changed(&built, &workspace.path(GUEST))?;
    println!("{GUEST}: {}", if changed { "new" } else { "as before" });
    Ok(())
}

/// Step: builds the binding for the page and lets wasm-bindgen write its glue.
///
/// # Errors
/// When one of the builds or wasm-bindgen fails.
pub(crate) fn build_binding(workspace: &mut Workspace) -> Result<(), Failure> {
    let toolchain = workspace.found_toolchain()?;
    let mut cargo = toolchain.cargo("build", PAGE, workspace);
    process::run(cargo.args(["-p", "innerloop-wasm", "--lib"]))?;
    let built = workspace.wasm_target().join(PAGE).join("wasm/innerloop_wasm.wasm");
    // Optimised dependencies cost this tool a minute to build and save it one second to run.
    let plain = "profile.dev.package.\"*\".opt-level=0";
    let mut bindgen = workspace.cargo("run");
    bindgen.args(["--config", plain, "-p", "xtask-bindgen", "--"]);
    process::run(bindgen.arg(built).arg(workspace.path(GLUE)))
}
