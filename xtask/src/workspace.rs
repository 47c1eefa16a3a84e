//! Where everything is in the workspace, and cargo called the same way from every step.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::TaskError;
use crate::process::BackgroundProcess;
use crate::toolchain::{self, WasmToolchain};

/// The packages of the native build. They are always named together: another set would give
/// shared dependencies other features, and wasmtime would be built twice.
pub(crate) const NATIVE_PACKAGES: [&str; 15] = [
    "innerloop-types",
    "innerloop-wire",
    "innerloop-core",
    "innerloop-driver",
    "innerloop-supervisor",
    "innerloop-tools",
    "innerloop-workspace",
    "innerloop-sandbox",
    "innerloop-host",
    "innerloop-cli",
    "innerloop-face",
    "innerloop",
    "innerloop-web",
    "innerloop-tests",
    "xtask",
];

/// The workspace's folders, and what the machine was found to have.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    /// The toolchain that builds for wasm, once a step has found out.
    pub(crate) toolchain: Option<WasmToolchain>,
    /// The browser of the page test, once a step has found it.
    pub(crate) chromium: Option<PathBuf>,
    /// The simulation that runs beside other steps, once a step has started it.
    pub(crate) simulation: Option<BackgroundProcess>,
    /// The tests' own lines about what they skipped.
    pub(crate) skipped: BTreeSet<String>,
}

impl Workspace {
    /// The workspace that this program was built from.
    ///
    /// # Errors
    /// When its folder is gone or the current folder cannot be told.
    pub(crate) fn find() -> Result<Self, TaskError> {
        let own = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = own.parent().map(Path::to_owned).unwrap_or(own);
        if !root.join("Cargo.toml").is_file() {
            return Err(TaskError(format!(
                "no workspace in {}; run `cargo xtask` inside the checkout",
                root.display()
            )));
        }
        let here = env::current_dir()
            .map_err(|error| TaskError(format!("cannot tell the current folder: {error}")))?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => here.join(folder),
            None => root.join("target"),
        };
        let skipped = BTreeSet::new();
        Ok(Self { root, target, toolchain: None, chromium: None, simulation: None, skipped })
    }

    /// A path inside the workspace.
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    /// Returns where the native debug build puts its programs.
    pub(crate) fn debug(&self) -> PathBuf {
        self.target.join("debug")
    }

    /// Returns where the native release build puts its programs.
    pub(crate) fn release(&self) -> PathBuf {
        self.target.join("release")
    }

    /// The program `innerloop`, as the native build leaves it.
    pub(crate) fn innerloop(&self) -> PathBuf {
        self.debug().join(format!("innerloop{}", env::consts::EXE_SUFFIX))
    }

    /// Returns where all wasm builds go, apart from the native ones so that neither waits for the
    /// other.
    pub(crate) fn wasm_target(&self) -> PathBuf {
        self.path("target/wasm")
    }

    /// The cargo that builds for wasm with a subcommand and a profile, in the workspace.
    ///
    /// # Errors
    /// When no step has looked for the wasm targets.
    pub(crate) fn cargo_wasm(
        &self,
        subcommand: &str,
        target: &str,
        profile: &str,
    ) -> Result<Command, TaskError> {
        let mut cargo = self.wasm_toolchain()?.cargo(subcommand, target, profile);
        cargo.current_dir(&self.root);
        drop_cargo_run(&mut cargo);
        cargo.env("CARGO_TARGET_DIR", self.wasm_target());
        // Many a CI sets it to 0, which would beat the profile, and the module would weigh more.
        cargo.env_remove("CARGO_INCREMENTAL");
        Ok(cargo)
    }

    /// The cargo that builds front ends for pages, in a folder of the workspace.
    ///
    /// # Errors
    /// When no step has looked for the wasm targets.
    pub(crate) fn cargo_for_front_ends(
        &self,
        subcommand: &str,
        inside: &str,
    ) -> Result<Command, TaskError> {
        let mut cargo = self.wasm_toolchain()?.cargo_for_front_ends(subcommand);
        cargo.current_dir(self.path(inside));
        drop_cargo_run(&mut cargo);
        cargo.env("CARGO_TARGET_DIR", self.wasm_target());
        Ok(cargo)
    }

    fn wasm_toolchain(&self) -> Result<WasmToolchain, TaskError> {
        self.toolchain
            .ok_or_else(|| TaskError("no step has looked for the wasm targets".to_owned()))
    }

    /// Debian's cargo with a subcommand, which builds the standard library, too, in a folder of
    /// its own beside that of the native build.
    pub(crate) fn cargo_from_source(&self, subcommand: &str) -> Command {
        let mut cargo = toolchain::cargo_from_source(subcommand);
        cargo.current_dir(&self.root);
        drop_cargo_run(&mut cargo);
        cargo.env("CARGO_TARGET_DIR", self.target.join("elsewhere"));
        cargo
    }

    /// The native cargo with a subcommand, in the workspace.
    pub(crate) fn cargo(&self, subcommand: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.arg(subcommand).current_dir(&self.root);
        drop_cargo_run(&mut cargo);
        cargo.env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// The native cargo with a subcommand over all native packages.
    pub(crate) fn cargo_native(&self, subcommand: &str) -> Command {
        let mut cargo = self.cargo(subcommand);
        for package in NATIVE_PACKAGES {
            cargo.args(["-p", package]);
        }
        cargo
    }

    /// Flags for rustc that leave the places of sources on this machine out of what is built.
    pub(crate) fn nameless(&self) -> Vec<String> {
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
        let named = home.map(|home| (home, "/cargo")).into_iter();
        let all = named.chain([(self.root.clone(), "/innerloop")]);
        all.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect()
    }

    /// A program started in a folder of the workspace, without what `cargo run` put around us.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>, inside: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(inside));
        drop_cargo_run(&mut command);
        command
    }
}

/// Takes out the variables that `cargo run` set for this program: they describe this package, and
/// a nested build must not see them.
fn drop_cargo_run(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let ours = ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_TARGET_DIR"];
        if ours.contains(&name) || name.starts_with("CARGO_PKG_") {
            command.env_remove(name);
        }
    }
}
