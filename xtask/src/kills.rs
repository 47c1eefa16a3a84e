//! Sessions that are killed in one language and go on in another.

use std::env;

use crate::abi;
use crate::corpus;
use crate::failure::TaskError;
use crate::process;
use crate::python;
use crate::steps::{TaskStep, test_step};
use crate::workspace::Workspace;

/// Kills them at each of their effects.
pub(crate) const KILLS: TaskStep = test_step("kill sessions and go on in another language", run);
/// The folder in which wazero keeps what it has compiled.
const CACHE: &str = "target/interop/wazero";

fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    let Some(program) = corpus::go_program(workspace)? else { return Ok(()) };
    let words = [program, "mortal".into(), workspace.path(abi::CORE), workspace.path(CACHE)];
    let words = env::join_paths(words)
        .map_err(|error| TaskError(format!("the program in Go cannot be named: {error}")))?;
    let mut tests = workspace.program(python::with_package(workspace)?, "");
    tests.env("MORTAL_GO", words).env("PYTHONPATH", workspace.path("python/tests"));
    tests.args(["-W", "error::RuntimeWarning", "-W", "error::ResourceWarning"]);
    process::run(tests.args(["-m", "unittest", "discover", "--start-directory", corpus::SOURCES]))
}
