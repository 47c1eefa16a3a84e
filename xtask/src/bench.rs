//! `cargo xtask bench`: what things cost, beside their limits.

use crate::failure::Failure;
use crate::steps::{run_all, step};
use crate::workspace::Workspace;
use crate::{native, prepare};

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), Failure> {
    let core = [step("measure the session core", native::bench)];
    let program = [step("measure the program", native::bench_program)];
    run_all(workspace, &[&core[..], &prepare::MACHINE, &prepare::CARRIED, &program].concat())
}
