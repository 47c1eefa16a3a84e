//! The crates as people who build on them get them: packed, and each built from its package alone.

use crate::failure::TaskError;
use crate::process;
use crate::workspace::Workspace;

/// The programs that the sandbox carries, as its `build.rs` wants them where no workspace is, each
/// in the target folder.
const CARRIED: [(&str, &str); 3] = [
    ("INNERLOOP_TOOLS_WASM", "guests/tools.wasm"),
    ("INNERLOOP_BASH_WASM", "programs/bash.wasm"),
    ("INNERLOOP_QJS_WASM", "programs/qjs.wasm"),
];

/// The packages of the workspace that are for this workspace only.
const OWN: [&str; 9] = [
    "count-lines",
    "innerloop-abi",
    "innerloop-schema",
    "innerloop-shell",
    "innerloop-supervisor-abi",
    "innerloop-tests",
    "innerloop-wasm",
    "xtask",
    "xtask-bindgen",
];

/// Packs all crates and builds each from its package.
///
/// # Errors
/// When one cannot be packed, or does not build without the workspace around it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), TaskError> {
    println!("the first time wasmtime is compiled once more, up to 15 minutes on two cores");
    let mut cargo = workspace.cargo("package");
    for (variable, file) in CARRIED {
        cargo.env(variable, workspace.path(&format!("target/{file}")));
    }
    for package in OWN {
        cargo.args(["--exclude", package]);
    }
    process::run(cargo.args(["--workspace", "--allow-dirty"]))
}
