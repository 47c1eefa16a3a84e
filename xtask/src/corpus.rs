//! The corpus of logs: made and replayed by the native core, and replayed by the module without
//! imports in each runtime that is on this machine. All must come to the same digests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::abi;
use crate::failure::TaskError;
use crate::files;
use crate::machine;
use crate::native;
use crate::process;
use crate::python;
use crate::steps::{TaskStep, test_step};
use crate::workspace::Workspace;

/// Replays the corpus.
pub(crate) const CORPUS: TaskStep = test_step("replay the corpus in other languages", run);
/// The programs that replay it, and those that are killed.
pub(crate) const SOURCES: &str = "tests/interop";
/// The folder in which they are built.
const BUILT: &str = "target/interop";
/// The logs, and the native digests.
const LOGS: &str = "target/corpus";
/// The fewest logs that there must be.
const LEAST: usize = 20;

/// A runtime that replays the corpus.
struct CorpusReplay {
    runtime: &'static str,
    command: Command,
}

/// The result of a replay, which prints lines of names and digests.
struct ReplayResult {
    runtime: &'static str,
    printed: Result<String, TaskError>,
    took: Duration,
}

fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(native::light(workspace, "build").args(["--bin", "corpus"]))?;
    let corpus = workspace.innerloop().with_file_name("corpus");
    process::run(workspace.program(corpus, "").arg(LOGS))?;
    let expected = text(&files::read(&workspace.path(LOGS).join("digests.txt"))?);
    let count = expected.lines().count();
    if count < LEAST {
        return Err(TaskError(format!("the corpus has {count} logs, fewer than {LEAST}")));
    }
    let mut replays = vec![in_v8(workspace), in_python(workspace)?];
    replays.extend(in_go(workspace)?);
    replays.extend(in_java(workspace)?);
    replays.extend(in_c(workspace)?);
    report(&expected, replayed(replays))
}

/// Runs them side by side: those that interpret take long.
fn replayed(replays: Vec<CorpusReplay>) -> Vec<ReplayResult> {
    let started: Vec<_> = replays.into_iter().map(|replay| thread::spawn(|| one(replay))).collect();
    started.into_iter().filter_map(|thread| thread.join().ok()).collect()
}

fn one(replay: CorpusReplay) -> ReplayResult {
    let CorpusReplay { runtime, mut command } = replay;
    let begun = Instant::now();
    let printed = process::capture(&mut command);
    ReplayResult { runtime, printed, took: begun.elapsed() }
}

/// Prints the table.
fn report(expected: &str, replayed: Vec<ReplayResult>) -> Result<(), TaskError> {
    println!("   {:<22} {:>5} {:>6} {:>8}", "runtime", "logs", "equal", "time");
    println!("   {:<22} {:>5}", "native Rust", expected.lines().count());
    let mut faults = Vec::new();
    for ReplayResult { runtime, printed, took } in replayed {
        let printed = printed?;
        let (logs, differing) = (printed.lines().count(), differences(expected, &printed));
        let equal = logs.saturating_sub(differing.len());
        let seconds = took.as_secs_f64();
        println!("   {runtime:<22} {logs:>5} {equal:>6} {seconds:>6.1} s");
        faults.extend(differing.into_iter().map(|fault| format!("{runtime}: {fault}")));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(TaskError(format!(
            "what a log's replay gives is not what it gives natively:\n{}",
            faults.join("\n")
        ))),
    }
}

/// Returns where lines of names and digests differ from what is expected.
fn differences(expected: &str, printed: &str) -> Vec<String> {
    let read = |text| -> BTreeMap<String, String> {
        let lines = str::lines(text).filter_map(|line| line.trim().split_once(' '));
        lines.map(|(name, digest)| (name.to_owned(), digest.to_owned())).collect()
    };
    let (expected, printed) = (read(expected), read(printed));
    let wrong = expected.iter().filter_map(|(name, digest)| match printed.get(name) {
        Some(other) if other == digest => None,
        Some(other) => Some(format!("{name} gives {other}, natively {digest}")),
        None => Some(format!("{name} is missing")),
    });
    let unknown = printed.keys().filter(|name| !expected.contains_key(*name));
    wrong.chain(unknown.map(|name| format!("{name} is not in the corpus"))).collect()
}

fn in_v8(workspace: &Workspace) -> CorpusReplay {
    let mut command = workspace.program("node", "");
    command.arg(format!("{SOURCES}/replay.mjs")).args([abi::CORE, LOGS]);
    CorpusReplay { runtime: "V8 (Node)", command }
}

fn in_python(workspace: &Workspace) -> Result<CorpusReplay, TaskError> {
    let mut command = workspace.program(python::with_package(workspace)?, "");
    command.arg(format!("{SOURCES}/replay.py")).arg(LOGS);
    Ok(CorpusReplay { runtime: "wasmtime (Python)", command })
}

fn in_go(workspace: &Workspace) -> Result<Vec<CorpusReplay>, TaskError> {
    let Some(program) = go_program(workspace)? else { return Ok(Vec::new()) };
    let modes = [("wazero, compiled", "compiled"), ("wazero, interpreted", "interpreted")];
    let replay = |(runtime, mode)| {
        let mut command = workspace.program(&program, "");
        command.args(["replay", mode, abi::CORE, LOGS]);
        CorpusReplay { runtime, command }
    };
    Ok(modes.map(replay).into())
}

/// Builds what the tests run in Go, where there is Go.
///
/// # Errors
/// When it cannot be built.
pub(crate) fn go_program(workspace: &Workspace) -> Result<Option<PathBuf>, TaskError> {
    if process::on_path("go").is_none() {
        println!(
            "left out: wazero, and what needs Go; https://go.dev/dl has Go, or `apt-get install golang`"
        );
        return Ok(None);
    }
    let program = workspace.path(BUILT).join("interop");
    let go = || workspace.program("go", &format!("{SOURCES}/go"));
    process::run(go().args(["vet", "./..."]))?;
    process::run(go().args(["build", "-o"]).arg(&program).arg("."))?;
    Ok(Some(program))
}

fn in_java(workspace: &Workspace) -> Result<Option<CorpusReplay>, TaskError> {
    if process::on_path("javac").is_none() || process::on_path("mvn").is_none() {
        println!(
            "left out: Chicory; it needs a JDK from 17 on and Maven: `apt-get install \
             openjdk-17-jdk-headless maven`"
        );
        return Ok(None);
    }
    let (classes, listed) = (workspace.path(BUILT).join("java"), workspace.path(BUILT));
    let listed = listed.join("classpath");
    // What the example in Java needs, Chicory among it.
    let mut maven = workspace.program("mvn", "");
    maven.args(["-q", "-B", "-Dstyle.color=never", "-f", "examples/java"]);
    maven.arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath");
    process::capture(maven.arg(format!("-Dmdep.outputFile={}", listed.display())))?;
    let archives = text(&files::read(&listed)?);
    let mut javac = workspace.program("javac", "");
    javac.arg("-d").arg(&classes).args(["-cp", archives.trim()]);
    javac.arg("examples/java/src/main/java/Core.java").arg(format!("{SOURCES}/Replay.java"));
    process::run(&mut javac)?;
    let all = std::env::join_paths(
        std::iter::once(classes).chain(std::env::split_paths(archives.trim())),
    )
    .map_err(|error| TaskError(format!("a folder cannot be named to Java: {error}")))?;
    let mut command = workspace.program("java", "");
    command.arg("-cp").arg(all).arg("Replay").args([abi::CORE, LOGS]);
    Ok(Some(CorpusReplay { runtime: "Chicory (Java)", command }))
}

fn in_c(workspace: &Workspace) -> Result<Option<CorpusReplay>, TaskError> {
    let (packages, why) = (["wabt", "libssl-dev"], "what the corpus is replayed with in C");
    if let Err(TaskError(reason)) = machine::install(&packages, why, "15 MB, ten seconds") {
        println!("left out: wasm2c; {reason}");
        return Ok(None);
    }
    process::run(workspace.program("make", "").args(["--silent", "-C", "examples/c", "core.o"]))?;
    let program = workspace.path(BUILT).join("replay");
    let mut cc = workspace.program("cc", "");
    cc.args(["-O1", "-Wall", "-Wextra", "-I", "examples/c", "-o"]).arg(&program);
    cc.arg(format!("{SOURCES}/replay.c")).arg("examples/c/core.o");
    process::run(cc.args(["-lwasm-rt-impl", "-lcrypto", "-lm"]))?;
    let mut command = workspace.program(program, "");
    command.arg(LOGS);
    Ok(Some(CorpusReplay { runtime: "wasm2c (C)", command }))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_that_differs_or_is_missing_is_found() {
        let expected = "a 11\nb 22\nc 33\n";
        assert_eq!(differences(expected, "c 33\na 11\nb 22"), Vec::<String>::new());
        let found = differences(expected, "a 11\nb 23\nd 44\n");
        assert_eq!(found, ["b gives 23, natively 22", "c is missing", "d is not in the corpus"]);
    }
}
