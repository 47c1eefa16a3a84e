//! `cargo xtask demo`: builds what the main job needs and runs it: a copy of the example project
//! is mended by `innerloop run` from recorded model traffic. That its test was red before and is
//! green after is checked here, outside the agent.

use std::env;
use std::path::PathBuf;
use std::process as own;

use crate::failure::Failure;
use crate::files;
use crate::prepare;
use crate::process;
use crate::steps::{Step, run_all, step};
use crate::workspace::Workspace;

const RUN_TEST: &str = r#"{"program":"qjs","args":["-m","test.mjs"]}"#;
const PROMPT: &str = "Make the tests pass";

/// The main job itself, once the host is built.
pub(crate) const MAIN_JOB: [Step; 4] = [
    step("copy the example project", copy_example),
    step("run its test before: it must fail", test_before),
    step("let the agent mend it", mend),
    step("run its test after: it must pass", test_after),
];

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), Failure> {
    let build = [prepare::GUEST, prepare::PROGRAMS, prepare::HOST];
    let steps = [&prepare::MACHINE[..], &build, &prepare::PACKAGE, &MAIN_JOB];
    run_all(workspace, &steps.concat())?;
    print_end(workspace);
    Ok(())
}

fn copy_example(workspace: &mut Workspace) -> Result<(), Failure> {
    let copy = copy_folder();
    files::remove_folder(&copy)?;
    files::copy_folder(&workspace.path("example/project"), &copy)?;
    println!("{}", copy.display());
    Ok(())
}

fn test_before(workspace: &mut Workspace) -> Result<(), Failure> {
    match run_test(workspace)? {
        TestRun { exit: 1, failed: 1.., .. } => Ok(()),
        TestRun { exit: 0, .. } => Err(Failure("it passes before anything was mended".to_owned())),
        run => Err(Failure(format!("it did not run to its end: {run:?}"))),
    }
}

fn mend(workspace: &mut Workspace) -> Result<(), Failure> {
    let mut innerloop = workspace.program(workspace.innerloop(), "");
    innerloop
        .args(["run", "--apply", "--approve", "all", "--vocabulary", "seed", "--replay"])
        .arg(workspace.path("example/traffic.jsonl"));
    innerloop.arg("--workspace").arg(copy_folder()).arg(PROMPT);
    println!("$ {}", process::line(&innerloop));
    process::run(&mut innerloop)
}

fn test_after(workspace: &mut Workspace) -> Result<(), Failure> {
    let (given, mended) =
        (workspace.path("example/project/test.mjs"), copy_folder().join("test.mjs"));
    if !files::same(&given, &mended) {
        return Err(Failure("the agent changed the test instead of the fault".to_owned()));
    }
    match run_test(workspace)? {
        TestRun { exit: 0, failed: 0, passed: 1.. } => Ok(()),
        run => Err(Failure(format!("it still fails: {run:?}"))),
    }
}

/// What a run of the example's test came to, by its exit code and the lines it printed.
#[derive(Debug)]
struct TestRun {
    exit: i32,
    passed: usize,
    failed: usize,
}

fn run_test(workspace: &Workspace) -> Result<TestRun, Failure> {
    let mut innerloop = workspace.program(workspace.innerloop(), "");
    innerloop.args(["tool", "run_program", RUN_TEST, "--workspace"]).arg(copy_folder());
    println!("$ {}", process::line(&innerloop));
    let (exit, printed) = process::exit_code_and_output(&mut innerloop)?;
    print!("{printed}");
    let starting = |word| printed.lines().filter(|line| line.starts_with(word)).count();
    Ok(TestRun { exit, passed: starting("ok "), failed: starting("not ok ") })
}

fn print_end(workspace: &Workspace) {
    println!(
        "\nChecked by the demo itself, not by the agent: the example's test failed before, it \
         passes now, and it is still the same test.\nThe mended copy is in {}.\n\nNext, on a \
         folder and with a model of your own:\n\n  ANTHROPIC_API_KEY=… {} run --apply \
         --workspace . \"{PROMPT}\"\n",
        copy_folder().display(),
        workspace.innerloop().display(),
    );
}

fn copy_folder() -> PathBuf {
    env::temp_dir().join(format!("innerloop-demo-{}", own::id()))
}
