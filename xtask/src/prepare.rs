//! `cargo xtask prepare`: all that the other commands need, installed and built.

use crate::failure::TaskError;
use crate::steps::{TaskStep, run_all, step};
use crate::workspace::Workspace;
use crate::{
    abi, corpus, examples, kills, machine, native, npm, programs, python, wasm, wasm_targets,
};

/// The machine is ready to build.
pub(crate) const MACHINE: [TaskStep; 2] =
    [step("look at the machine", machine::look), step("find the wasm targets", wasm_targets::find)];
/// The programs that the native host carries in itself.
pub(crate) const CARRIED: [TaskStep; 3] = [GUEST, PROGRAMS, SHELL];
/// The program that carries out the tools.
const GUEST: TaskStep = step("build the tools for WASI", wasm::build_guest);
/// A tool of one's own, which the tests call.
pub(crate) const EXAMPLE: TaskStep = step("build the example's tool for WASI", wasm::build_example);
/// The programs that the sandbox runs.
pub(crate) const PROGRAMS: TaskStep = step("fetch the programs of the sandbox", programs::fetch);
/// The program that runs Python in pages and Node.
pub(crate) const PYTHON: TaskStep = step("fetch Python for pages", programs::fetch_python);
/// The shell, which carries out command lines in the sandbox, in pages and in Node.
pub(crate) const SHELL: TaskStep = step("build the shell for WASI", wasm::build_shell);
/// The core for hosts in any language.
pub(crate) const CORE: TaskStep = step("build the core without imports", abi::build);
/// The supervisor for hosts in any language: half a minute at first.
const SUPERVISOR: TaskStep = step("build the supervisor without imports", abi::build_supervisor);
/// The core for hosts in any language, and what uses it and the tools: the Python package, checked
/// and tested, and the examples.
pub(crate) const ELSEWHERE: [TaskStep; 5] =
    [CORE, python::WHEEL, python::CHECKED, python::TESTED, examples::EXAMPLES];
/// The tests that sessions are the same in every language.
pub(crate) const THE_SAME: [TaskStep; 2] = [corpus::CORPUS, kills::KILLS];
/// The npm package.
pub(crate) const PACKAGE: [TaskStep; 4] = [
    SUPERVISOR,
    step("build the wasm binding", wasm::build_binding),
    step("optimise the wasm module", npm::optimise),
    step("build and pack the npm package", npm::pack),
];
/// The npm packages of programs.
pub(crate) const PROGRAM_PACKAGES: TaskStep = step("pack the programs for npm", npm::pack_programs);
/// The program `innerloop`.
pub(crate) const HOST: TaskStep = step("build the native host", native::build_host);

/// The Python that people install with `innerloop`; the tests and a demo run it.
pub(crate) const INSTALLED_PYTHON: TaskStep =
    step("install Python for the sandbox", programs::install_python);
/// The clang that compiles C in the sandbox; only the tests need it.
pub(crate) const INSTALLED_CLANG: TaskStep =
    step("install clang for the sandbox", programs::install_clang);

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    run_all(workspace, &all())
}

/// The command's steps.
pub(crate) fn all() -> Vec<TaskStep> {
    let lints = step("look for rustfmt and clippy", machine::look_for_lints);
    let browser = step("find a browser", machine::look_for_chromium);
    let bubblewrap = step("find bubblewrap", machine::look_for_bubblewrap);
    let built = [EXAMPLE, HOST, INSTALLED_PYTHON];
    let packed = [CORE, python::WHEEL, PYTHON, PROGRAM_PACKAGES];
    [&MACHINE[..], &[lints, browser, bubblewrap], &CARRIED, &built, &PACKAGE, &packed].concat()
}

/// Runs the command `npm`.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run_npm(workspace: &mut Workspace) -> Result<(), TaskError> {
    run_all(workspace, &[&MACHINE[..], &PACKAGE].concat())
}

/// Runs the command `corpus`.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run_corpus(workspace: &mut Workspace) -> Result<(), TaskError> {
    run_all(workspace, &[&MACHINE[..], &[GUEST, CORE, python::WHEEL], &THE_SAME].concat())
}

/// Runs the command `python`.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run_python(workspace: &mut Workspace) -> Result<(), TaskError> {
    run_all(workspace, &[&MACHINE[..], &[GUEST], &ELSEWHERE].concat())
}
