//! What a text delta costs by the lines that other languages speak: natively, and through the
//! module without imports in each runtime that is on this machine.

use std::process::Command;

use crate::abi;
use crate::corpus::{self, SOURCES};
use crate::failure::TaskError;
use crate::native;
use crate::process;
use crate::python;
use crate::steps::{TaskStep, step};
use crate::workspace::Workspace;

/// Measures it.
pub(crate) const DELTAS: TaskStep = step("measure a text delta in other languages", run);
/// The requests, and the piece of a response that is handed in again and again.
const SCRIPT: &str = "deltas.jsonl";
const COUNT: &str = "50000";
/// The least of so many is what it costs.
const TIMES: usize = 3;

fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    let script = format!("{SOURCES}/{SCRIPT}");
    let with = |mut command: Command, words: &[&str]| {
        command.args(words).args([&script, COUNT]);
        command
    };
    let native = with(native::benches(workspace), &["--", "lines"]);
    let mut node = workspace.program("node", "");
    node.arg(format!("{SOURCES}/deltas.mjs"));
    let mut python = workspace.program(python::with_package(workspace)?, "");
    python.arg(format!("{SOURCES}/deltas.py"));
    let mut rows = vec![
        ("native Rust", None, native),
        ("V8 (Node)", Some(8), with(node, &[abi::CORE])),
        ("wasmtime (Python)", Some(50), with(python, &[])),
    ];
    if let Some(program) = corpus::go_program(workspace)? {
        let go = workspace.program(program, "");
        rows.push(("wazero (Go)", Some(20), with(go, &["deltas", abi::CORE])));
    }
    println!("   {:<22} {:>8} {:>9}", "a text delta", "goal", "CPU time");
    for (runtime, goal, mut command) in rows {
        let figure = least(&mut command)?;
        let goal = goal.map_or(String::new(), |goal| format!("≤ {goal} µs"));
        println!("   {runtime:<22} {goal:>8} {figure:>6.1} µs");
    }
    Ok(())
}

fn least(command: &mut Command) -> Result<f64, TaskError> {
    let mut least = f64::INFINITY;
    for _ in 0..TIMES {
        let printed = process::capture(command)?;
        let figure: f64 = printed.trim().parse().map_err(|_| {
            TaskError(format!("the cost of a delta is no number: {}", printed.trim()))
        })?;
        least = least.min(figure);
    }
    Ok(least)
}
