//! A command's steps: each is announced with its number, timed, and the first failure ends the
//! command with its reason. The table of times stands at the end.

use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::workspace::Workspace;

/// One step: its title, announced before it runs, and its function.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    title: &'static str,
    run: fn(&mut Workspace) -> Result<(), Failure>,
}

/// A step from its title and its function.
pub(crate) const fn step(
    title: &'static str,
    run: fn(&mut Workspace) -> Result<(), Failure>,
) -> Step {
    Step { title, run }
}

/// Runs the steps in order and prints the table of times.
///
/// # Errors
/// The first failure, with the step's number and title before its reason.
pub(crate) fn run_all(workspace: &mut Workspace, steps: &[Step]) -> Result<(), Failure> {
    let start = Instant::now();
    let total = steps.len();
    let mut times = Vec::with_capacity(total);
    for (number, step) in (1..).zip(steps) {
        println!("== step {number}/{total}: {}", step.title);
        let begun = Instant::now();
        let result = (step.run)(workspace);
        let took = begun.elapsed();
        if let Err(Failure(reason)) = result {
            print_table(&times);
            return Err(Failure(format!(
                "step {number}/{total} ({}) failed after {}:\n{reason}",
                step.title,
                seconds(took)
            )));
        }
        println!("== step {number}/{total} took {}", seconds(took));
        times.push((step.title, took));
    }
    print_table(&times);
    println!("   {:>8}  in all", seconds(start.elapsed()));
    Ok(())
}

fn print_table(times: &[(&str, Duration)]) {
    println!("\n== times");
    for (title, took) in times {
        println!("   {:>8}  {title}", seconds(*took));
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
