//! `cargo xtask fuzz`: each fuzz target for a minute, over the inputs that the tests begin with
//! and those that earlier runs have found. What fails is named with how to run it again.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use crate::failure::TaskError;
use crate::files;
use crate::machine;
use crate::process;
use crate::workspace::Workspace;

/// The version of cargo-fuzz that is installed where there is none.
const CARGO_FUZZ: &str = "0.13.1";
/// The longest that one input may take, in seconds: what takes longer is not linear.
const TIMEOUT: &str = "-timeout=20";
/// The most memory that a target may take, in megabytes.
const MEMORY: &str = "-rss_limit_mb=2048";
/// The longest input, in bytes.
const LENGTH: &str = "-max_len=16384";

/// The plan of a run: what is to be fuzzed, and for how long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    seconds: u32,
    /// The targets; all of them if there are none.
    targets: Vec<String>,
}

impl Plan {
    /// Reads `[--seconds N] [TARGET…]`.
    ///
    /// # Errors
    /// When it is something else; the reason says what.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let (mut plan, mut words) = (Self { seconds: 60, targets: Vec::new() }, words.iter());
        while let Some(&word) = words.next() {
            match word {
                "--seconds" => {
                    let number = words.next().and_then(|number| number.parse().ok());
                    plan.seconds = number
                        .filter(|seconds| *seconds > 0)
                        .ok_or("--seconds wants a number of seconds, 1 or more")?;
                }
                _ if word.starts_with('-') => return Err(format!("unexpected {word:?}")),
                _ => plan.targets.push(word.to_owned()),
            }
        }
        Ok(plan)
    }
}

/// Runs the command.
///
/// # Errors
/// When a target is unknown or does not build, or when one finds an input that fails; the others
/// run all the same.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), TaskError> {
    let known = targets(workspace)?;
    if let Some(unknown) = plan.targets.iter().find(|name| !known.contains(name)) {
        let known = known.join(", ");
        return Err(TaskError(format!("there is no fuzz target {unknown:?}; there are {known}")));
    }
    let chosen = if plan.targets.is_empty() { &known } else { &plan.targets };
    install(workspace)?;
    write_corpus(workspace)?;
    build(workspace, chosen)?;
    let mut failed = Vec::new();
    for name in chosen {
        println!("== fuzz {name} for {} s", plan.seconds);
        if let Err(TaskError(reason)) = run_target(workspace, name, plan.seconds) {
            eprintln!("{reason}");
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() {
        println!("== {} fuzz targets: nothing found", chosen.len());
        return Ok(());
    }
    Err(TaskError(format!("fuzzing failed: {}", failed.join(", "))))
}

/// The names of all targets.
fn targets(workspace: &Workspace) -> Result<Vec<String>, TaskError> {
    let folder = workspace.path("fuzz/targets");
    let unreadable = |error| TaskError(format!("cannot list {}: {error}", folder.display()));
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        names.extend(path.file_stem().and_then(OsStr::to_str).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn install(workspace: &Workspace) -> Result<(), TaskError> {
    if process::on_path("c++").is_none() {
        let why = "a C++ compiler for libFuzzer";
        machine::install(&["g++"], why, "60 MB, half a minute")?;
    }
    if process::capture(workspace.cargo("fuzz").arg("--version")).is_ok() {
        return Ok(());
    }
    println!("installing cargo-fuzz {CARGO_FUZZ}: it builds the fuzz targets (a minute)");
    let mut cargo = workspace.program("cargo", "");
    process::run(cargo.args(["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]))
}

fn write_corpus(workspace: &Workspace) -> Result<(), TaskError> {
    let mut cargo = workspace.cargo("run");
    cargo.args(["--quiet", "-p", "innerloop-tests", "--no-default-features"]);
    process::run(cargo.args(["--bin", "fuzz-corpus"]).arg(corpus(workspace)))
}

/// Builds the targets. There is no unsafe code for a sanitizer to watch, and coverage alone does
/// not need a nightly compiler.
fn build(workspace: &Workspace, targets: &[String]) -> Result<(), TaskError> {
    println!("building the fuzz targets; the first time takes up to five minutes");
    // It builds one target, or all.
    let only = match targets {
        [only] => Some(only),
        _ => None,
    };
    let mut cargo = workspace.program("cargo", "");
    cargo.args(["fuzz", "build", "--sanitizer", "none", "--target-dir"]);
    process::run(cargo.arg(built(workspace)).args(only))
}

fn run_target(workspace: &Workspace, name: &str, seconds: u32) -> Result<(), TaskError> {
    let triple = process::capture(workspace.program("rustc", "").args(["--print", "host-tuple"]))?;
    let program = built(workspace).join(triple).join("release").join(name);
    let failures = workspace.path("target/fuzz/failures").join(name);
    files::create_folder(&failures)?;
    let mut target = workspace.program(&program, "");
    target.arg(corpus(workspace).join(name)).args([TIMEOUT, MEMORY, LENGTH]);
    target.arg(format!("-max_total_time={seconds}"));
    target.arg(format!("-artifact_prefix={}/", failures.display()));
    process::run(&mut target).map_err(|TaskError(reason)| {
        TaskError(format!(
            "{reason}\nthe input stands in {}; to see it fail again: {} FILE",
            failures.display(),
            program.display()
        ))
    })
}

fn corpus(workspace: &Workspace) -> PathBuf {
    workspace.path("target/fuzz/corpus")
}

fn built(workspace: &Workspace) -> PathBuf {
    workspace.path("target/fuzz/build")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_or_refused_with_its_reason() {
        let plan = |seconds, targets: &[&str]| {
            let targets = targets.iter().map(|&name| name.to_owned()).collect();
            Ok(Plan { seconds, targets })
        };
        assert_eq!(Plan::parse(&[]), plan(60, &[]));
        assert_eq!(Plan::parse(&["patch", "--seconds", "5", "sse"]), plan(5, &["patch", "sse"]));
        for bad in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "x"], &["--all"]] {
            assert!(Plan::parse(bad).is_err(), "{bad:?}");
        }
    }
}
