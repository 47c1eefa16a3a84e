//! Finds the way to build for wasm, or for other systems, that works on this machine, and installs
//! what it needs.

use std::env;
use std::path::Path;
use std::time::Duration;

use crate::failure::TaskError;
use crate::machine;
use crate::process;
use crate::toolchain::{PAGE, WASI, WasmToolchain};
use crate::workspace::Workspace;

const CHOICE: &str = "INNERLOOP_WASM_TOOLCHAIN";

/// Targets that are built for together, and what has to be installed for them.
pub(crate) struct TargetSet {
    /// The purpose of the targets, in a word or two.
    pub(crate) purpose: &'static str,
    pub(crate) names: &'static [&'static str],
    /// True if the standard library is built for one of them, from its source.
    pub(crate) from_source: bool,
    /// The size of rustup's download, and the time that it takes.
    pub(crate) size: &'static str,
    /// The packages by which Debian builds for them.
    pub(crate) debian: &'static [&'static str],
}

const WASM: TargetSet = TargetSet {
    purpose: "wasm",
    names: &[PAGE, WASI],
    from_source: true,
    size: "50 MB; half a minute",
    debian: &["rustc-web", "cargo-web", "rust-web-src", "lld-19", "wasi-libc"],
};

/// Step: finds a way to build for wasm, installing what it needs, and notes it in the workspace.
///
/// # Errors
/// When neither way works and neither can be installed.
pub(crate) fn find(workspace: &mut Workspace) -> Result<(), TaskError> {
    workspace.toolchain = Some(choose(workspace, &WASM)?);
    Ok(())
}

/// Finds a way to build for targets, installing what it needs, and says which.
///
/// # Errors
/// When neither way works and neither can be installed.
pub(crate) fn choose(
    workspace: &Workspace,
    targets: &TargetSet,
) -> Result<WasmToolchain, TaskError> {
    let toolchain = match env::var(CHOICE).as_deref() {
        Ok("rustup") if installed(workspace, targets) || add(workspace, targets) => {
            WasmToolchain::Rustup
        }
        Ok("rustup") => {
            return Err(TaskError(format!(
                "{CHOICE} says rustup, but its targets for {} are missing; run `{}`",
                targets.purpose,
                add_line(targets)
            )));
        }
        Ok("debian") => install_debian(targets)?,
        Ok("") | Err(_) => choose_freely(workspace, targets)?,
        Ok(other) => {
            return Err(TaskError(format!("{CHOICE} is {other:?}; it knows rustup and debian")));
        }
    };
    let TargetSet { purpose, names, .. } = targets;
    match toolchain {
        WasmToolchain::Rustup => println!("{purpose}: rustup's targets {}", names.join(" and ")),
        WasmToolchain::Debian => {
            println!("{purpose}: Debian's rustc, standard library from source");
        }
    }
    Ok(toolchain)
}

fn choose_freely(workspace: &Workspace, targets: &TargetSet) -> Result<WasmToolchain, TaskError> {
    if installed(workspace, targets) {
        return Ok(WasmToolchain::Rustup);
    }
    if machine::missing_packages(targets.debian).is_empty() {
        return Ok(WasmToolchain::Debian);
    }
    if add(workspace, targets) {
        return Ok(WasmToolchain::Rustup);
    }
    install_debian(targets)
}

fn installed(workspace: &Workspace, targets: &TargetSet) -> bool {
    let is_there = |print: &[&str], below: &str| {
        let folder = process::capture(workspace.program("rustc", "").arg("--print").args(print));
        folder.is_ok_and(|folder| Path::new(&folder).join(below).is_dir())
    };
    let mut names = targets.names.iter();
    names.all(|target| is_there(&["target-libdir", "--target", target], ""))
        && (!targets.from_source || is_there(&["sysroot"], "lib/rustlib/src/rust/library/std"))
}

fn add(workspace: &Workspace, targets: &TargetSet) -> bool {
    let TargetSet { purpose, names, size, .. } = targets;
    if process::on_path("rustup").is_none() {
        println!("{purpose}: no rustup on PATH, so no targets from there");
        return false;
    }
    println!("{purpose}: installing the targets {} by rustup ({size})", names.join(" and "));
    let added = additions(targets).iter().all(|arguments| {
        let mut rustup = workspace.program("rustup", "");
        rustup.args(arguments).env("RUSTUP_MAX_RETRIES", "1");
        process::succeeds_within(&mut rustup, Duration::from_secs(120))
    });
    if !added {
        println!("{purpose}: `{}` did not succeed; trying Debian's packages", add_line(targets));
    }
    added && installed(workspace, targets)
}

/// Returns what rustup is to be told.
fn additions(targets: &TargetSet) -> Vec<Vec<&'static str>> {
    let add = [&["target", "add"], targets.names].concat();
    let source = targets.from_source.then(|| vec!["component", "add", "rust-src"]);
    [add].into_iter().chain(source).collect()
}

fn add_line(targets: &TargetSet) -> String {
    let lines = additions(targets);
    lines.iter().map(|line| format!("rustup {}", line.join(" "))).collect::<Vec<_>>().join(" && ")
}

fn install_debian(targets: &TargetSet) -> Result<WasmToolchain, TaskError> {
    let why = format!(
        "a Rust compiler that builds for {}, since rustup's targets are not to be had",
        targets.purpose
    );
    machine::install(targets.debian, &why, "125 MB to download, 700 MB on disk, about two minutes")
        .map_err(|TaskError(reason)| {
            TaskError(format!("{reason}\nor run `{}`", add_line(targets)))
        })?;
    Ok(WasmToolchain::Debian)
}
