//! What builds for wasm: the targets of rustup's toolchain, or Debian's compiler with its own
//! standard library built from source. Finds the one that works and installs what is missing.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::machine;
use crate::process;
use crate::steps::Failure;
use crate::workspace::{Workspace, drop_cargo_run};

/// The page's target.
pub(crate) const PAGE: &str = "wasm32-unknown-unknown";
/// The guest's target: WASI preview 1.
pub(crate) const WASI: &str = "wasm32-wasip1";

const CHOICE: &str = "INNERLOOP_WASM_TOOLCHAIN";
const DEBIAN_PACKAGES: [&str; 5] =
    ["rustc-web", "cargo-web", "rust-web-src", "lld-19", "wasi-libc"];
const WASI_LIBC: &str = "/usr/lib/wasm32-wasi";

/// A way to build for wasm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Toolchain {
    /// The native toolchain, with rustup's two wasm targets.
    Rustup,
    /// Debian's rustc and cargo under `/usr/bin`, with the standard library built from source.
    Debian,
}

impl Toolchain {
    /// Cargo with a subcommand, in the workspace, set up to build for the target.
    pub(crate) fn cargo(self, subcommand: &str, target: &str, workspace: &Workspace) -> Command {
        let mut cargo = match self {
            Self::Rustup => Command::new("cargo"),
            Self::Debian => Command::new("/usr/bin/cargo"),
        };
        cargo.current_dir(workspace.path(""));
        drop_cargo_run(&mut cargo);
        cargo.arg(subcommand);
        if self == Self::Debian {
            use_debian(&mut cargo, target);
        }
        // Flags for the native build would replace the target's own.
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        cargo.env("CARGO_TARGET_DIR", workspace.wasm_target());
        cargo.args(["--target", target, "--profile", "wasm"]);
        cargo
    }
}

fn use_debian(cargo: &mut Command, target: &str) {
    cargo.arg("-Zbuild-std=std,panic_abort");
    cargo.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
    // Both lead back to rustup's toolchain and its libraries.
    cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
    cargo.env_remove("RUSTC_WRAPPER").env_remove("RUSTC_WORKSPACE_WRAPPER");
    let path = env::var("PATH").unwrap_or_default();
    cargo.env("PATH", format!("/usr/bin:{path}"));
    if target == WASI {
        cargo.env("CARGO_TARGET_WASM32_WASIP1_LINKER", "wasm-ld-19");
        let flags = format!(
            "-C link-self-contained=no -L {WASI_LIBC} -C link-arg={WASI_LIBC}/crt1-command.o"
        );
        cargo.env("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", flags);
    } else {
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-19");
    }
}

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
