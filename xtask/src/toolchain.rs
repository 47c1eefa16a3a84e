//! What builds for wasm: the targets of rustup's toolchain, or Debian's compiler with its own
//! standard library built from source. Which of the two works is found out in `wasm_targets`.

use std::env;
use std::process::Command;

/// The page's target.
pub(crate) const PAGE: &str = "wasm32-unknown-unknown";
/// The guest's target: WASI preview 1.
pub(crate) const WASI: &str = "wasm32-wasip1";

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
    /// Cargo with a subcommand, set up to build for the target with a profile.
    pub(crate) fn cargo(self, subcommand: &str, target: &str, profile: &str) -> Command {
        let mut cargo = match self {
            Self::Rustup => Command::new("cargo"),
            Self::Debian => Command::new("/usr/bin/cargo"),
        };
        cargo.arg(subcommand);
        if self == Self::Debian {
            use_debian(&mut cargo, target);
        }
        // Flags for the native build would replace the target's own.
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        cargo.args(["--target", target, "--profile", profile]);
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
