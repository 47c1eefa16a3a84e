//! Finds the guest tools program, which the library embeds.

use std::path::{Path, PathBuf};

const OVERRIDE: &str = "INNERLOOP_TOOLS_WASM";

fn main() {
    println!("cargo::rerun-if-env-changed={OVERRIDE}");
    let beside = || {
        let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        Path::new(&own).join("../target/guests/tools.wasm")
    };
    let path = std::env::var_os(OVERRIDE).map_or_else(beside, PathBuf::from);
    println!("cargo::rerun-if-changed={}", path.display());
    match path.canonicalize() {
        Ok(path) => println!("cargo::rustc-env=INNERLOOP_TOOLS_WASM_PATH={}", path.display()),
        Err(error) => println!(
            "cargo::error=the guest tools program {} is missing ({error}): \
             run `cargo xtask prepare` first",
            path.display()
        ),
    }
}
