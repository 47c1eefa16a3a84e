//! Builds for wasm: the tools' guest, the example's tool and the shell for WASI, and the page's
//! binding with its glue. What the npm package makes of the binding is in `npm`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::TaskError;
use crate::files;
use crate::process;
use crate::toolchain::{PAGE, WASI};
use crate::workspace::Workspace;

/// The path of the guest that `host-native/sandbox` embeds.
pub(crate) const GUEST: &str = "target/guests/tools.wasm";
/// The path of the supervisor's module without imports, which npm and the wheel pack.
pub(crate) const SUPERVISOR: &str = "target/core/innerloop_supervisor.wasm";
/// The example of a tool of one's own.
const EXAMPLE: &str = "count-lines";
/// The path of the shell that `host-native/sandbox` embeds and npm packs.
pub(crate) const SHELL: &str = "target/programs/bash.wasm";
/// The package of the page's module.
pub(crate) const BINDING: &str = "innerloop-wasm";
/// The flags for linking the page's module: loops count what their source counts, since a second
/// counter for each address is longer.
const LINKED: [&str; 2] = ["-C", "llvm-args=-disable-lsr"];
/// The folder in which wasm-bindgen leaves the module and its glue.
pub(crate) const GLUE: &str = "target/npm/glue";

/// Step: builds the tools as a WASI program and puts it where the native host embeds it.
///
/// # Errors
/// When the build fails or the copy cannot be written.
pub(crate) fn build_guest(workspace: &mut Workspace) -> Result<(), TaskError> {
    let mut cargo = workspace.cargo_wasm("build", WASI, "wasm")?;
    cargo.args(["-p", "innerloop-tools", "--bin", "innerloop-tools"]);
    process::run(cargo.args(["--features", "encodings"]))?;
    let built = workspace.wasm_target().join(WASI).join("wasm/innerloop-tools.wasm");
    let changed = files::copy_if_changed(&built, &workspace.path(GUEST))?;
    println!("{GUEST}: {}", if changed { "new" } else { "as before" });
    Ok(())
}

/// Step: builds the example of a tool of one's own, and puts it where the tests look for it, with
/// its definition.
///
/// # Errors
/// When the build fails or the copies cannot be written.
pub(crate) fn build_example(workspace: &mut Workspace) -> Result<(), TaskError> {
    let mut cargo = workspace.cargo_wasm("build", WASI, "wasm")?;
    process::run(cargo.args(["-p", EXAMPLE]))?;
    let built = workspace.wasm_target().join(WASI).join(format!("wasm/{EXAMPLE}.wasm"));
    let folder = workspace.path("target/example").join(EXAMPLE);
    let changed = files::copy_if_changed(&built, &folder.join(format!("{EXAMPLE}.wasm")))?;
    let definition = workspace.path("example").join(EXAMPLE).join("tool.toml");
    files::copy_if_changed(&definition, &folder.join("tool.toml"))?;
    println!("target/example/{EXAMPLE}: {}", if changed { "new" } else { "as before" });
    Ok(())
}

/// Step: builds the shell as a WASI program and puts it where the native host embeds it.
///
/// # Errors
/// When the build fails or the copy cannot be written.
pub(crate) fn build_shell(workspace: &mut Workspace) -> Result<(), TaskError> {
    println!("the first build of the shell takes about five minutes");
    let mut cargo = workspace.cargo_wasm("build", WASI, "shell")?;
    process::run(cargo.args(["-p", "innerloop-shell"]))?;
    let built = workspace.wasm_target().join(WASI).join("shell/innerloop-shell.wasm");
    let changed = files::copy_if_changed(&built, &workspace.path(SHELL))?;
    println!("{SHELL}: {}", if changed { "new" } else { "as before" });
    Ok(())
}

/// Step: builds the binding for the page and lets wasm-bindgen write its glue.
///
/// # Errors
/// When one of the builds or wasm-bindgen fails.
pub(crate) fn build_binding(workspace: &mut Workspace) -> Result<(), TaskError> {
    let built = build_module(workspace, BINDING, &[])?;
    write_glue(workspace, &built, &workspace.path(GLUE))
}

/// Builds the module of a package, with further arguments for cargo, and says where it lies.
///
/// # Errors
/// When the build fails.
pub(crate) fn build_module(
    workspace: &Workspace,
    package: &str,
    arguments: &[&str],
) -> Result<PathBuf, TaskError> {
    let mut cargo = workspace.cargo_wasm("rustc", PAGE, "wasm")?;
    cargo.args(["-p", package, "--lib"]).args(arguments);
    process::run(cargo.arg("--").args(LINKED))?;
    let module = format!("{}.wasm", package.replace('-', "_"));
    Ok(workspace.wasm_target().join(PAGE).join("wasm").join(module))
}

/// Lets wasm-bindgen write a module and its glue into a folder.
///
/// # Errors
/// When wasm-bindgen does not build or fails.
pub(crate) fn write_glue(
    workspace: &Workspace,
    module: &Path,
    folder: &Path,
) -> Result<(), TaskError> {
    process::run(bindgen(workspace).arg(module).arg(folder))
}

/// Lets wasm-bindgen write a module and its glue as it does for people who run it themselves.
///
/// # Errors
/// When wasm-bindgen does not build or fails.
pub(crate) fn write_plain_glue(
    workspace: &Workspace,
    module: &Path,
    folder: &Path,
) -> Result<(), TaskError> {
    process::run(bindgen(workspace).arg("--plain").arg(module).arg(folder))
}

fn bindgen(workspace: &Workspace) -> Command {
    // Optimised dependencies cost this tool a minute to build and save it one second to run.
    let plain = "profile.dev.package.\"*\".opt-level=0";
    let mut bindgen = workspace.cargo("run");
    bindgen.args(["--config", plain, "-p", "xtask-bindgen", "--"]);
    bindgen
}
