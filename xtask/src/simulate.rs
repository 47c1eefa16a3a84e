//! The simulator of the session core: on demand, and for a minute beside the web steps of
//! `cargo xtask test all`, which leave the machine half idle.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::TaskError;
use crate::process::{self, BackgroundProcess};
use crate::workspace::Workspace;

/// Runs the simulator with these arguments.
///
/// # Errors
/// When a seed fails; it is printed.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), TaskError> {
    process::run(simulator(workspace)?.args(arguments))
}

/// Step: starts new seeds of the simulator for a minute, beside the steps that follow.
///
/// # Errors
/// When the simulator cannot be built or started.
pub(crate) fn start(workspace: &mut Workspace) -> Result<(), TaskError> {
    let log = workspace.path("target/simulate.log");
    let mut simulator = simulator(workspace)?;
    // New seeds each time: those that have passed need not run again.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    simulator.args(["--seconds", "60", "--from", &now.to_string()]);
    println!("$ {}", process::line(&simulator));
    workspace.simulation = Some(BackgroundProcess::start(&mut simulator, log)?);
    Ok(())
}

/// Step: waits for the simulation and shows what it found.
///
/// # Errors
/// When a seed has failed.
pub(crate) fn finish(workspace: &mut Workspace) -> Result<(), TaskError> {
    let Some(simulation) = workspace.simulation.take() else {
        return Err(TaskError("no step has started the simulator".to_owned()));
    };
    simulation.finish().map_err(|TaskError(reason)| {
        TaskError(format!("{reason}; a seed that fails is kept in tests/fixtures/seeds.txt"))
    })
}

fn simulator(workspace: &Workspace) -> Result<Command, TaskError> {
    process::run(workspace.cargo_native("build").args(["--bin", "simulate"]))?;
    Ok(workspace.program(workspace.innerloop().with_file_name("simulate"), ""))
}
