//! `cargo xtask bench`: what things cost, beside their limits.

use crate::deltas::DELTAS;
use crate::failure::TaskError;
use crate::npm;
use crate::process;
use crate::steps::{run_all, step};
use crate::workspace::Workspace;
use crate::{machine, native, prepare, python, site, web};

const PACKAGE_BENCH: &str = "tests/web/bench";

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace, with_peers: bool) -> Result<(), TaskError> {
    let core = [step("measure the session core", native::bench)];
    let program = [step("measure the program", native::bench_program)];
    let bench = if with_peers { measure_beside_peers } else { measure };
    let package = [step("measure the package in Node", bench)];
    let page = [
        step("find a browser", machine::look_for_chromium),
        prepare::PYTHON,
        prepare::PROGRAM_PACKAGES,
        site::ASSEMBLE,
        step("measure the page in Chromium", measure_page),
    ];
    let machine = [&core[..], &prepare::MACHINE].concat();
    let built = [&prepare::CARRIED[..], &program, &prepare::PACKAGE].concat();
    let elsewhere = [prepare::CORE, python::WHEEL, DELTAS];
    run_all(workspace, &[&machine[..], &built, &elsewhere, &package, &page].concat())
}

fn measure_page(workspace: &mut Workspace) -> Result<(), TaskError> {
    npm::install(workspace, web::FOLDER)?;
    let mut node = web::test(workspace, "page/speed.test.mjs", web::TIMEOUT_MS);
    process::run(node.env("INNERLOOP_BENCH", "1"))
}

fn measure(workspace: &mut Workspace) -> Result<(), TaskError> {
    bench(workspace, &[])
}

fn measure_beside_peers(workspace: &mut Workspace) -> Result<(), TaskError> {
    bench(workspace, &["--peers"])
}

fn bench(workspace: &Workspace, arguments: &[&str]) -> Result<(), TaskError> {
    let mut node = workspace.program("node", PACKAGE_BENCH);
    node.env("INNERLOOP_TARBALL", workspace.path(npm::TARBALL));
    process::run(node.arg("bench.mjs").args(arguments))
}
