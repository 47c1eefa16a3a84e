//! Finds the way to build for wasm that works on this machine, and installs what it needs.

use std::env;
use std::path::Path;
use std::time::Duration;

use crate::failure::Failure;
use crate::machine;
use crate::process;
use crate::toolchain::{PAGE, Toolchain, WASI};
use crate::workspace::Workspace;

const CHOICE: &str = "INNERLOOP_WASM_TOOLCHAIN";
const DEBIAN_PACKAGES: [&str; 5] =
    ["rustc-web", "cargo-web", "rust-web-src", "lld-19", "wasi-libc"];

/// Step: finds a way to build for wasm, installing what it needs, and notes it in the workspace.
///
/// # Errors
/// When neither way works and neither can be installed.
pub(crate) fn find(workspace: &mut Workspace) -> Result<(), Failure> {
    let toolchain = choose(workspace)?;
    match toolchain {
        Toolchain::Rustup => println!("wasm: rustup's targets {PAGE} and {WASI}"),
        Toolchain::Debian => println!("wasm: Debian's rustc, standard library from source"),
    }
    workspace.toolchain = Some(toolchain);
    Ok(())
}

fn choose(workspace: &Workspace) -> Result<Toolchain, Failure> {
    match env::var(CHOICE).as_deref() {
        Ok("rustup") if targets_installed(workspace) || add_targets(workspace) => {
            Ok(Toolchain::Rustup)
        }
        Ok("rustup") => Err(Failure(format!(
            "{CHOICE} says rustup, but its wasm targets are missing; run `{}`",
            add_line()
        ))),
        Ok("debian") => install_debian().map(|()| Toolchain::Debian),
        Ok("") | Err(_) => choose_freely(workspace),
        Ok(other) => Err(Failure(format!("{CHOICE} is {other:?}; it knows rustup and debian"))),
    }
}

fn choose_freely(workspace: &Workspace) -> Result<Toolchain, Failure> {
    if targets_installed(workspace) {
        return Ok(Toolchain::Rustup);
    }
    if machine::missing_packages(&DEBIAN_PACKAGES).is_empty() {
        return Ok(Toolchain::Debian);
    }
    if add_targets(workspace) {
        return Ok(Toolchain::Rustup);
    }
    install_debian().map(|()| Toolchain::Debian)
}

fn targets_installed(workspace: &Workspace) -> bool {
    [PAGE, WASI].iter().all(|target| {
        let mut rustc = workspace.program("rustc", "");
        process::capture(rustc.args(["--print", "target-libdir", "--target", target]))
            .is_ok_and(|folder| Path::new(&folder).is_dir())
    })
}

fn add_targets(workspace: &Workspace) -> bool {
    if process::on_path("rustup").is_none() {
        println!("wasm: no rustup on PATH, so no targets from there");
        return false;
    }
    println!("wasm: installing the targets {PAGE} and {WASI} by rustup (45 MB; half a minute)");
    let mut rustup = workspace.program("rustup", "");
    rustup.args(["target", "add", PAGE, WASI]).env("RUSTUP_MAX_RETRIES", "1");
    let added = process::succeeds_within(&mut rustup, Duration::from_secs(120));
    if !added {
        println!("wasm: `{}` did not succeed; trying Debian's packages", add_line());
    }
    added && targets_installed(workspace)
}

fn add_line() -> String {
    format!("rustup target add {PAGE} {WASI}")
}

fn install_debian() -> Result<(), Failure> {
    machine::install(
        &DEBIAN_PACKAGES,
        "a Rust compiler that builds for wasm, since rustup's targets are not to be had",
        "125 MB to download, 700 MB on disk, about two minutes",
    )
    .map_err(|Failure(reason)| Failure(format!("{reason}\nor run `{}`", add_line())))
}
