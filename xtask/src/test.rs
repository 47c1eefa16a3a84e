//! `cargo xtask test`: every check there is, ordered so that failures show early.
//! What the native host embeds comes before the lints.

use crate::demo;
use crate::dist;
use crate::elsewhere;
use crate::engines;
use crate::failure::Failure;
use crate::npm;
use crate::prepare;
use crate::process;
use crate::simulate;
use crate::site;
use crate::size;
use crate::steps::{run_all, step};
use crate::workspace::Workspace;
use crate::{features, machine, native, web};

/// The page's tests, each with a browser of its own.
const PAGE_TESTS: [&str; 11] = [
    "demo", "files", "writing", "folder", "sessions", "lasting", "models", "hostile", "programs",
    "speed", "looks",
];

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), Failure> {
    let look = [
        step("look for rustfmt and clippy", machine::look_for_lints),
        step("find a browser", machine::look_for_chromium),
        step("check the format", native::check_format),
    ];
    let light = [step("run the tests of core, driver and tools", native::test_without_host)];
    let native = [
        prepare::EXAMPLE,
        step("lint with clippy", native::lint),
        step("lint with each feature alone", features::lint),
        step("check for macOS and Windows", elsewhere::check),
        step("build the documentation", native::document),
        prepare::HOST,
        prepare::INSTALLED_PYTHON,
        prepare::INSTALLED_CLANG,
        step("run the tests of the native host", native::test_host),
        step("hold our checks beside those of other crates", native::test_oracle),
        step("start to simulate hostile sessions, for a minute", simulate::start),
    ];
    let web = [
        prepare::PYTHON,
        prepare::PROGRAM_PACKAGES,
        size::WEIGH_ALL,
        step("run the Node tests over the packed package", test_node),
        engines::DURABLE_OBJECT,
        engines::RESTATE,
        step("run both hosts against a third-party mock", test_aimock),
        site::ASSEMBLE,
        step("run the page test in Chromium", test_page),
        step("try the packages in bundlers and plain pages", test_places),
        step("run the examples of the README", test_readme),
        step("see what the simulation found", simulate::finish),
    ];
    let jobs = [&demo::MAIN_JOB[..], &demo::PYTHON_JOB, &dist::OF_TESTS].concat();
    let build = [&prepare::MACHINE[..], &look, &light, &prepare::CARRIED, &native].concat();
    let elsewhere = [&prepare::ELSEWHERE[..], &prepare::THE_SAME].concat();
    run_all(workspace, &[&build, &jobs, &elsewhere, &prepare::PACKAGE[..], &web].concat())
}

fn test_node(workspace: &mut Workspace) -> Result<(), Failure> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "node.test.mjs", web::TIMEOUT_MS))
}

fn test_aimock(workspace: &mut Workspace) -> Result<(), Failure> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "aimock.test.mjs", web::TIMEOUT_MS))
}

fn test_page(workspace: &mut Workspace) -> Result<(), Failure> {
    npm::install(workspace, web::FOLDER)?;
    let tests = PAGE_TESTS.map(|name| format!("page/{name}.test.mjs"));
    let mut node = web::test(workspace, "--test-concurrency=1", web::TIMEOUT_MS);
    process::run(node.args(tests))
}

fn test_places(workspace: &mut Workspace) -> Result<(), Failure> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "places.test.mjs", web::TIMEOUT_MS))
}

fn test_readme(workspace: &mut Workspace) -> Result<(), Failure> {
    npm::install(workspace, web::FOLDER)?;
    process::run(&mut web::test(workspace, "readme.test.mjs", web::TIMEOUT_MS))
}
