//! Whether the program compiles for the systems that this is not: `cargo check` for macOS and
//! Windows, in the folder of the native build, whose build scripts it shares.

use std::process::Command;

use crate::failure::TaskError;
use crate::process;
use crate::toolchain::WasmToolchain;
use crate::wasm_targets::{self, TargetSet};
use crate::workspace::{NATIVE_PACKAGES, Workspace};

const MACOS: &str = "aarch64-apple-darwin";
const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// The packages that are not checked there, since they are ours or for pages: all others are what
/// people build.
const OURS: [&str; 3] = ["innerloop-tests", "innerloop-web", "xtask"];

/// Step: checks the program for macOS and Windows, warnings denied.
///
/// # Errors
/// When it does not compile there, or no standard library for them can be installed.
pub(crate) fn check(workspace: &mut Workspace) -> Result<(), TaskError> {
    let targets = TargetSet {
        purpose: "other systems",
        names: &[MACOS, WINDOWS],
        from_source: false,
        size: "90 MB to download; a minute",
        debian: &["rustc-web", "cargo-web", "rust-web-src"],
    };
    println!("the first check takes up to four minutes on two cores");
    let mut check = match wasm_targets::choose(workspace, &targets)? {
        WasmToolchain::Rustup => workspace.cargo("check"),
        WasmToolchain::Debian => workspace.cargo_from_source("check"),
    };
    for package in NATIVE_PACKAGES.into_iter().filter(|package| !OURS.contains(package)) {
        check.args(["-p", package]);
    }
    for target in targets.names {
        check.args(["--target", target]);
        without_c(&mut check, target);
    }
    process::run(&mut check)
}

/// Lets crates leave out what they have in C. There is no compiler here with the headers of
/// another system, and none is needed: a check reads the Rust of all crates and links nothing, so
/// that no library of C code is ever opened. `true` stands for the compiler and for the archiver,
/// and does nothing; the folder of Apple's headers is any that is there.
fn without_c(check: &mut Command, target: &str) {
    let name = target.replace('-', "_");
    for tool in ["CC", "CXX", "AR"] {
        check.env(format!("{tool}_{name}"), "true");
    }
    check.env("SDKROOT", "/");
    let flags = format!("CARGO_TARGET_{}_RUSTFLAGS", name.to_uppercase());
    check.env(flags, "-Dwarnings").env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
}
