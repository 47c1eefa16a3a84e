//! `cargo xtask demo`: builds what the main job needs and runs it: a copy of the example project
//! is mended by `innerloop run` from recorded model traffic. That its test was red before and is
//! green after is checked here, outside the agent.

use std::env;
use std::path::PathBuf;
use std::process::{self as own, Command};

use crate::files;
use crate::house::House;
use crate::prepare;
use crate::process;
use crate::steps::{Failure, run_all, step};

const RUN_TEST: &str = r#"{"program":"qjs","args":["-m","test.mjs"]}"#;
const PROMPT: &str = "Make the tests pass";

/// Runs the command.
///
/// # Errors
/// The first step's that fails.
pub(crate) fn run(house: &mut House) -> Result<(), Failure> {
    let own = [
        step("copy the example project", copy_example),
        step("run its test before: it must fail", test_before),
        step("let the agent mend it", mend),
        step("run its test after: it must pass", test_after),
    ];
    let build = [prepare::GUEST, prepare::PROGRAMS, prepare::HOST];
    let steps = [&prepare::MACHINE[..], &build, &prepare::PACKAGE, &own];
    run_all(house, &steps.concat())?;
    print_end(house);
    Ok(())
}

fn copy_example(house: &mut House) -> Result<(), Failure> {
    let copy = copy_folder();
    files::remove_folder(&copy)?;
    files::copy_folder(&house.path("example/project"), &copy)?;
    println!("{}", copy.display());
    Ok(())
}

fn test_before(house: &mut House) -> Result<(), Failure> {
    match process::exit_code(&mut test_command(house))? {
        1 => Ok(()),
        0 => Err(Failure("the test passes before anything was mended".to_owned())),
        code => Err(Failure(format!("the test did not run: exit code {code}"))),
    }
}

fn mend(house: &mut House) -> Result<(), Failure> {
    let mut innerloop = house.program(&house.innerloop().to_string_lossy(), "");
    innerloop.args(["run", "--apply", "--replay"]).arg(house.path("example/traffic.jsonl"));
    innerloop.arg("--workspace").arg(copy_folder()).arg(PROMPT);
    println!("$ {}", process::line(&innerloop));
    process::run(&mut innerloop)
}

fn test_after(house: &mut House) -> Result<(), Failure> {
    match process::exit_code(&mut test_command(house))? {
        0 => Ok(()),
        code => Err(Failure(format!("the test still fails: exit code {code}"))),
    }
}

fn test_command(house: &House) -> Command {
    let mut innerloop = house.program(&house.innerloop().to_string_lossy(), "");
    innerloop.args(["tool", "run_program", RUN_TEST, "--workspace"]).arg(copy_folder());
    println!("$ {}", process::line(&innerloop));
    innerloop
}

fn print_end(house: &House) {
    println!(
        "\nThe example's test failed before and passes now; both runs were in the sandbox, by the \
         demo itself and not by the agent.\nThe mended copy is in {}.\n\nNext, on a folder and \
         with a model of your own:\n\n  ANTHROPIC_API_KEY=… {} run --apply --workspace . \
         \"Make the tests pass\"\n",
        copy_folder().display(),
        house.innerloop().display(),
    );
}

fn copy_folder() -> PathBuf {
    env::temp_dir().join(format!("innerloop-demo-{}", own::id()))
}
