//! The examples of agents in durable engines: each is installed below `target/examples` with the
//! packed package, and its process is killed wherever it can be.

use crate::failure::Failure;
use crate::files;
use crate::npm;
use crate::process;
use crate::steps::{Step, step};
use crate::test;
use crate::workspace::Workspace;

/// Runs the one in a Durable Object.
pub(crate) const DURABLE_OBJECT: Step =
    step("run the example in a Durable Object, and kill it", run_durable_object);
/// What each example is made of.
const FILES: [&str; 5] = ["agent.ts", "local.ts", "package.json", "tools.ts", "tsconfig.json"];
/// A file of these tests that takes longer hangs.
const TIMEOUT_MS: &str = "600000";

fn run_durable_object(workspace: &mut Workspace) -> Result<(), Failure> {
    install(workspace, "durable-object", "workerd and what bundles for it: 210 MB, ten seconds")?;
    process::run(&mut test::web_test(workspace, "engines/durable-object.test.mjs", TIMEOUT_MS))
}

/// Installs an example as it is now, with the packed package in it; what npm has brought stays as
/// long as neither the package nor what the example depends on changes.
fn install(workspace: &Workspace, name: &str, what: &str) -> Result<(), Failure> {
    let inside = format!("target/examples/{name}");
    let (from, to) = (workspace.path(&format!("examples/{name}")), workspace.path(&inside));
    let tarball = workspace.path(npm::TARBALL);
    let seen = [
        (from.join("package.json"), to.join("node_modules/.installed.json")),
        (tarball.clone(), to.join("node_modules/.installed.tgz")),
    ];
    for file in FILES {
        files::copy_if_changed(&from.join(file), &to.join(file))?;
    }
    if seen.iter().all(|(now, then)| files::same(now, then)) {
        return Ok(());
    }
    println!("npm install in {inside} ({what})");
    let mut npm = workspace.program("npm", &inside);
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
    process::run(npm.arg(&tarball))?;
    for (now, then) in seen {
        files::copy_if_changed(&now, &then)?;
    }
    Ok(())
}
