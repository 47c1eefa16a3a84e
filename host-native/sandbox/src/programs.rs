//! The registry of programs: those that are embedded in this program, and folders of `NAME.wasm`
//! files, each a WASI preview 1 command. The manifest says which bytes a known name stands for and
//! what the program may do. A program whose bytes are pinned is never started with others.

use super::{
    embedded_modules::{self, EmbeddedModule},
    engine::{GuestModule, ModuleSource, SandboxEngine},
    error::ModuleError,
    guest::program_env,
    guest_view::{FolderMount, GuestVisibility},
    limits::RunLimits,
    manifest::{self, Manifest, ManifestEntry, ManifestError, ProgramLimits},
    program_folder,
};
use innerloop_shell_protocol::MissingCommand;
use innerloop_types::config::ProgramFacts;
use innerloop_workspace::{Workspace, digest::Digest};
use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::task::spawn_blocking;

/// The command that runs a file of the workspace, which is its first argument.
pub const BY_PATH: &str = "wasi-run";

/// The largest program in bytes that is checked as soon as it is found. Hashing the large ones,
/// such as clang with 75 MB, would delay every start of this program.
const SMALL: u64 = 4 << 20;

/// Commands that agents know from other machines, and that the sandbox does not have.
const OF_MACHINES: [&str; 57] = [
    "apk",
    "apt",
    "apt-get",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "cc",
    "clang",
    "cmake",
    "composer",
    "conda",
    "deno",
    "dnf",
    "docker",
    "dotnet",
    "eslint",
    "g++",
    "gcc",
    "gem",
    "gh",
    "git",
    "go",
    "gradle",
    "java",
    "javac",
    "jest",
    "kubectl",
    "mvn",
    "mypy",
    "node",
    "npm",
    "npx",
    "php",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "podman",
    "poetry",
    "prettier",
    "pytest",
    "rake",
    "rspec",
    "ruby",
    "ruff",
    "rustc",
    "rustfmt",
    "rustup",
    "sudo",
    "swift",
    "systemctl",
    "tox",
    "tsc",
    "uv",
    "vitest",
    "yarn",
];

/// The commands that agents know for pages of the web.
const OF_THE_WEB: [&str; 2] = ["curl", "wget"];

/// The commands that agents know for other machines.
const OF_NETWORKS: [&str; 8] = ["ftp", "http", "nc", "ping", "rsync", "scp", "sftp", "ssh"];

/// The programs that can be run. It is cheap enough to clone for each executor.
#[derive(Clone, Debug, Default)]
pub struct ProgramRegistry {
    folders: Vec<PathBuf>,
    /// The programs by their own names.
    all: BTreeMap<String, Arc<RegisteredProgram>>,
    /// The programs' names by the commands that run them.
    commands: BTreeMap<String, String>,
    /// The commands of programs that are known and not installed, with the programs' names.
    missing: BTreeMap<String, String>,
    /// The entry for files of the workspace that are run by their paths.
    by_path: Option<Arc<ManifestEntry>>,
}

#[derive(Debug)]
struct RegisteredProgram {
    source: ModuleSource,
    entry: ManifestEntry,
    digest: OnceLock<Digest>,
    mounts: OnceLock<Vec<FolderMount>>,
}

/// A program that is about to be started.
pub(crate) struct ProgramStart {
    pub(super) guest: GuestModule,
    pub(super) terms: ProgramPermissions,
}

/// The permissions of a program, as the manifest and the project's file grant them.
pub(super) struct ProgramPermissions {
    /// The variables of every program, and those of this one.
    pub(super) env: BTreeMap<String, String>,
    pub(super) sight: GuestVisibility,
    /// True if it only plans jobs, see [`drivers`](super::drivers).
    pub(super) is_driver: bool,
    limits: ProgramLimits,
    /// The highest limits that a project allows.
    most: ProgramLimits,
}

/// The reason why a registry can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// The folder can't be listed.
    #[error("can't read the programs' folder {}: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A program that is pinned has other bytes, or can't be read.
    #[error(transparent)]
    Program(#[from] ModuleError),
    /// The manifest of the programs can't be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl ProgramRegistry {
    /// Opens a folder of programs: `explicit`, or that in `INNERLOOP_PROGRAMS`. Without either, the
    /// programs are the embedded ones, the shell and QuickJS, and those installed in
    /// `$XDG_DATA_HOME/innerloop/programs` (or `~/.local/share/…`), which take precedence. The
    /// manifest, with the user's own part, describes them.
    ///
    /// # Errors
    /// [`ProgramsError`] if a folder can't be read, or the user's manifest can't be used.
    pub fn find(explicit: Option<&Path>) -> Result<Self, ProgramsError> {
        Self::unchecked(explicit)?.checked()
    }

    /// The same programs, none of them checked yet, so that they can be listed and fixed even if
    /// one has the wrong bytes.
    ///
    /// # Errors
    /// As [`ProgramRegistry::find`], but for what a check would find.
    pub fn unchecked(explicit: Option<&Path>) -> Result<Self, ProgramsError> {
        let named = env::var_os("INNERLOOP_PROGRAMS").filter(|value| !value.is_empty());
        let manifest = Manifest::of_user()?;
        match explicit.map(Path::to_owned).or_else(|| named.map(PathBuf::from)) {
            Some(folder) => Self::of(vec![folder], &manifest),
            None => {
                let folder = program_folder::folder().filter(|folder| folder.is_dir());
                Self::carried(&manifest).with(folder.into_iter().collect(), &manifest)
            }
        }
    }

    /// The embedded programs, except for those that the manifest pins to other bytes.
    fn carried(manifest: &Manifest) -> Self {
        // A user who pins `qjs` to another version gets that one or none, never the embedded one.
        let is_meant = |carried: &&EmbeddedModule| {
            let pinned = manifest.get(carried.name).and_then(|entry| entry.sha_256.as_deref());
            pinned.is_none_or(|pinned| pinned == carried.digest.to_string())
        };
        let mut programs = Self::default();
        for carried in embedded_modules::PROGRAMS.into_iter().filter(is_meant) {
            let entry = entry(manifest, carried.name);
            let program = RegisteredProgram::new(ModuleSource::Carried(carried), entry);
            programs.all.insert(carried.name.to_owned(), Arc::new(program));
        }
        programs
    }

    /// Opens a folder of `NAME.wasm` files.
    ///
    /// # Errors
    /// [`ProgramsError`] if the folder can't be read.
    pub fn open(folder: &Path) -> Result<Self, ProgramsError> {
        Self::of(vec![folder.to_owned()], &Manifest::standard()?)?.checked()
    }

    /// Opens folders; a program in a later one takes precedence over one of its name in an earlier
    /// one. Pinned programs are checked when they are first needed, or by
    /// [`ProgramRegistry::checked`].
    ///
    /// # Errors
    /// [`ProgramsError`] if one can't be read.
    pub fn of(folders: Vec<PathBuf>, manifest: &Manifest) -> Result<Self, ProgramsError> {
        Self::default().with(folders, manifest)
    }

    /// These programs and those of folders, which take precedence.
    fn with(self, folders: Vec<PathBuf>, manifest: &Manifest) -> Result<Self, ProgramsError> {
        let mut programs = self;
        for folder in &folders {
            let unreadable = |error| ProgramsError::Folder { path: folder.clone(), error };
            for found in fs::read_dir(folder).map_err(unreadable)? {
                let path = found.map_err(unreadable)?.path();
                let Some(name) = program_name(&path) else { continue };
                let program =
                    RegisteredProgram::new(ModuleSource::File(path), entry(manifest, &name));
                programs.all.insert(name, Arc::new(program));
            }
        }
        programs.folders = folders;
        programs.by_path = manifest.get(BY_PATH).cloned().map(Arc::new);
        // Noted before disabled programs are left out: what the user turned off is not offered for
        // installation.
        let missing = manifest
            .iter()
            .filter(|(name, entry)| entry.source.is_some() && !programs.all.contains_key(*name));
        for (name, entry) in missing {
            let commands = entry.commands.iter().filter(|_| entry.enabled);
            programs.missing.extend(commands.map(|command| (command.clone(), name.to_owned())));
        }
        programs.name_commands();
        Ok(programs)
    }

    /// The same programs, after checking those that are pinned and small.
    ///
    /// # Errors
    /// [`ProgramsError`] if one has other bytes than are pinned, or can't be read.
    pub fn checked(self) -> Result<Self, ProgramsError> {
        self.all.values().try_for_each(|program| program.look())?;
        Ok(self)
    }

    /// The same programs, narrowed to what the text of a project's file ([`manifest::IN_PROJECT`])
    /// allows.
    ///
    /// # Errors
    /// [`ManifestError`] if the text can't be understood, or asks for more than is granted.
    pub fn narrowed(&self, text: &str) -> Result<Self, ManifestError> {
        let entries = self.all.iter().map(|(name, program)| (name.clone(), program.entry.clone()));
        let by_path =
            self.by_path.iter().map(|entry| (BY_PATH.to_owned(), ManifestEntry::clone(entry)));
        let mut manifest = Manifest::from_iter(by_path.chain(entries));
        manifest.narrow(text, Path::new(manifest::IN_PROJECT))?;
        let mut narrowed = self.clone();
        narrowed.by_path = manifest.get(BY_PATH).cloned().map(Arc::new);
        for (name, entry) in manifest.iter() {
            let Some(program) = narrowed.all.get_mut(name) else { continue };
            // The others stay shared, with the digests and mounts that they have found already.
            if program.entry != *entry {
                *program = Arc::new(RegisteredProgram::new(program.source.clone(), entry.clone()));
            }
        }
        narrowed.name_commands();
        Ok(narrowed)
    }

    /// The same programs, narrowed to what the project in a workspace allows.
    ///
    /// # Errors
    /// As [`ProgramRegistry::narrowed`], or if its file is not a text of at most 1 MiB.
    pub fn in_project(&self, workspace: &Workspace) -> Result<Self, ManifestError> {
        match manifest::in_project(workspace)? {
            Some(text) => self.narrowed(&text),
            None => Ok(self.clone()),
        }
    }

    /// Finds the programs' commands, and leaves out disabled programs.
    fn name_commands(&mut self) {
        self.all.retain(|_, program| program.entry.enabled);
        self.commands.clear();
        for (name, program) in &self.all {
            let commands = program.entry.commands.iter().map(|it| (it.clone(), name.clone()));
            self.commands.extend(commands);
        }
        // The programs' own names come last and win: a file `python3.wasm` is what `python3` runs,
        // even if the manifest lists that as a command of `python`.
        self.commands.extend(self.all.keys().map(|name| (name.clone(), name.clone())));
    }

    /// The folders that were opened.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// The descriptions of the programs for the model, by name.
    #[must_use]
    pub fn facts(&self) -> Vec<ProgramFacts> {
        let facts = |(name, program): (&String, &Arc<RegisteredProgram>)| ProgramFacts {
            name: name.clone(),
            description: program.entry.told(),
        };
        self.all.iter().map(facts).collect()
    }

    /// The permissions of files of the workspace that are run by their paths; `None` if they may
    /// not be run.
    pub(super) fn by_path(&self) -> Option<ProgramPermissions> {
        let entry = self.by_path.as_deref().filter(|entry| entry.enabled);
        entry.map(|entry| ProgramPermissions::of(entry, BY_PATH, Vec::new()))
    }

    /// Returns whether a program has that command.
    #[must_use]
    pub fn has(&self, command: &str) -> bool {
        self.commands.contains_key(command)
    }

    /// The commands of all programs, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.commands.keys().map(String::as_str)
    }

    /// The message for a command that does not exist, if the user could do something about it: its
    /// program could be installed, or it is known from other machines.
    #[must_use]
    pub fn missing(&self, command: &str) -> Option<String> {
        if let Some(name) = self.missing.get(command) {
            return Some(format!(
                "{command} is not installed here; the user can install it: innerloop tools \
                 install {name}"
            ));
        }
        if self.has(command) {
            return None;
        }
        if OF_THE_WEB.contains(&command) {
            return Some(format!(
                "{command}: the sandbox has no network; the tool web_fetch reads pages of domains \
                 that --allow-domain names"
            ));
        }
        if OF_NETWORKS.contains(&command) {
            return Some(format!(
                "{command}: the sandbox has no network; with --env local the user lets commands \
                 run on the machine"
            ));
        }
        OF_MACHINES.contains(&command).then(|| {
            format!(
                "{command} is not in the sandbox; with --env local the user lets commands run on \
                 the machine"
            )
        })
    }

    /// The messages for all such commands.
    pub(super) fn told_missing(&self) -> Vec<MissingCommand> {
        let told = |command: &str| {
            Some(MissingCommand { command: command.to_owned(), words: self.missing(command)? })
        };
        let known = self.missing.keys().map(String::as_str);
        let elsewhere = OF_MACHINES.into_iter().chain(OF_THE_WEB).chain(OF_NETWORKS);
        let elsewhere = elsewhere.filter(|name| !self.missing.contains_key(*name));
        known.chain(elsewhere).filter_map(told).collect()
    }

    /// The programs by name, each with its file, unless it is embedded, and its entry in the
    /// manifest.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&Path>, &ManifestEntry)> {
        self.all.iter().map(|(name, program)| (name.as_str(), program.file(), &program.entry))
    }

    /// Checks that a program has the pinned bytes and that its assets are installed, and returns
    /// the SHA-256 of its bytes; `None` if there is no such program.
    ///
    /// # Errors
    /// [`ModuleError`] if the bytes can't be read or differ, or an asset is missing.
    pub fn verify(&self, name: &str) -> Option<Result<Digest, ModuleError>> {
        self.all.get(name).map(|program| program.verify())
    }

    /// Compiles a program if no earlier run has. Does nothing if there is no such program.
    ///
    /// # Errors
    /// [`ModuleError`] if it can't be read or compiled.
    pub async fn compile(&self, name: &str, engine: &SandboxEngine) -> Result<(), ModuleError> {
        match self.start(name).await? {
            Some(start) => engine.compiled(&start.guest).await,
            None => Ok(()),
        }
    }

    /// The program to start for a command; `None` if there is no such program.
    ///
    /// # Errors
    /// [`ModuleError`] if its file can't be read or has other bytes than are pinned, or an asset is
    /// missing.
    pub(crate) async fn start(&self, command: &str) -> Result<Option<ProgramStart>, ModuleError> {
        let name = self.commands.get(command);
        let Some((name, program)) = name.and_then(|name| self.all.get_key_value(name)) else {
            return Ok(None);
        };
        let (digest, mounts) = program.ready().await?;
        let guest = GuestModule { name: name.clone(), digest, source: program.source.clone() };
        Ok(Some(ProgramStart {
            guest,
            terms: ProgramPermissions::of(&program.entry, command, mounts),
        }))
    }
}

impl ProgramPermissions {
    /// The permissions of a program's entry, with its assets as `mounts`.
    fn of(entry: &ManifestEntry, command: &str, mounts: Vec<FolderMount>) -> Self {
        let own = entry.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let sight = GuestVisibility {
            writes_whole: false,
            may_write: entry.folder == manifest::FolderAccess::ReadWrite,
            is_blind: entry.folder == manifest::FolderAccess::None,
            mounts,
        };
        // The command decides: `wasm-ld`, of the same module as `clang`, does its own work.
        Self {
            env: program_env().into_iter().chain(own).collect(),
            sight,
            is_driver: entry.drivers.iter().any(|driver| driver == command),
            limits: entry.limits,
            most: entry.most,
        }
    }

    /// The limits of the program, where those of all programs are `standard`.
    pub(super) fn limits(&self, standard: RunLimits) -> RunLimits {
        // The project's limits come last: they also lower those that the embedder has set.
        self.most.under(self.limits.over(standard))
    }

    /// The most memory that the program may have of its run's.
    pub(super) fn memory(&self) -> usize {
        // The run's quota counts the rest. Only a limit of the program itself is lower than that.
        self.limits(RunLimits { memory_bytes: usize::MAX, ..RunLimits::default() }).memory_bytes
    }

    /// The time that the program may run where a call asks for `asked`.
    pub(super) fn time(&self, asked: Duration) -> Duration {
        self.most.time(self.limits.time(asked))
    }
}

impl RegisteredProgram {
    const fn new(source: ModuleSource, entry: ManifestEntry) -> Self {
        Self { source, entry, digest: OnceLock::new(), mounts: OnceLock::new() }
    }

    /// The program's file, unless it is embedded.
    fn file(&self) -> Option<&Path> {
        match &self.source {
            ModuleSource::Carried(_) => None,
            ModuleSource::File(path) => Some(path),
        }
    }

    /// Checks the program's bytes and assets.
    fn verify(&self) -> Result<Digest, ModuleError> {
        // An embedded module's digest is a constant, which proves nothing: unpacking checks it.
        if let ModuleSource::Carried(carried) = &self.source {
            carried.unpacked()?;
        }
        let digest = self.digest()?;
        self.mounts().map(|_| digest)
    }

    /// Checks a small program that is pinned; a large one is checked when it is first needed.
    fn look(&self) -> Result<(), ModuleError> {
        let size = self.file().and_then(|file| fs::metadata(file).ok());
        let is_small = size.is_some_and(|found| found.len() <= SMALL);
        match self.entry.sha_256.is_some() && is_small {
            true => self.digest().map(drop),
            false => Ok(()),
        }
    }

    /// The digest of the program's bytes, and its mounts. They are read once, by a thread that may
    /// block.
    async fn ready(self: &Arc<Self>) -> Result<(Digest, Vec<FolderMount>), ModuleError> {
        if let (Some(digest), Some(mounts)) = (self.digest.get(), self.mounts.get()) {
            return Ok((*digest, mounts.clone()));
        }
        let program = Arc::clone(self);
        let checked = spawn_blocking(move || Ok((program.digest()?, program.mounts()?)));
        checked.await.map_err(|error| ModuleError::Task(error.to_string()))?
    }

    /// The digest of the program's bytes, which must be the pinned one.
    fn digest(&self) -> Result<Digest, ModuleError> {
        // Kept, since the bytes that are compiled are compared with it: a file that changes while a
        // session runs is refused, see `engine::compile`.
        if let Some(digest) = self.digest.get() {
            return Ok(*digest);
        }
        let path = match &self.source {
            ModuleSource::Carried(carried) => return Ok(carried.digest),
            ModuleSource::File(path) => path,
        };
        let digest = Digest::of(&self.source.read()?);
        let found = digest.to_string();
        match &self.entry.sha_256 {
            Some(pinned) if *pinned != found => Err(ModuleError::Pinned {
                path: path.clone(),
                version: self.entry.version.clone(),
                found,
                pinned: pinned.clone(),
            }),
            _ => Ok(*self.digest.get_or_init(|| digest)),
        }
    }

    /// The folders that the program sees beside the workspace: its assets, unpacked beside its
    /// file.
    fn mounts(&self) -> Result<Vec<FolderMount>, ModuleError> {
        if let Some(mounts) = self.mounts.get() {
            return Ok(mounts.clone());
        }
        let assets = self.file().map(program_folder::assets).unwrap_or_default();
        let mount = |asset: &manifest::ProgramAsset| {
            let path = program_folder::asset(&assets, asset);
            let folder = Workspace::open(&path);
            let folder = folder.map_err(|_| ModuleError::Asset(path));
            Ok(FolderMount { name: asset.guest.clone(), folder: folder? })
        };
        let mounts: Result<Vec<FolderMount>, ModuleError> =
            self.entry.assets.iter().map(mount).collect();
        mounts.map(|mounts| self.mounts.get_or_init(|| mounts).clone())
    }
}

/// The manifest's entry of a program, or that of an unknown one.
fn entry(manifest: &Manifest, name: &str) -> ManifestEntry {
    manifest.get(name).cloned().unwrap_or_else(|| ManifestEntry::unknown(name))
}

/// The program's name, `NAME` of a file `NAME.wasm`; `None` for other files.
fn program_name(path: &Path) -> Option<String> {
    let wasm = path.extension().and_then(OsStr::to_str) == Some("wasm");
    if wasm && path.is_file() { Some(path.file_stem()?.to_str()?.to_owned()) } else { None }
}
