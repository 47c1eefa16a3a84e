//! What the machine must have: compilers, Node, Python, Debian packages, a browser. Looks, says
//! what is missing, installs what it can, and otherwise names the exact command.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::TaskError;
use crate::process;
use crate::workspace::Workspace;

/// The oldest Node that runs the package and its tests.
const NODE: u32 = 20;
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Step: looks for what must be there from the start, and says what is.
///
/// # Errors
/// When something is missing that cannot be installed, or is too old.
pub(crate) fn look(workspace: &mut Workspace) -> Result<(), TaskError> {
    let rustc = process::capture(workspace.program("rustc", "").arg("--version"))?;
    println!("rust: {rustc}");
    if process::on_path("cc").is_none() {
        install(&["gcc", "libc6-dev"], "a C compiler and linker", "50 MB, half a minute")?;
    }
    if process::on_path("node").is_none() || process::on_path("npm").is_none() {
        install(&["nodejs", "npm"], "Node and npm for the package", "150 MB, two minutes")?;
    }
    let node = node_name()?;
    let npm = process::capture(workspace.program("npm", "").arg("--version"))?;
    println!("node: {node}, npm {npm}");
    if major(&node) < NODE {
        return Err(TaskError(format!(
            "Node {NODE} or newer is needed, this is {node}; install it from https://nodejs.org"
        )));
    }
    if !answers("python3", &["-m", "pip", "--version"]) {
        install(&["python3", "python3-pip"], "pip, which brings the programs", "one minute")?;
    }
    println!("python: {}", process::capture(Command::new("python3").arg("--version"))?);
    Ok(())
}

/// The main version of the machine's Node.
///
/// # Errors
/// When there is none.
pub(crate) fn node_version() -> Result<u32, TaskError> {
    Ok(major(&node_name()?))
}

/// Ensures that a program is there, which is in one of these packages of Debian.
///
/// # Errors
/// When it is not.
pub(crate) fn need(program: &str, packages: &str) -> Result<(), TaskError> {
    match process::on_path(program) {
        Some(_) => Ok(()),
        None => Err(TaskError(format!("there is no {program} here: apt-get install {packages}"))),
    }
}

/// Step: ensures that `cargo fmt` and `cargo clippy` are installed.
///
/// # Errors
/// When one is missing and rustup cannot add it.
pub(crate) fn look_for_lints(workspace: &mut Workspace) -> Result<(), TaskError> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let there =
            |workspace: &Workspace| process::capture(workspace.cargo(subcommand).arg("--version"));
        if there(workspace).is_err() {
            println!("{component}: installing it by rustup (a few seconds)");
            process::run(workspace.program("rustup", "").args(["component", "add", component]))?;
        }
        println!("{component}: {}", there(workspace)?);
    }
    Ok(())
}

/// Step: finds the browser of the page test, or installs it, and notes it in the workspace.
///
/// # Errors
/// When `CHROMIUM` names no program, or there is no browser and none can be installed.
pub(crate) fn look_for_chromium(workspace: &mut Workspace) -> Result<(), TaskError> {
    if let Some(named) = env::var_os("CHROMIUM").filter(|value| !value.is_empty()) {
        let file = PathBuf::from(named);
        if !file.is_file() {
            return Err(TaskError(format!("CHROMIUM names no file: {}", file.display())));
        }
        println!("browser: {}", file.display());
        workspace.chromium = Some(file);
        return Ok(());
    }
    if browser().is_none() {
        let why = "the browser of the page test";
        install(&["chromium"], why, "150 MB to download, about two minutes")?;
    }
    let Some(file) = browser() else {
        return Err(TaskError("chromium is not on PATH; set CHROMIUM to a browser".to_owned()));
    };
    println!("browser: {}", file.display());
    workspace.chromium = Some(file);
    Ok(())
}

/// Step: looks for bubblewrap, or installs it. Where it does not work, the tests that want it say
/// so, and the command names them at its end.
///
/// # Errors
/// Never: what it is for can be skipped.
pub(crate) fn look_for_bubblewrap(_: &mut Workspace) -> Result<(), TaskError> {
    if !cfg!(target_os = "linux") {
        println!("bubblewrap: only on Linux");
        return Ok(());
    }
    if process::on_path("bwrap").is_none() {
        let why = "bubblewrap, which confines commands of the machine itself";
        if let Err(TaskError(reason)) = install(&["bubblewrap"], why, "50 kB, some seconds") {
            println!("{reason}");
        }
    }
    let mut bubblewrap = Command::new("bwrap");
    bubblewrap.args(["--unshare-all", "--ro-bind", "/", "/", "true"]);
    match process::capture(&mut bubblewrap) {
        Ok(_) => println!("bubblewrap: it works"),
        Err(TaskError(reason)) => println!("{reason}\nbubblewrap: tests inside of it are skipped"),
    }
    Ok(())
}

/// Finds ripgrep, or builds it below the workspace's `target`.
///
/// # Errors
/// When there is none and it cannot be built.
pub(crate) fn find_rg(workspace: &Workspace) -> Result<PathBuf, TaskError> {
    const ROOT: &str = "target/rg";
    let own = workspace.path(ROOT).join("bin/rg");
    if let Some(found) = process::on_path("rg").or_else(|| own.is_file().then(|| own.clone())) {
        println!("ripgrep: {}", found.display());
        return Ok(found);
    }
    println!("ripgrep: building it, to measure beside it (three minutes on two cores)");
    let mut install = workspace.cargo("install");
    install.args(["ripgrep", "--locked", "--root", ROOT]);
    process::run(&mut install).map_err(|TaskError(reason)| {
        TaskError(format!("{reason}\nreading can't be measured without ripgrep; put `rg` on PATH"))
    })?;
    Ok(own)
}

/// Installs Debian packages, those that are missing, after saying what, why and how long.
///
/// # Errors
/// When there is no apt-get, no right to use it, or it fails; the reason names the command.
pub(crate) fn install(packages: &[&str], why: &str, how_long: &str) -> Result<(), TaskError> {
    let missing = missing_packages(packages);
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    let by_hand = format!("apt-get update && apt-get install -y --no-install-recommends {names}");
    if process::on_path("apt-get").is_none() {
        return Err(TaskError(format!(
            "missing: {why} (Debian packages {names}); there is no apt-get here, so install \
             their equals by hand"
        )));
    }
    println!("installing {names}: {why} ({how_long})");
    let Some((mut update, mut install)) = apt_get().zip(apt_get()) else {
        return Err(TaskError(format!("not root and no sudo; run as root: `{by_hand}`")));
    };
    // One dead source makes the update fail, although the packages may be available.
    if let Err(TaskError(reason)) = process::capture(update.arg("update")) {
        println!("{reason}; trying with the lists as they are");
    }
    install.args(["install", "-y", "--no-install-recommends"]).args(&missing);
    process::capture(&mut install)
        .map_err(|TaskError(reason)| TaskError(format!("{reason}\nrun as root: `{by_hand}`")))?;
    Ok(())
}

/// Those of the Debian packages that are not installed; all of them where there is no dpkg.
pub(crate) fn missing_packages<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let installed = |package: &str| {
        let mut query = Command::new("dpkg-query");
        query.args(["-W", "-f=${db:Status-Status}", package]);
        process::capture(&mut query).is_ok_and(|status| status == "installed")
    };
    packages.iter().copied().filter(|package| !installed(package)).collect()
}

fn apt_get() -> Option<Command> {
    let root = process::capture(Command::new("id").arg("-u")).is_ok_and(|id| id == "0");
    let mut command = if root {
        Command::new("apt-get")
    } else {
        process::on_path("sudo")?;
        let mut sudo = Command::new("sudo");
        sudo.arg("apt-get");
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    Some(command)
}

fn browser() -> Option<PathBuf> {
    BROWSERS.iter().find_map(|name| process::on_path(name))
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    process::capture(Command::new(program).args(arguments)).is_ok()
}

fn node_name() -> Result<String, TaskError> {
    process::capture(Command::new("node").arg("--version"))
}

fn major(version: &str) -> u32 {
    let digits = version.trim_start_matches('v').split('.').next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}
