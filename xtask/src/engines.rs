//! The examples of agents in durable engines: each is installed below `target/examples` with the
//! packed package, and its process is killed wherever it can be.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::TaskError;
use crate::files;
use crate::machine;
use crate::npm;
use crate::process;
use crate::steps::{TaskStep, test_step};
use crate::web;
use crate::workspace::Workspace;

/// Runs the one in a Durable Object.
pub(crate) const DURABLE_OBJECT: TaskStep =
    test_step("run the example in a Durable Object, and kill it", run_durable_object);
/// Runs the one on Restate.
pub(crate) const RESTATE: TaskStep =
    test_step("run the example on Restate, and kill it", run_restate);
/// The files that each example is made of.
const FILES: [&str; 5] = ["agent.ts", "local.ts", "package.json", "tools.ts", "tsconfig.json"];
/// The oldest Node that runs Restate's SDK, and the one that npm brings where there is none.
const NODE_OF_RESTATE: u32 = 22;
const NEWER_NODE: &str = "24.21.0";

fn run_durable_object(workspace: &mut Workspace) -> Result<(), TaskError> {
    let what = "workerd, miniflare and esbuild: 230 MB, ten seconds";
    install(workspace, "durable-object", what, None)?;
    process::run(&mut web::test(workspace, "engines/durable-object.test.mjs", web::TIMEOUT_MS))
}

fn run_restate(workspace: &mut Workspace) -> Result<(), TaskError> {
    let own = machine::node_version()?;
    let node = (own < NODE_OF_RESTATE).then(node_package);
    let what = match node {
        None => "Restate's server and SDK: 265 MB, ten seconds".to_owned(),
        Some(_) => format!(
            "Restate's server and SDK, and Node {NEWER_NODE}, since this is {own}: 450 MB, twenty \
             seconds"
        ),
    };
    let answers = |workspace: &Workspace| {
        let mut server = workspace.program("node", &folder("restate"));
        process::capture(server.args(["node_modules/.bin/restate-server", "--version"]))
    };
    let installed = install(workspace, "restate", &what, node.as_deref());
    if let Err(TaskError(reason)) = installed.and_then(|()| answers(workspace)) {
        println!(
            "left out: the example on Restate; npm has its server for Linux and macOS: `npm \
             install @restatedev/restate-server` ({reason})"
        );
        return Ok(());
    }
    let mut test = web::test(workspace, "engines/restate.test.mjs", web::TIMEOUT_MS);
    if let Some(package) = node {
        let inside = format!("{}/node_modules/{package}/bin", folder("restate"));
        test.env("PATH", path_from(workspace.path(&inside))?);
    }
    process::run(&mut test)?;
    // Half a gigabyte, which npm has in its cache, too.
    files::remove_folder(&workspace.path(&folder("restate")).join("node_modules"))
}

/// Installs an example as it is now, with the packed package in it, and a package beside it. What
/// npm has brought stays as long as neither the package nor what the example depends on changes.
fn install(
    workspace: &Workspace,
    name: &str,
    what: &str,
    beside: Option<&str>,
) -> Result<(), TaskError> {
    let inside = folder(name);
    let (from, to) = (workspace.path(&format!("examples/{name}")), workspace.path(&inside));
    for file in FILES {
        files::copy_if_changed(&from.join(file), &to.join(file))?;
    }
    let modules = to.join("node_modules");
    let tarball = workspace.path(npm::TARBALL);
    let seen = [
        (to.join("package.json"), modules.join(".installed.json")),
        (tarball.clone(), modules.join(".installed.tgz")),
    ];
    let is_seen = seen.iter().all(|(now, then)| files::same(now, then));
    if is_seen && beside.is_none_or(|package| modules.join(package).is_dir()) {
        return Ok(());
    }
    println!("npm install in {inside} ({what})");
    let mut npm = workspace.program("npm", &inside);
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
    npm.args(beside.map(|package| format!("{package}@{NEWER_NODE}")));
    process::run(npm.arg(&tarball))?;
    for (now, then) in seen {
        files::copy_if_changed(&now, &then)?;
    }
    Ok(())
}

/// Returns where an example is installed.
fn folder(name: &str) -> String {
    format!("target/examples/{name}")
}

/// The package of npm that is Node for this machine.
fn node_package() -> String {
    let system = env::consts::OS.replace("macos", "darwin");
    let machine = env::consts::ARCH.replace("x86_64", "x64").replace("aarch64", "arm64");
    format!("node-{system}-{machine}")
}

/// PATH with a folder before all others.
fn path_from(first: PathBuf) -> Result<OsString, TaskError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let all = [first].into_iter().chain(env::split_paths(&path));
    env::join_paths(all).map_err(|error| TaskError(format!("PATH cannot be made: {error}")))
}
