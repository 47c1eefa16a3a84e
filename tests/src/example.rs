//! The example projects and their recordings.

use crate::{
    anthropic::Message,
    mock::{Mock, Reply},
    program::{Run, innerloop, repository, run},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the agent is told to do in an example.
pub const PROMPT: &str = "Make the tests pass";

/// A project with a fault, the script of a model that fixes it, and the recorded traffic.
#[derive(Debug)]
pub struct Example {
    /// Its folder in the repository.
    folder: &'static str,
    /// The call of `run_program` that runs the project's own tests.
    test: &'static str,
    /// Which programs there are.
    programs: fn(&mut Command),
}

/// The example in JavaScript.
pub const JAVASCRIPT: Example = Example {
    folder: "example",
    test: r#"{"program": "qjs", "args": ["-m", "test.mjs"]}"#,
    programs: |command| {
        command.arg("--programs").arg(programs());
    },
};

/// The example in Python, for which there are the shell and what a user has installed.
pub const PYTHON: Example = Example {
    folder: "example/python",
    test: r#"{"program": "python", "args": ["-m", "unittest"]}"#,
    programs: |command| {
        command.env("XDG_DATA_HOME", data_home());
    },
};

impl Example {
    /// The recording of its model traffic.
    #[must_use]
    pub fn recording(&self) -> PathBuf {
        repository().join(self.folder).join("traffic.jsonl")
    }

    /// A copy of its project, in the folder `to`, which must not exist.
    ///
    /// # Panics
    /// It cannot be copied.
    pub fn copy_project(&self, to: &Path) {
        copy(&repository().join(self.folder).join("project"), to);
    }

    /// Runs the project's own tests in the sandbox: green exits with 0, red with 1.
    #[must_use]
    pub fn own_test(&self, project: &Path) -> Run {
        run(self.over(&mut innerloop(["tool", "run_program", self.test]), project))
    }

    /// A mock server that gives the scripted replies.
    ///
    /// # Panics
    /// The script cannot be read.
    #[must_use]
    pub fn scripted_model(&self) -> Mock {
        let path = repository().join(self.folder).join("script.json");
        let text = fs::read_to_string(path).expect("the script");
        let messages = Message::script(&text).expect("a script of messages");
        Mock::start(messages.iter().map(Reply::stream).collect())
    }

    /// Lets the agent fix `project` with the scripted replies, and records the traffic to `file`.
    ///
    /// # Panics
    /// Replies are left over.
    #[must_use]
    pub fn record(&self, project: &Path, file: &Path) -> Run {
        let model = self.scripted_model();
        let mut command = innerloop(["run", PROMPT, "--apply", "--base-url", &model.url()]);
        command.args(["--vocabulary", "seed", "--record"]).arg(file);
        let run = run(self.over(&mut command, project));
        assert_eq!(model.left(), 0, "not all replies were used: {run:#?}");
        run
    }

    /// What is kept of a fresh recording: the exchanges, without the first line. The page plays
    /// them as they are.
    ///
    /// # Panics
    /// It cannot be read.
    #[must_use]
    pub fn exchanges(fresh: &Path) -> String {
        let text = fs::read_to_string(fresh).expect("a recording");
        text.split_once('\n').expect("a first line").1.to_owned()
    }

    /// Replays a recording on `project`, with neither key nor network.
    #[must_use]
    pub fn replay(&self, project: &Path, file: &Path, prompt: &str) -> Run {
        let mut command = innerloop(["run", prompt, "--apply", "--vocabulary", "seed"]);
        command.env_remove("ANTHROPIC_API_KEY").env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
        run(self.over(command.arg("--replay").arg(file), project))
    }

    /// The command, over that project and with the example's programs.
    fn over<'a>(&self, command: &'a mut Command, project: &Path) -> &'a mut Command {
        (self.programs)(command);
        command.arg("--workspace").arg(project)
    }
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
        assert!(file.is_file(), "{} is missing: run `cargo xtask test all`", file.display());
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
    assert!(file.is_file(), "{} is missing: run `cargo xtask test all`", file.display());
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
    assert!(file.is_file(), "{} is missing: run `cargo xtask test all`", file.display());
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
    assert!(file.is_file(), "{} is missing: run `cargo xtask test all`", file.display());
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
