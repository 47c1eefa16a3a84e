//! `cargo xtask demo`: builds what the main job needs and runs it: a copy of an example project is
//! fixed by `innerloop run` from recorded model traffic. That its tests were red before and are
//! green after is checked here, outside the agent.

use std::env;
use std::path::PathBuf;
use std::process::{self as own, Command};

use crate::failure::TaskError;
use crate::files;
use crate::prepare;
use crate::process;
use crate::programs;
use crate::steps::{TaskStep, run_all, step};
use crate::workspace::Workspace;

const PROMPT: &str = "Make the tests pass";

const BEFORE: &str = "run its tests before: they must fail";
const FIX: &str = "let the agent fix it";
const AFTER: &str = "run its tests after: they must pass";

/// The main job itself, once the host is built.
pub(crate) const MAIN_JOB: [TaskStep; 4] = [
    step("copy the example project", |workspace| JAVASCRIPT.copy(workspace)),
    step(BEFORE, |workspace| JAVASCRIPT.test_before(workspace)),
    step(FIX, |workspace| JAVASCRIPT.fix(workspace)),
    step(AFTER, |workspace| JAVASCRIPT.test_after(workspace)),
];

/// The same with Python, once the shell is built and Python installed, too.
pub(crate) const PYTHON_JOB: [TaskStep; 4] = [
    step("copy the example project in Python", |workspace| PYTHON.copy(workspace)),
    step(BEFORE, |workspace| PYTHON.test_before(workspace)),
    step(FIX, |workspace| PYTHON.fix(workspace)),
    step(AFTER, |workspace| PYTHON.test_after(workspace)),
];

/// An example: a project with a fault, and the recording that fixes it.
struct DemoProject {
    /// Its folder in the repository.
    folder: &'static str,
    /// The beginning of the name of its copy.
    copy: &'static str,
    /// The files of its tests, which the agent must leave alone.
    tests: &'static [&'static str],
    /// The call of `run_program` that runs them.
    run_tests: &'static str,
    /// The function that reads a line of what they print: `Some(true)` if it tells of a test that
    /// passed, `Some(false)` if it tells of one that failed.
    verdict: fn(&str) -> Option<bool>,
    /// The built program, with all that it needs.
    innerloop: fn(&Workspace) -> Command,
    /// The arguments of `innerloop` for what its user does once before a run of their own.
    install: Option<&'static str>,
}

const JAVASCRIPT: DemoProject = DemoProject {
    folder: "example",
    copy: "innerloop-demo",
    tests: &["test.mjs"],
    run_tests: r#"{"program":"qjs","args":["-m","test.mjs"]}"#,
    verdict: |line| {
        let failed = line.starts_with("not ok ");
        (failed || line.starts_with("ok ")).then_some(!failed)
    },
    innerloop: |workspace| workspace.program(workspace.innerloop(), ""),
    install: None,
};

const PYTHON: DemoProject = DemoProject {
    folder: "example/python",
    copy: "innerloop-demo-python",
    tests: &["tests/__init__.py", "tests/test_money.py", "tests/test_report.py"],
    run_tests: r#"{"program":"python","args":["-m","unittest","-v"]}"#,
    verdict: |line| {
        let failed = [" ... FAIL", " ... ERROR"].iter().any(|end| line.ends_with(end));
        (failed || line.ends_with(" ... ok")).then_some(!failed)
    },
    innerloop: programs::innerloop,
    install: Some("tools install python"),
};

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    let build = [&prepare::CARRIED[..], &[prepare::HOST]].concat();
    let steps = [&prepare::MACHINE[..], &build, &prepare::PACKAGE, &MAIN_JOB];
    run_all(workspace, &steps.concat())?;
    JAVASCRIPT.print_end(workspace);
    Ok(())
}

/// Runs the command with `--python`, which needs nothing of the npm package.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run_python(workspace: &mut Workspace) -> Result<(), TaskError> {
    let host = [prepare::HOST, prepare::INSTALLED_PYTHON];
    let build = [&prepare::CARRIED[..], &host].concat();
    run_all(workspace, &[&prepare::MACHINE[..], &build, &PYTHON_JOB].concat())?;
    PYTHON.print_end(workspace);
    Ok(())
}

impl DemoProject {
    fn copy(&self, workspace: &Workspace) -> Result<(), TaskError> {
        let copy = self.copy_folder();
        files::remove_folder(&copy)?;
        files::copy_folder(&self.project(workspace), &copy)?;
        println!("{}", copy.display());
        Ok(())
    }

    fn test_before(&self, workspace: &Workspace) -> Result<(), TaskError> {
        match self.run_tests(workspace)? {
            TestRun { exit: 1, failed: 1.., .. } => Ok(()),
            TestRun { exit: 0, .. } => {
                Err(TaskError("they pass before anything was fixed".to_owned()))
            }
            run => Err(TaskError(format!("they did not run to their end: {run:?}"))),
        }
    }

    fn fix(&self, workspace: &Workspace) -> Result<(), TaskError> {
        let mut innerloop = (self.innerloop)(workspace);
        innerloop
            .args(["run", "--no-settings", "--apply", "--approve", "all", "--vocabulary", "seed"])
            .arg("--replay")
            .arg(workspace.path(self.folder).join("traffic.jsonl"));
        innerloop.arg("--workspace").arg(self.copy_folder()).arg(PROMPT);
        println!("$ {}", process::line_with_environment(&innerloop));
        process::run(&mut innerloop)
    }

    fn test_after(&self, workspace: &Workspace) -> Result<(), TaskError> {
        for test in self.tests {
            let (given, fixed) =
                (self.project(workspace).join(test), self.copy_folder().join(test));
            if !files::same(&given, &fixed) {
                let why = format!("the agent changed {test} instead of the fault");
                return Err(TaskError(why));
            }
        }
        match self.run_tests(workspace)? {
            TestRun { exit: 0, failed: 0, passed: 1.. } => Ok(()),
            run => Err(TaskError(format!("they still fail: {run:?}"))),
        }
    }

    fn run_tests(&self, workspace: &Workspace) -> Result<TestRun, TaskError> {
        let mut innerloop = (self.innerloop)(workspace);
        innerloop.args(["tool", "run_program", self.run_tests, "--workspace"]);
        innerloop.arg(self.copy_folder());
        println!("$ {}", process::line_with_environment(&innerloop));
        let (exit, printed) = process::exit_code_and_output(&mut innerloop)?;
        print!("{printed}");
        let is =
            |passed| printed.lines().filter(|line| (self.verdict)(line) == Some(passed)).count();
        Ok(TestRun { exit, passed: is(true), failed: is(false) })
    }

    fn print_end(&self, workspace: &Workspace) {
        let innerloop = workspace.innerloop();
        let innerloop = innerloop.display();
        let install = self.install.map(|install| format!("  {innerloop} {install}\n"));
        println!(
            "\nChecked by the demo itself, not by the agent: the example's tests failed before, \
             they pass now, and they are still the same tests.\nThe fixed copy is in {}.\n\nNext, \
             on a folder and with a model of your own:\n\n{}  ANTHROPIC_API_KEY=… {innerloop} run \
             --apply --workspace . \"{PROMPT}\"\n",
            self.copy_folder().display(),
            install.unwrap_or_default(),
        );
    }

    fn project(&self, workspace: &Workspace) -> PathBuf {
        workspace.path(self.folder).join("project")
    }

    fn copy_folder(&self) -> PathBuf {
        env::temp_dir().join(format!("{}-{}", self.copy, own::id()))
    }
}

/// The result of a run of the example's tests, by its exit code and the lines that it printed.
#[derive(Debug)]
struct TestRun {
    exit: i32,
    passed: usize,
    failed: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_a_test_or_of_none() {
        for (demo, line, verdict) in [
            (JAVASCRIPT, "ok 1 - amounts are read as cents", Some(true)),
            (JAVASCRIPT, "not ok 3 - percentages: expected 1, got 0", Some(false)),
            (JAVASCRIPT, "11 of 11 passed", None),
            (PYTHON, "test_cents (tests.test_money.ParseTest.test_cents) ... ok", Some(true)),
            (PYTHON, "  test_spending (tests.test_money.ParseTest) [-3.20] ... FAIL", Some(false)),
            (
                PYTHON,
                "test_report (unittest.loader._FailedTest.test_report) ... ERROR",
                Some(false),
            ),
            (PYTHON, "test_spending (tests.test_money.ParseTest.test_spending) ... ", None),
            (PYTHON, "OK", None),
        ] {
            assert_eq!((demo.verdict)(line), verdict, "{line}");
        }
    }
}
