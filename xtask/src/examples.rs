//! The examples of agents in other languages: run against a scripted model, where the language is
//! on this machine.

use std::process::Command;

use crate::failure::TaskError;
use crate::files;
use crate::machine;
use crate::process;
use crate::steps::{TaskStep, test_step};
use crate::workspace::Workspace;

/// Runs the examples.
pub(crate) const EXAMPLES: TaskStep = test_step("run the examples in other languages", run);
/// The folder in which the example in Go works.
const FOLDER: &str = "target/examples/go";
const QUESTION: &str = "Is it warm in Lima?";
/// The log of those in Java and C.
const LOG: &str = "weather.log.jsonl";
/// A model that is overloaded at first, and then breaks a connection.
const FLAKY: &str = "--flaky";
/// A model that refuses the key.
const REFUSING: &str = "--refuse";

fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    run_go(workspace)?;
    run_java(workspace)?;
    run_c(workspace)
}

fn run_go(workspace: &Workspace) -> Result<(), TaskError> {
    if process::on_path("go").is_none() {
        println!(
            "left out: the example in Go; https://go.dev/dl has Go, or `apt-get install golang`"
        );
        return Ok(());
    }
    let go = || workspace.program("go", "examples/go");
    process::run(go().args(["vet", "./..."]))?;
    process::run(go().args(["test", "-count=1", "./..."]))?;
    let folder = workspace.path(FOLDER);
    files::remove_folder(&folder)?;
    files::write_if_changed(&folder.join("notes.md"), b"# Notes\n")?;
    let mut example = with_mock(workspace, FLAKY);
    example.args(["go", "run", "-C", "examples/go", ".", "-workspace"]);
    let said = process::capture(example.arg(&folder).arg("Write a report of the notes"))?;
    println!("{said}");
    let is_whole = said.ends_with("completed") && said.contains("> Read");
    match is_whole && files::read(&folder.join("report.md"))? == b"# Report\n" {
        true => Ok(()),
        false => Err(TaskError("the example in Go did not write its report".to_owned())),
    }
}

fn run_java(workspace: &Workspace) -> Result<(), TaskError> {
    if process::on_path("javac").is_none() || process::on_path("mvn").is_none() {
        println!(
            "left out: the example in Java; it needs a JDK from 17 on and Maven: `apt-get install \
             openjdk-17-jdk-headless maven`"
        );
        return Ok(());
    }
    let weather = |trouble: &str| {
        let mut example = with_mock(workspace, trouble);
        example.args(["mvn", "-q", "-B", "-Dstyle.color=never", "-f", "examples/java", "compile"]);
        example.arg("exec:java").arg(format!("-Dexec.args='{QUESTION}'"));
        example
    };
    expect_weather(workspace, weather, "Java")
}

fn run_c(workspace: &Workspace) -> Result<(), TaskError> {
    let packages = ["wabt", "libjansson-dev", "libcurl4-openssl-dev"];
    machine::install(&packages, "what the example in C is built with", "5 MB, ten seconds")?;
    process::run(workspace.program("make", "").args(["--silent", "-C", "examples/c"]))?;
    let weather = |trouble: &str| {
        let mut example = with_mock(workspace, trouble);
        example.args(["examples/c/weather", QUESTION]);
        example
    };
    expect_weather(workspace, weather, "C")
}

/// A program beside the model that plays a script, with this trouble.
fn with_mock(workspace: &Workspace, trouble: &str) -> Command {
    let mut python = workspace.program("python3", "");
    python.args(["examples/mock.py", trouble]);
    python
}

/// Expects of an example that it gets through where the model is overloaded and connections break,
/// that it goes on from its log, and that it says why where the key is refused.
fn expect_weather(
    workspace: &Workspace,
    weather: impl Fn(&str) -> Command,
    language: &str,
) -> Result<(), TaskError> {
    let log = workspace.path(LOG);
    files::write_if_changed(&log, b"")?;
    let fault = |what: &str| TaskError(format!("the example in {language} {what}"));
    for _ in 0..2 {
        let said = process::capture(&mut weather(FLAKY))?;
        println!("{said}");
        // Some versions of Maven end what they print with an escape sequence.
        if !said.contains("It is warm in Lima.") {
            return Err(fault("did not say how warm it is"));
        }
    }
    // Either run's question stands in it as it was said and in a snapshot.
    let log = String::from_utf8_lossy(&files::read(&log)?).into_owned();
    if log.matches(QUESTION).count() < 3 {
        return Err(fault("did not go on from its log"));
    }
    match process::capture(&mut weather(REFUSING)) {
        Err(TaskError(said)) if said.contains("the mock says no") => Ok(()),
        Err(TaskError(said)) => Err(fault(&format!("did not say why it failed: {said}"))),
        Ok(_) => Err(fault("ended with 0 where its key was refused")),
    }
}
