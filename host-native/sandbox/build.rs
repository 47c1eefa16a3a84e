//! The build script, which packs the modules that the sandbox embeds: the guest tools program, the
//! shell and QuickJS. Each stands compressed beside its SHA-256, so that none is unpacked before it
//! has to be compiled.

use flate2::{Compression, write::DeflateEncoder};
use sha2::{Digest as _, Sha256};
use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// A module to embed.
struct EmbeddedModuleSpec {
    /// The name of its constant in the generated code.
    constant: &'static str,
    name: &'static str,
    /// The path at which `cargo xtask prepare` leaves it, in the target folder of the workspace.
    prepared: &'static str,
    /// The environment variable that names another file in its place.
    variable: &'static str,
}

const MODULES: [EmbeddedModuleSpec; 3] = [
    EmbeddedModuleSpec {
        constant: "TOOLS",
        name: "the tools",
        prepared: "guests/tools.wasm",
        variable: "INNERLOOP_TOOLS_WASM",
    },
    EmbeddedModuleSpec {
        constant: "BASH",
        name: "bash",
        prepared: "programs/bash.wasm",
        variable: "INNERLOOP_BASH_WASM",
    },
    EmbeddedModuleSpec {
        constant: "QJS",
        name: "qjs",
        prepared: "programs/qjs.wasm",
        variable: "INNERLOOP_QJS_WASM",
    },
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = |name| PathBuf::from(env::var_os(name).unwrap_or_default());
    let (own, out) = (folder("CARGO_MANIFEST_DIR"), folder("OUT_DIR"));
    let mut source = String::new();
    for module in &MODULES {
        println!("cargo::rerun-if-env-changed={}", module.variable);
        let named = env::var_os(module.variable).map(PathBuf::from);
        let file = named.unwrap_or_else(|| own.join("../../target").join(module.prepared));
        println!("cargo::rerun-if-changed={}", file.display());
        // An error is reported and the loop goes on, so that one build names every missing module.
        match fs::read(&file) {
            Ok(bytes) => match packed(module, &bytes, &out) {
                Ok(constant) => source.push_str(&constant),
                Err(error) => println!("cargo::error=cannot pack {}: {error}", module.name),
            },
            Err(error) => println!(
                "cargo::error={}, which the sandbox carries, cannot be read from {} ({error}): \
                 run `cargo xtask prepare` in the repository first; from outside of it, name the \
                 file that this makes, target/{}, by its whole path in {}",
                module.name,
                file.display(),
                module.prepared,
                module.variable,
            ),
        }
    }
    if let Err(error) = fs::write(out.join("embedded_modules.rs"), source) {
        println!("cargo::error=cannot write what is carried: {error}");
    }
}

/// Writes the module, compressed, into the folder `out`, and returns its constant in Rust.
///
/// # Errors
/// The error of the system if the file can't be written.
fn packed(module: &EmbeddedModuleSpec, bytes: &[u8], out: &Path) -> io::Result<String> {
    let EmbeddedModuleSpec { constant, name, .. } = module;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    let path = out.join(format!("{constant}.deflate"));
    fs::write(&path, encoder.finish()?)?;
    // The digest is of the unpacked bytes: the cache of compiled modules is keyed by it, and finds
    // a module without unpacking it.
    let (size, digest): (_, [u8; 32]) = (bytes.len(), Sha256::digest(bytes).into());
    Ok(format!(
        "pub(crate) static {constant}: EmbeddedModule = EmbeddedModule {{ name: {name:?}, \
         size: {size}, digest: Digest::known({digest:?}), packed: include_bytes!({path:?}) }};\n"
    ))
}
