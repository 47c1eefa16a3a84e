//! What builds for wasm: the targets of rustup's toolchain, or Debian's compiler with its own
//! standard library built from source. Which of the two works is found out in `wasm_targets`.

use std::env;
use std::process::Command;

/// The page's target.
pub(crate) const PAGE: &str = "wasm32-unknown-unknown";
/// The guest's target: WASI preview 1.
pub(crate) const WASI: &str = "wasm32-wasip1";

const WASI_LIBC: &str = "/usr/lib/wasm32-wasi";

/// The page's module travels, so its standard library is built for size, and a panic in it is a
/// trap: there is nobody to read a message, or where it came from.
const PAGE_STD: [&str; 2] =
    ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
const PAGE_FLAGS: &str = concat!(
    "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none",
    // An engine compiles a function whole, both when it is first called and when it is found to be
    // hot. LLVM would make one of all that has a single caller; with instructions and calls that
    // weigh 60 times as much against that bonus, it still does so with what is short.
    " -Cllvm-args=-inline-instr-cost=300 -Cllvm-args=-inline-call-penalty=1500"
);

/// A way to build for wasm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WasmToolchain {
    /// The native toolchain, with rustup's two wasm targets and the standard library's source.
    Rustup,
    /// Debian's rustc and cargo under `/usr/bin`, with the standard library built from source.
    Debian,
}

impl WasmToolchain {
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
        if target == PAGE {
            // The compilers are stable ones.
            cargo.args(PAGE_STD).env("RUSTC_BOOTSTRAP", "1");
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", PAGE_FLAGS);
        }
        // Flags for the native build would replace the target's own.
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        cargo.args(["--target", target, "--profile", profile]);
        cargo
    }

    /// Cargo with a subcommand, set up to build for the page as people build front ends: in the dev
    /// profile, with the standard library that the toolchain has, if it has one.
    pub(crate) fn cargo_for_front_ends(self, subcommand: &str) -> Command {
        let mut cargo = match self {
            Self::Rustup => Command::new("cargo"),
            Self::Debian => Command::new("/usr/bin/cargo"),
        };
        cargo.arg(subcommand);
        if self == Self::Debian {
            use_debian(&mut cargo, PAGE);
            cargo.arg("-Zbuild-std=std,panic_abort");
        }
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        cargo.args(["--target", PAGE]);
        cargo
    }
}

/// Debian's cargo with a subcommand, which builds the standard library, too.
pub(crate) fn cargo_from_source(subcommand: &str) -> Command {
    let mut cargo = Command::new("/usr/bin/cargo");
    cargo.args([subcommand, "-Zbuild-std"]);
    lead_to_debian(&mut cargo);
    cargo
}

fn use_debian(cargo: &mut Command, target: &str) {
    lead_to_debian(cargo);
    if target == WASI {
        cargo.arg("-Zbuild-std=std,panic_abort");
        cargo.env("CARGO_TARGET_WASM32_WASIP1_LINKER", "wasm-ld-19");
        let flags = format!(
            "-C link-self-contained=no -L {WASI_LIBC} -C link-arg={WASI_LIBC}/crt1-command.o"
        );
        cargo.env("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", flags);
    } else {
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-19");
    }
}

fn lead_to_debian(cargo: &mut Command) {
    cargo.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
    // Both lead back to rustup's toolchain and its libraries.
    cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("LD_LIBRARY_PATH");
    cargo.env_remove("RUSTC_WRAPPER").env_remove("RUSTC_WORKSPACE_WRAPPER");
    let path = env::var("PATH").unwrap_or_default();
    cargo.env("PATH", format!("/usr/bin:{path}"));
}
