//! The examples in other languages, run against a model that stands beside them.

use crate::failure::Failure;
use crate::machine;
use crate::process;
use crate::workspace::Workspace;

/// Step: runs them. Of what the machine lacks, Debian's small packages are installed; a JDK is not,
/// and what needs one is left out, as it says.
///
/// # Errors
/// When one does not do what it is for.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), Failure> {
    let packages = ["wabt", "libjansson-dev", "libcurl4-openssl-dev"];
    machine::install(&packages, "what the example in C is built with", "5 MB, ten seconds")?;
    process::run(workspace.program("node", "examples").arg("run.mjs"))
}
