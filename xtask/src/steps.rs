//! A command's steps: each is announced with its number, timed, and the first failure ends the
//! command with its reason. The times of the slowest stand at the end.

use std::time::{Duration, Instant};

use crate::failure::TaskError;
use crate::workspace::Workspace;

/// One step: its title, announced before it runs, and its function.
#[derive(Clone, Copy)]
pub(crate) struct TaskStep {
    pub(crate) title: &'static str,
    run: fn(&mut Workspace) -> Result<(), TaskError>,
    /// It runs tests, whose verdict must not depend on how fast the machine is.
    pub(crate) is_test: bool,
}

/// A step from its title and its function.
pub(crate) const fn step(
    title: &'static str,
    run: fn(&mut Workspace) -> Result<(), TaskError>,
) -> TaskStep {
    TaskStep { title, run, is_test: false }
}

/// A step that runs tests: one of those that `cargo xtask test --under-load` repeats.
pub(crate) const fn test_step(
    title: &'static str,
    run: fn(&mut Workspace) -> Result<(), TaskError>,
) -> TaskStep {
    TaskStep { title, run, is_test: true }
}

/// The number of slowest steps whose times are printed at the end.
const SLOWEST: usize = 10;

/// Runs the steps in order and prints the times of the slowest.
///
/// # Errors
/// The first failure, with the step's number and title before its reason.
pub(crate) fn run_all(workspace: &mut Workspace, steps: &[TaskStep]) -> Result<(), TaskError> {
    let start = Instant::now();
    let total = steps.len();
    let mut times = Vec::with_capacity(total);
    for (number, step) in (1..).zip(steps) {
        match run_one(workspace, step, number, total) {
            Ok(took) => times.push((step.title, took)),
            Err(failure) => {
                print_table(&times);
                return Err(failure);
            }
        }
    }
    print_table(&times);
    println!("   {:>8}  in all", seconds(start.elapsed()));
    print_skipped(workspace);
    Ok(())
}

/// Prints what tests have skipped so far.
pub(crate) fn print_skipped(workspace: &Workspace) {
    if !workspace.skipped.is_empty() {
        println!("\n== tests have skipped {} times", workspace.skipped.len());
    }
    for line in &workspace.skipped {
        println!("   {line}");
    }
}

/// Runs the steps in order, each whether or not one before it has failed, and gives what failed.
pub(crate) fn run_each(workspace: &mut Workspace, steps: &[TaskStep]) -> Vec<TaskError> {
    let numbered = (1..).zip(steps);
    let results = numbered.map(|(number, step)| run_one(workspace, step, number, steps.len()));
    results.filter_map(Result::err).collect()
}

/// Announces and runs a step, and says how long it took.
fn run_one(
    workspace: &mut Workspace,
    step: &TaskStep,
    number: usize,
    total: usize,
) -> Result<Duration, TaskError> {
    println!("== step {number}/{total}: {}", step.title);
    let begun = Instant::now();
    let result = (step.run)(workspace);
    let took = begun.elapsed();
    result.map_err(|TaskError(reason)| {
        let (title, took) = (step.title, seconds(took));
        TaskError(format!("step {number}/{total} ({title}) failed after {took}:\n{reason}"))
    })?;
    println!("== step {number}/{total} took {}", seconds(took));
    Ok(took)
}

fn print_table(times: &[(&str, Duration)]) {
    let mut slowest = times.to_vec();
    slowest.sort_by(|(_, one), (_, other)| other.cmp(one));
    println!("\n== the slowest of {} steps", times.len());
    for (title, took) in slowest.iter().take(SLOWEST) {
        println!("   {:>8}  {title}", seconds(*took));
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
