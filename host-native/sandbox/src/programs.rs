//! The registry of programs: those that this program carries, and folders of `NAME.wasm` files,
//! each a WASI preview 1 command. What a known name stands for, and what the program may do, says
//! the manifest.

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

/// The program that runs a file of the workspace, which is its first argument.
pub const BY_PATH: &str = "wasi-run";

/// A program of up to so many bytes is checked as soon as it is found.
const SMALL: u64 = 4 << 20;

/// Commands that agents know from other machines and look for in vain.
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

/// The programs that can be run. Clones are cheap enough for one per executor.
#[derive(Clone, Debug, Default)]
pub struct ProgramRegistry {
    folders: Vec<PathBuf>,
    /// By their own names.
    all: BTreeMap<String, Arc<RegisteredProgram>>,
    /// The programs' names by the commands they are run by.
    commands: BTreeMap<String, String>,
    /// The commands of programs that are known and not there, with the programs' names.
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

/// The permissions of a program.
pub(super) struct ProgramPermissions {
    /// The variables that every program has, and those that this one is given besides.
    pub(super) env: BTreeMap<String, String>,
    pub(super) sight: GuestVisibility,
    /// True if it may only plan the work of others.
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
    /// Opens a folder of programs: `explicit`, or that in `INNERLOOP_PROGRAMS`; if neither is said,
    /// there is what this program carries, the shell and QuickJS, and what is installed in
    /// `$XDG_DATA_HOME/innerloop/programs` (or `~/.local/share/…`), which comes first. What is
    /// known of them says the manifest, with the user's own part.
    ///
    /// # Errors
    /// [`ProgramsError`] if a folder can't be read, or the user's manifest can't be used.
    pub fn find(explicit: Option<&Path>) -> Result<Self, ProgramsError> {
        Self::unchecked(explicit)?.checked()
    }

    /// The same programs, of which nothing is checked yet: also where one is not what it should be,
    /// they can be told, and fixed.
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

    /// Returns what this program carries, but for what the manifest pins to other bytes: that is to
    /// be installed.
    fn carried(manifest: &Manifest) -> Self {
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

    /// Opens folders; what is in a later one comes before what has its name in an earlier one. What
    /// is pinned is checked when it is first needed, or by [`ProgramRegistry::checked`].
    ///
    /// # Errors
    /// [`ProgramsError`] if one can't be read.
    pub fn of(folders: Vec<PathBuf>, manifest: &Manifest) -> Result<Self, ProgramsError> {
        Self::default().with(folders, manifest)
    }

    /// These programs and those of folders, which come before them.
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

    /// The same programs, of which the small ones that are pinned are what they should be.
    ///
    /// # Errors
    /// [`ProgramsError`] if one is not.
    pub fn checked(self) -> Result<Self, ProgramsError> {
        self.all.values().try_for_each(|program| program.look())?;
        Ok(self)
    }

    /// The same programs, as far as a project allows them: what its file
    /// ([`manifest::IN_PROJECT`]) says.
    ///
    /// # Errors
    /// [`ManifestError`] if the file can't be understood, or asks for more than there is.
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
            if program.entry != *entry {
                *program = Arc::new(RegisteredProgram::new(program.source.clone(), entry.clone()));
            }
        }
        narrowed.name_commands();
        Ok(narrowed)
    }

    /// The same programs, as far as the project in a workspace allows them.
    ///
    /// # Errors
    /// As [`ProgramRegistry::narrowed`], or its file is no text of at most 1 MiB.
    pub fn in_project(&self, workspace: &Workspace) -> Result<Self, ManifestError> {
        match manifest::in_project(workspace)? {
            Some(text) => self.narrowed(&text),
            None => Ok(self.clone()),
        }
    }

    /// A known name says what the commands are, unless another file has the command's name.
    fn name_commands(&mut self) {
        self.all.retain(|_, program| program.entry.enabled);
        self.commands.clear();
        for (name, program) in &self.all {
            let commands = program.entry.commands.iter().map(|it| (it.clone(), name.clone()));
            self.commands.extend(commands);
        }
        self.commands.extend(self.all.keys().map(|name| (name.clone(), name.clone())));
    }

    /// The folders that were opened.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// Returns what the model is told of the programs, by name.
    #[must_use]
    pub fn facts(&self) -> Vec<ProgramFacts> {
        let facts = |(name, program): (&String, &Arc<RegisteredProgram>)| ProgramFacts {
            name: name.clone(),
            description: program.entry.told(),
        };
        self.all.iter().map(facts).collect()
    }

    /// Returns what files of the workspace may do that are run by their paths, if they may be run.
    pub(super) fn by_path(&self) -> Option<ProgramPermissions> {
        let entry = self.by_path.as_deref().filter(|entry| entry.enabled);
        entry.map(|entry| ProgramPermissions::of(entry, BY_PATH, Vec::new()))
    }

    /// Returns whether a program is run by that name.
    #[must_use]
    pub fn has(&self, command: &str) -> bool {
        self.commands.contains_key(command)
    }

    /// The commands that programs are run by, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.commands.keys().map(String::as_str)
    }

    /// Returns what is said of a command that is not there, if its user could do something about
    /// it: its program could be installed, or it is known from other machines.
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

    /// The same of all such commands.
    pub(super) fn told_missing(&self) -> Vec<MissingCommand> {
        let told = |command: &str| {
            Some(MissingCommand { command: command.to_owned(), words: self.missing(command)? })
        };
        let known = self.missing.keys().map(String::as_str);
        let elsewhere = OF_MACHINES.into_iter().chain(OF_THE_WEB).chain(OF_NETWORKS);
        let elsewhere = elsewhere.filter(|name| !self.missing.contains_key(*name));
        known.chain(elsewhere).filter_map(told).collect()
    }

    /// The programs by name, each with its file, unless this program carries it, and what is known
    /// of it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&Path>, &ManifestEntry)> {
        self.all.iter().map(|(name, program)| (name.as_str(), program.file(), &program.entry))
    }

    /// Checks that a program's bytes are what its name stands for and that what it needs beside
    /// them is there, and gives their SHA-256.
    ///
    /// # Errors
    /// [`ModuleError`] if they can't be read or are others, or something is missing; nothing if
    /// there is no such program.
    pub fn verify(&self, name: &str) -> Option<Result<Digest, ModuleError>> {
        self.all.get(name).map(|program| program.verify())
    }

    /// Compiles a program if no earlier run has.
    ///
    /// # Errors
    /// [`ModuleError`] if it can't be read or compiled.
    pub async fn compile(&self, name: &str, engine: &SandboxEngine) -> Result<(), ModuleError> {
        match self.start(name).await? {
            Some(start) => engine.compiled(&start.guest).await,
            None => Ok(()),
        }
    }

    /// Returns what is to be started for a command; `None` if there is no such program.
    ///
    /// # Errors
    /// [`ModuleError`] if its file can't be read or has other bytes than are pinned, or what it
    /// needs beside it is not there.
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
    /// Those that are said of a program, which sees that beside the folder.
    fn of(entry: &ManifestEntry, command: &str, mounts: Vec<FolderMount>) -> Self {
        let own = entry.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let sight = GuestVisibility {
            writes_whole: false,
            may_write: entry.folder == manifest::FolderAccess::ReadWrite,
            is_blind: entry.folder == manifest::FolderAccess::None,
            mounts,
        };
        Self {
            env: program_env().into_iter().chain(own).collect(),
            sight,
            is_driver: entry.drivers.iter().any(|driver| driver == command),
            limits: entry.limits,
            most: entry.most,
        }
    }

    /// Returns what it may use where programs may use so much.
    pub(super) fn limits(&self, standard: RunLimits) -> RunLimits {
        self.most.under(self.limits.over(standard))
    }

    /// The most memory that it may have of what its run has.
    pub(super) fn memory(&self) -> usize {
        self.limits(RunLimits { memory_bytes: usize::MAX, ..RunLimits::default() }).memory_bytes
    }

    /// Returns how long it may run where a call says so.
    pub(super) fn time(&self, asked: Duration) -> Duration {
        self.most.time(self.limits.time(asked))
    }
}

impl RegisteredProgram {
    const fn new(source: ModuleSource, entry: ManifestEntry) -> Self {
        Self { source, entry, digest: OnceLock::new(), mounts: OnceLock::new() }
    }

    /// Its file, unless it is carried.
    fn file(&self) -> Option<&Path> {
        match &self.source {
            ModuleSource::Carried(_) => None,
            ModuleSource::File(path) => Some(path),
        }
    }

    /// Checks its bytes and what it needs beside them.
    fn verify(&self) -> Result<Digest, ModuleError> {
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

    /// The digest of its bytes, and what it sees beside the folder. The first time, a thread that
    /// may block reads them.
    async fn ready(self: &Arc<Self>) -> Result<(Digest, Vec<FolderMount>), ModuleError> {
        if let (Some(digest), Some(mounts)) = (self.digest.get(), self.mounts.get()) {
            return Ok((*digest, mounts.clone()));
        }
        let program = Arc::clone(self);
        let checked = spawn_blocking(move || Ok((program.digest()?, program.mounts()?)));
        checked.await.map_err(|error| ModuleError::Task(error.to_string()))?
    }

    /// The digest of its bytes, which must be the one that is pinned.
    fn digest(&self) -> Result<Digest, ModuleError> {
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

    /// Returns what it sees beside the folder: its assets, unpacked beside its file.
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

/// Returns what is known of a program.
fn entry(manifest: &Manifest, name: &str) -> ManifestEntry {
    manifest.get(name).cloned().unwrap_or_else(|| ManifestEntry::unknown(name))
}

/// `NAME` of a file `NAME.wasm`.
fn program_name(path: &Path) -> Option<String> {
    let wasm = path.extension().and_then(OsStr::to_str) == Some("wasm");
    if wasm && path.is_file() { Some(path.file_stem()?.to_str()?.to_owned()) } else { None }
}
