//! The Python package: the modules put into it, the wheel built, its types checked, and its tests
//! run with each Python that there is.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::abi;
use crate::failure::TaskError;
use crate::files;
use crate::machine;
use crate::package::{TEXTS, VERSION};
use crate::process;
use crate::steps::{TaskStep, step, test_step};
use crate::wasm::GUEST;
use crate::workspace::Workspace;

/// The package's folder.
const PACKAGE: &str = "python";
/// The folder of the wheel, and of the environments of its tests.
const TARGET: &str = "target/python";
/// The packages that build and check the package; their versions are pinned, so that they do the
/// same anywhere.
const TOOLS: [&str; 8] = [
    "canitoolcall==0.1.1",
    "flit-core==3.12.0",
    "httpx==0.28.1",
    "mypy==2.4.1",
    "pyright==1.1.414",
    "ruff==0.17.6",
    "skills-ref==0.1.1",
    "wasmtime==50.0.1",
];
/// The folders that are formatted and checked, as seen from the package.
const SOURCES: [&str; 3] = [".", "../examples", "../tests/interop"];
/// The packages that the wheel alone needs.
const BARE: [&str; 1] = ["wasmtime==50.0.1"];
/// The most bytes that the wheel may have.
const BUDGET: usize = 800_000;
/// The Pythons that the package is for.
const VERSIONS: [&str; 4] = ["3.10", "3.11", "3.12", "3.13"];

/// Builds the wheel, of the modules that were built before.
pub(crate) const WHEEL: TaskStep = step("build the Python package", build_wheel);
/// Checks its sources.
pub(crate) const CHECKED: TaskStep =
    step("check format, lints and types of the Python package", check);
/// Tests it.
pub(crate) const TESTED: TaskStep = test_step("test the Python package", test);

fn build_wheel(workspace: &mut Workspace) -> Result<(), TaskError> {
    let inside = workspace.path(PACKAGE).join("innerloop");
    for module in [abi::CORE, GUEST] {
        let name = module.rsplit('/').next().unwrap_or(module);
        files::copy_if_changed(&workspace.path(module), &inside.join(name))?;
    }
    for text in TEXTS.iter().filter(|text| text.starts_with("LICENSE")) {
        files::copy_if_changed(&workspace.path(text), &workspace.path(PACKAGE).join(text))?;
    }
    let python = with_tools(workspace)?;
    let mut pip = pip(workspace, &python);
    pip.args(["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", TARGET]);
    process::run(pip.arg(format!("./{PACKAGE}")))?;
    let size = files::read(&wheel(workspace))?.len();
    println!("{}: {size} bytes of at most {BUDGET}", wheel(workspace).display());
    match size <= BUDGET {
        true => Ok(()),
        false => Err(TaskError(format!("the wheel has {size} bytes, more than {BUDGET}"))),
    }
}

fn check(workspace: &mut Workspace) -> Result<(), TaskError> {
    let python = with_tools(workspace)?;
    for arguments in [&["format", "--check"][..], &["check"]] {
        let mut ruff = workspace.program(&python, PACKAGE);
        ruff.args(["-m", "ruff"]).args(arguments);
        ruff.args([
            "--quiet",
            "--config",
            "pyproject.toml",
            "--cache-dir",
            "../target/python/ruff",
        ]);
        process::run(ruff.args(SOURCES))?;
    }
    let mut mypy = workspace.program(python, PACKAGE);
    mypy.args(["-m", "mypy", "--cache-dir", "../target/python/mypy"]);
    process::run(&mut mypy)
}

/// Runs the tests over the installed wheel: all of them with the Python of this machine, those
/// without kills with the others, where httpx is missing on purpose.
fn test(workspace: &mut Workspace) -> Result<(), TaskError> {
    let python = with_tools(workspace)?;
    test_with(workspace, &python, "test_*.py")?;
    let mut missing = Vec::new();
    for version in VERSIONS {
        let name = format!("python{version}");
        let mut asked = workspace.program(&name, "");
        // Where pyenv keeps several, this picks one.
        asked.env("PYENV_VERSION", version).args(["-c", "import sys; print(sys.executable)"]);
        let Ok(found) = process::capture(&mut asked) else {
            missing.push(version);
            continue;
        };
        println!("with Python {version}");
        let python = environment(workspace, &found, version, &BARE)?;
        test_with(workspace, &python, "test_[ast]*.py")?;
    }
    if !missing.is_empty() {
        println!(
            "left out: the same tests with Python {}, which are not here; `pyenv install` or \
             `uv python install` brings them",
            missing.join(" and ")
        );
    }
    Ok(())
}

/// The Python of this machine in an environment with the tools.
///
/// # Errors
/// When there is none and none can be made.
pub(crate) fn with_tools(workspace: &Workspace) -> Result<PathBuf, TaskError> {
    environment(workspace, "python3", "venv", &TOOLS)
}

/// The Python of this machine in an environment that has the package.
///
/// # Errors
/// When there is none and none can be made.
pub(crate) fn with_package(workspace: &Workspace) -> Result<PathBuf, TaskError> {
    let python = with_tools(workspace)?;
    install(workspace, &python)?;
    Ok(python)
}

fn install(workspace: &Workspace, python: &Path) -> Result<(), TaskError> {
    let mut pip = pip(workspace, python);
    pip.args(["install", "--quiet", "--no-deps", "--force-reinstall"]);
    process::run(pip.arg(wheel(workspace)))
}

fn test_with(workspace: &Workspace, python: &Path, pattern: &str) -> Result<(), TaskError> {
    install(workspace, python)?;
    let mut tests = workspace.program(python, "python/tests");
    // Warnings of the library are faults: a task that nobody awaits, a file that stays open.
    tests.args(["-W", "error::RuntimeWarning", "-W", "error::ResourceWarning"]);
    tests.args(["-m", "unittest", "discover", "--pattern", pattern]);
    process::run(&mut tests)
}

fn wheel(workspace: &Workspace) -> PathBuf {
    workspace.path(TARGET).join(format!("innerloop-{VERSION}-py3-none-any.whl"))
}

fn pip(workspace: &Workspace, python: &Path) -> Command {
    let mut pip = workspace.program(python, "");
    pip.args(["-m", "pip", "--disable-pip-version-check"]);
    pip
}

/// The Python of an environment below `target`, made with a Python of the machine, with these
/// packages in it.
fn environment(
    workspace: &Workspace,
    python: &str,
    name: &str,
    packages: &[&str],
) -> Result<PathBuf, TaskError> {
    let root = workspace.path(TARGET).join(name);
    let own = root.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let seen = root.join("installed.txt");
    let wanted = packages.join("\n");
    if own.is_file() && files::read(&seen).is_ok_and(|old| old == wanted.as_bytes()) {
        return Ok(own);
    }
    println!("installing {} from PyPI into {} (a minute)", packages.join(", "), root.display());
    let make = || process::run(workspace.program(python, "").args(["-m", "venv"]).arg(&root));
    if make().is_err() {
        let why = "an environment for the tests of the Python package";
        machine::install(&["python3-venv"], why, "a few seconds")?;
        make()?;
    }
    process::run(pip(workspace, &own).args(["install", "--quiet"]).args(packages))?;
    files::write_if_changed(&seen, wanted.as_bytes())?;
    Ok(own)
}
