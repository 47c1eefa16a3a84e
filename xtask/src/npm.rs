//! The npm packages: the optimised module and its glue put into `wasm/npm`, the TypeScript built,
//! and the tarballs packed that all tests install; beside it those of the programs.

use std::path::{Path, PathBuf};

use crate::failure::TaskError;
use crate::files;
use crate::locals;
use crate::order;
use crate::process;
use crate::programs::{PYTHON, QJS};
use crate::wasm::{GLUE, SHELL, SUPERVISOR};
use crate::workspace::Workspace;

/// The package's folder.
const PACKAGE: &str = "wasm/npm";
/// The packages of programs.
const SHELL_PACKAGE: &str = "wasm/npm-shell";
const QJS_PACKAGE: &str = "wasm/npm-qjs";
const PYTHON_PACKAGE: &str = "wasm/npm-python";
/// The folder in which the package's build expects the module and its glue.
const DIST: &str = "wasm/npm/dist";
/// The module, as wasm-bindgen names it.
pub(crate) const MODULE: &str = "innerloop_wasm_bg.wasm";
/// The options by which wasm-opt makes a module small that travels compressed: a repeated
/// expression and zeros between tables weigh next to nothing then, unlike the locals and the
/// segments that would take their place. The first KB of memory is the far end of the stack. Long
/// functions stay apart, as in `toolchain`.
const SMALLEST: [&str; 8] = [
    "-Oz",
    "--converge",
    "--one-caller-inline-max-function-size=100",
    "--low-memory-unused",
    "--skip-pass=local-cse",
    "--skip-pass=memory-packing",
    "--skip-pass=merge-locals",
    "--skip-pass=simplify-locals",
];
/// The packed package.
pub(crate) const TARBALL: &str = "target/npm/innerloop-0.1.0.tgz";

/// Step: puts the module, optimised, and its glue into the package, and the supervisor's module.
///
/// # Errors
/// When npm or wasm-opt fails.
pub(crate) fn optimise(workspace: &mut Workspace) -> Result<(), TaskError> {
    let input = workspace.path(GLUE).join(MODULE);
    let output = workspace.path("target/npm").join(MODULE);
    optimise_module(workspace, &input, &output)?;
    let dist = workspace.path(DIST);
    files::copy_if_changed(&output, &dist.join(MODULE))?;
    files::copy_if_changed(&workspace.path(SUPERVISOR), &dist.join("innerloop_supervisor.wasm"))?;
    for glue in ["innerloop_wasm.js", "innerloop_wasm.d.ts"] {
        files::copy_if_changed(&workspace.path(GLUE).join(glue), &dist.join(glue))?;
    }
    println!("{MODULE}: {} bytes", files::read(&output)?.len());
    Ok(())
}

/// Optimises a module, which must name its functions, for size, numbers their locals and puts them
/// in order, unless that was done for the same input.
///
/// # Errors
/// When npm or wasm-opt fails.
pub(crate) fn optimise_module(
    workspace: &Workspace,
    input: &Path,
    output: &Path,
) -> Result<(), TaskError> {
    let seen = output.with_extension("from.wasm");
    // What made it is this program, and may have changed since.
    let is_fresh = |program: PathBuf| files::is_newer(output, &program);
    if files::same(input, &seen) && std::env::current_exe().is_ok_and(is_fresh) {
        println!("wasm-opt: the module is as before");
        return Ok(());
    }
    install(workspace, PACKAGE)?;
    // Debian's wasm-opt 108 breaks the externref table without a word; the package's own
    // binaryen does not.
    let optimiser = workspace.path(PACKAGE).join("node_modules/.bin/wasm-opt");
    let between = output.with_extension("optimised.wasm");
    let optimise = |arguments: &[&str], to: &Path| {
        let mut command = workspace.program(&optimiser, "");
        process::run(command.args(arguments).arg(&between).arg("-o").arg(to))
    };
    files::copy_if_changed(input, &between)?;
    optimise(&SMALLEST, &between)?;
    let unreadable =
        || TaskError(format!("{} is no wasm module that is known here", between.display()));
    let renumbered = locals::renumbered(&files::read(&between)?).ok_or_else(unreadable)?;
    let named = order::named_by_likeness(&renumbered).ok_or_else(unreadable)?;
    files::write_if_changed(&between, &named)?;
    optimise(&["--reorder-functions-by-name", "--strip-target-features"], output)?;
    files::copy_if_changed(input, &seen)?;
    Ok(())
}

/// Step: builds the package's TypeScript and packs it.
///
/// # Errors
/// When npm fails.
pub(crate) fn pack(workspace: &mut Workspace) -> Result<(), TaskError> {
    install(workspace, PACKAGE)?;
    process::run(workspace.program("npm", PACKAGE).args(["run", "--silent", "build"]))?;
    pack_folder(workspace, PACKAGE)?;
    let tarball = workspace.path(TARBALL);
    println!("{TARBALL}: {} bytes", files::read(&tarball)?.len());
    Ok(())
}

/// Step: packs the programs that were built or fetched before, each as a package of its own.
///
/// # Errors
/// When one is missing, or node or npm fails.
pub(crate) fn pack_programs(workspace: &mut Workspace) -> Result<(), TaskError> {
    let mut build = workspace.program("node", SHELL_PACKAGE);
    process::run(build.arg("build.mjs").arg(workspace.path(SHELL)))?;
    pack_folder(workspace, SHELL_PACKAGE)?;
    let module = workspace.path(QJS_PACKAGE).join("dist/qjs.wasm");
    files::copy_if_changed(&workspace.path(QJS), &module)?;
    process::run(workspace.program("node", QJS_PACKAGE).arg("build.mjs"))?;
    pack_folder(workspace, QJS_PACKAGE)?;
    let module = workspace.path(PYTHON_PACKAGE).join("dist/python.wasm.gz");
    files::copy_if_changed(&workspace.path(PYTHON), &module)?;
    pack_folder(workspace, PYTHON_PACKAGE)
}

fn pack_folder(workspace: &Workspace, inside: &str) -> Result<(), TaskError> {
    let mut npm = workspace.program("npm", inside);
    npm.args(["pack", "--silent", "--ignore-scripts", "--pack-destination"]);
    process::run(npm.arg(workspace.path("target/npm")))
}

/// Step: checks how the scripts are formatted, and lints them: a second, once Biome is installed.
///
/// # Errors
/// When npm fails, or a script is not as it is to be.
pub(crate) fn check_scripts(workspace: &mut Workspace) -> Result<(), TaskError> {
    install(workspace, PACKAGE)?;
    let biome = workspace.path(PACKAGE).join("node_modules/.bin/biome");
    process::run(workspace.program(&biome, "").args(["check", "--error-on-warnings"])).map_err(
        |TaskError(reason)| {
            let advice = format!("run `{PACKAGE}/node_modules/.bin/biome check --write`");
            TaskError(format!("{reason}; {advice}"))
        },
    )
}

/// Installs what a folder's lock file names, unless that was done for the same lock file.
///
/// # Errors
/// When npm fails.
pub(crate) fn install(workspace: &Workspace, inside: &str) -> Result<(), TaskError> {
    let folder = workspace.path(inside);
    let lock = folder.join("package-lock.json");
    let seen = seen_lock(&folder);
    if files::same(&lock, &seen) {
        return Ok(());
    }
    println!("npm ci in {inside} (half a minute)");
    let mut npm = workspace.program("npm", inside);
    process::run(npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    files::copy_if_changed(&lock, &seen)?;
    Ok(())
}

fn seen_lock(folder: &Path) -> PathBuf {
    folder.join("node_modules/.installed-from.json")
}
