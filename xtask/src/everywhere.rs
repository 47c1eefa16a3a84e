//! `cargo xtask everywhere`: the packed packages in every runtime and bundler that they are meant
//! for. These come from npm, by a lock file of their own: too much for every run of the tests.

use crate::failure::TaskError;
use crate::machine;
use crate::npm;
use crate::prepare;
use crate::process;
use crate::steps::{run_all, step};
use crate::web;
use crate::workspace::Workspace;

const FOLDER: &str = "tests/web/everywhere";
const TESTS: &str = "everywhere/everywhere.test.mjs";
/// Builds with cold caches on a busy machine.
const TIMEOUT_MS: &str = "1200000";

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    let browser = [step("find a browser", machine::look_for_chromium)];
    let programs = [prepare::PROGRAMS, prepare::SHELL, prepare::PYTHON, prepare::PROGRAM_PACKAGES];
    let places = [
        step("install runtimes and bundlers", install),
        step("try the packages in each of them", try_all),
    ];
    let built = [&prepare::MACHINE[..], &browser, &prepare::PACKAGE, &programs].concat();
    run_all(workspace, &[&built[..], &places].concat())
}

fn install(workspace: &mut Workspace) -> Result<(), TaskError> {
    println!("Node, Deno, Bun, workerd and bundlers: 1.4 GB in {FOLDER}, two minutes");
    npm::install(workspace, web::FOLDER)?;
    npm::install(workspace, FOLDER)
}

fn try_all(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(&mut web::test(workspace, TESTS, TIMEOUT_MS))
}
