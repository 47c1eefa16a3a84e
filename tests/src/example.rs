//! The example project and its recording.

use crate::{
    anthropic::Message,
    mock::{Mock, Reply},
    program::{Run, innerloop, repository, run},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What the agent is told to do in the example.
pub const PROMPT: &str = "Make the tests pass";

/// The recording of the example's model traffic.
#[must_use]
pub fn recording() -> PathBuf {
    repository().join("example/traffic.jsonl")
}

/// A copy of the example project, in the folder `to`, which must not exist.
///
/// # Panics
/// It cannot be copied.
pub fn copy_project(to: &Path) {
    copy(&repository().join("example/project"), to);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a new folder");
    for entry in fs::read_dir(from).expect("the example") {
        let entry = entry.expect("a readable entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// The folder of programs that `cargo xtask prepare` fills: QuickJS and the shell.
///
/// # Panics
/// One is not there.
#[must_use]
pub fn programs_and_shell() -> PathBuf {
    let folder = repository().join("target/programs");
    for name in ["qjs.wasm", "bash.wasm"] {
        let file = folder.join(name);
        assert!(file.is_file(), "{} is missing: run `cargo xtask prepare`", file.display());
    }
    folder
}

/// What `XDG_DATA_HOME` is for a user who has installed Python, as `cargo xtask prepare` has.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn data_home() -> PathBuf {
    let data = repository().join("target/data");
    let file = data.join("innerloop/programs/python.wasm");
    assert!(file.is_file(), "{} is missing: run `cargo xtask prepare`", file.display());
    data
}

/// The folder in which Python is installed.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn python() -> PathBuf {
    data_home().join("innerloop/programs")
}

/// The folder in which clang is installed.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn clang() -> PathBuf {
    let folder = python();
    let file = folder.join("clang.wasm");
    assert!(file.is_file(), "{} is missing: run `cargo xtask test`", file.display());
    folder
}

/// The folder of the example's tool that `cargo xtask prepare` fills.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn count_lines() -> PathBuf {
    let folder = repository().join("target/example/count-lines");
    let file = folder.join("count-lines.wasm");
    assert!(file.is_file(), "{} is missing: run `cargo xtask prepare`", file.display());
    folder
}

/// A folder with the programs that are no shell.
///
/// # Panics
/// They are not there, or can't be copied.
#[must_use]
pub fn programs() -> PathBuf {
    let (from, to) = (programs_and_shell(), repository().join("target/tmp/programs"));
    fs::create_dir_all(&to).expect("a folder");
    let (file, part) = (to.join("qjs.wasm"), to.join(std::process::id().to_string()));
    if !file.is_file() {
        // Other tests may be at the same.
        fs::copy(from.join("qjs.wasm"), &part).expect("a copy");
        fs::rename(&part, &file).expect("the copy in its place");
    }
    to
}

/// Runs the example's own test in the sandbox: green exits with 0, red with 1.
#[must_use]
pub fn own_test(project: &Path) -> Run {
    let call = r#"{"program": "qjs", "args": ["-m", "test.mjs"]}"#;
    let mut command = innerloop(["tool", "run_program", call]);
    run(command.arg("--workspace").arg(project).arg("--programs").arg(programs()))
}

/// A mock server that gives the example's scripted replies.
///
/// # Panics
/// The script cannot be read.
#[must_use]
pub fn scripted_model() -> Mock {
    let path = repository().join("example/script.json");
    let text = fs::read_to_string(path).expect("the script");
    let messages = Message::script(&text).expect("a script of messages");
    Mock::start(messages.iter().map(Reply::stream).collect())
}

/// Lets the agent mend `project` with the scripted replies, and records the traffic to `file`.
///
/// # Panics
/// Replies are left over.
#[must_use]
pub fn record(project: &Path, file: &Path) -> Run {
    let model = scripted_model();
    let mut command = innerloop(["run", PROMPT, "--apply", "--base-url", &model.url()]);
    command.args(["--vocabulary", "seed"]);
    command.arg("--workspace").arg(project).arg("--programs").arg(programs());
    let run = run(command.arg("--record").arg(file));
    assert_eq!(model.left(), 0, "not all replies were used: {run:#?}");
    run
}
