//! The native build: format, lints, documentation, the host and its tests. Each cargo call names
//! the same packages, so that the dependencies are built once.

use std::env::consts::EXE_EXTENSION;
use std::process::Command;

use crate::failure::TaskError;
use crate::workspace::Workspace;
use crate::{files, machine, process, python};

/// Step: checks that every file is formatted.
///
/// # Errors
/// When one is not; the difference is printed.
pub(crate) fn check_format(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(workspace.cargo("fmt").args(["--all", "--check"]))
        .map_err(|TaskError(reason)| TaskError(format!("{reason}; run `cargo fmt --all`")))
}

/// Step: lints over all packages and targets, warnings denied.
///
/// The binding, the module without imports, the example's tool and the shell are linted for the
/// native target: Debian's toolchain has no clippy for wasm, and the same check must run with
/// either.
///
/// # Errors
/// When there is a warning.
pub(crate) fn lint(workspace: &mut Workspace) -> Result<(), TaskError> {
    let mut clippy = workspace.cargo_native("clippy");
    process::run(clippy.args(["--all-targets", "--", "-D", "warnings"]))?;
    let mut clippy = workspace.cargo("clippy");
    clippy.args(["-p", "innerloop-wasm", "-p", "innerloop-abi", "-p", "xtask-bindgen"]);
    clippy.args(["-p", "innerloop-schema", "-p", "count-lines"]);
    process::run(clippy.args(["--", "-D", "warnings"]))?;
    let mut clippy = workspace.cargo("clippy");
    process::run(clippy.args(["-p", "innerloop-shell", "--", "-D", "warnings"]))
}

/// Step: the documentation of all native packages, warnings denied.
///
/// # Errors
/// When there is a warning.
pub(crate) fn document(workspace: &mut Workspace) -> Result<(), TaskError> {
    let mut doc = workspace.cargo_native("doc");
    process::run(doc.args(["--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Step: builds the program `innerloop`.
///
/// # Errors
/// When the build fails.
pub(crate) fn build_host(workspace: &mut Workspace) -> Result<(), TaskError> {
    println!("the first build compiles wasmtime, which takes up to ten minutes on two cores");
    process::run(workspace.cargo_native("build").args(["--bin", "innerloop"]))
}

/// Step: builds the Rust examples, which the native host's tests run: half a minute.
///
/// # Errors
/// When the build fails.
pub(crate) fn build_examples(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(workspace.cargo_native("build").arg("--examples"))
}

/// Step: runs the examples in the documentation of the native crates.
///
/// # Errors
/// When one fails.
pub(crate) fn test_documentation(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(workspace.cargo_native("test").arg("--doc"))
}

/// Step: builds the program `innerloop` for release, as other people run it: what was known of this
/// machine's folders is not in it.
///
/// # Errors
/// When the build fails.
pub(crate) fn build_release(workspace: &mut Workspace) -> Result<(), TaskError> {
    println!("the first release build compiles wasmtime, up to 15 minutes on two cores");
    let mut flags = workspace.nameless();
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    flags.splice(0..0, given.split_whitespace().map(str::to_owned));
    let mut build = workspace.cargo("build");
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    process::run(build.args(["--release", "--locked", "-p", "innerloop-cli"]))
}

/// The suites that judge how calls in text and the files of skills are read, each with the program
/// that reads for it.
const READINGS: [(&str, &str); 2] =
    [("text-calls", "tests/interop/text_calls.py"), ("skills", "tests/interop/skills.py")];

/// The packages that are tested without the native host.
const LIGHT_PACKAGES: [&str; 9] = [
    "innerloop-json",
    "innerloop-types",
    "innerloop-wire",
    "innerloop-core",
    "innerloop-driver",
    "innerloop-tools",
    "innerloop-tests",
    "innerloop-schema",
    "count-lines",
];

/// Step: builds and runs the tests of everything below the hosts, without wasmtime.
///
/// # Errors
/// When one fails.
pub(crate) fn test_without_host(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(light(workspace, "test").arg("--no-fail-fast"))
}

/// Step: the specification's smoke test through the program.
///
/// # Errors
/// When it fails.
pub(crate) fn test_smoke(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(workspace.cargo_native("test").args(["--test", "host", "--", "smoke::"]))
}

/// The native cargo with a subcommand over all packages below the hosts. They are always named
/// together, so that they are built once.
pub(crate) fn light(workspace: &Workspace, subcommand: &str) -> Command {
    let mut cargo = workspace.cargo(subcommand);
    for package in LIGHT_PACKAGES {
        cargo.args(["-p", package]);
    }
    cargo.args(["--no-default-features", "--features", "innerloop-json/serde"]);
    cargo
}

/// Step: holds how calls in models' text and skills are read against suites from PyPI.
///
/// # Errors
/// When a case is read wrong.
pub(crate) fn test_readings(workspace: &mut Workspace) -> Result<(), TaskError> {
    let bins = READINGS.iter().flat_map(|(reader, _)| ["--bin", reader]);
    process::run(light(workspace, "build").args(bins))?;
    let python = python::with_tools(workspace)?;
    for (reader, suite) in READINGS {
        let reader = workspace.debug().join(reader).with_extension(EXE_EXTENSION);
        process::run(workspace.program(&python, "").arg(suite).arg(reader))?;
    }
    Ok(())
}

/// Step: builds and runs the tests of the native host, of this program, and those that hold our
/// checks beside other crates.
///
/// # Errors
/// When one fails.
pub(crate) fn test_host(workspace: &mut Workspace) -> Result<(), TaskError> {
    let mut test = workspace.cargo_native("test");
    test.args(["--no-fail-fast", "--lib", "--bins", "--test", "host", "--test", "oracle"]);
    run_tests(workspace, &mut test)
}

/// Runs tests, and notes what they skip.
fn run_tests(workspace: &mut Workspace, tests: &mut Command) -> Result<(), TaskError> {
    let file = workspace.path("target/skipped.txt");
    files::write_if_changed(&file, b"")?;
    let result = process::run(tests.env("INNERLOOP_SKIPPED", &file));
    let lines = files::read(&file)?;
    workspace.skipped.extend(String::from_utf8_lossy(&lines).lines().map(str::to_owned));
    result
}

/// Step: runs the benches of the session core, built for release and without wasmtime.
///
/// # Errors
/// When they do not build or run.
pub(crate) fn bench(workspace: &mut Workspace) -> Result<(), TaskError> {
    process::run(&mut benches(workspace))
}

/// Step: runs the benches of the program `innerloop`, built for release: what it costs, its
/// searching beside ripgrep, and command lines beside bash.
///
/// # Errors
/// When they do not build or run, or there is no ripgrep and none can be installed.
pub(crate) fn bench_program(workspace: &mut Workspace) -> Result<(), TaskError> {
    let rg = machine::find_rg(workspace)?;
    println!(
        "the first release build compiles wasmtime, which takes up to 15 minutes on two cores"
    );
    let mut build = workspace.cargo("build");
    process::run(build.args(["--release", "-p", "innerloop-cli"]))?;
    process::run(benches(workspace).args(["--", "program"]).arg(rg))?;
    // Together with the host, so that features agree.
    let mut build = workspace.cargo("build");
    build.args(["--release", "-p", "innerloop-cli", "-p", "innerloop-tests"]);
    process::run(build.args(["--bin", "bench-shell"]))?;
    process::run(&mut workspace.program(workspace.release().join("bench-shell"), ""))
}

/// The benches, built for release.
pub(crate) fn benches(workspace: &Workspace) -> Command {
    let mut cargo = workspace.cargo("run");
    cargo.args(["--release", "-p", "innerloop-tests", "--no-default-features", "--bin", "bench"]);
    cargo
}
