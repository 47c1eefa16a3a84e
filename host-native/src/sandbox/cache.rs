//! Compiled modules on disk. An artefact is machine code, so it is only loaded from a folder
//! that belongs to the user alone and only if it still has the digest that was written beside
//! it. Whatever is wrong with an artefact, it is compiled again.

use super::digest::Digest;
use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};
use wasmtime::{Engine, Module};

/// Receives a line for the user when something takes long or is not as it should be.
pub type OnProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// The cache folder, looked at when it is first needed.
pub(super) struct ArtefactCache {
    wanted: Option<PathBuf>,
    folder: OnceLock<Option<PathBuf>>,
    on_progress: OnProgress,
}

impl std::fmt::Debug for ArtefactCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArtefactCache").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl ArtefactCache {
    pub(super) fn new(dir: Option<PathBuf>, on_progress: OnProgress) -> Self {
        Self { wanted: dir.or_else(default_dir), folder: OnceLock::new(), on_progress }
    }

    /// The module that was compiled from the bytes of this digest, if it is there and sound.
    pub(super) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Module> {
        let path = self.folder()?.join(name(engine, digest));
        let bytes = fs::read(&path).ok()?;
        let noted = fs::read_to_string(sidecar(&path)).ok()?;
        if noted.trim() != Digest::of(&bytes).to_string() {
            return None;
        }
        load_artefact(engine, &bytes)
    }

    /// Keeps a compiled module. That it can't be kept is told once and is no failure.
    pub(super) fn store(&self, engine: &Engine, digest: &Digest, module: &Module) {
        let Some(folder) = self.folder() else { return };
        let Ok(bytes) = module.serialize() else { return };
        let path = folder.join(name(engine, digest));
        let noted = Digest::of(&bytes).to_string();
        let written = write(&path, &bytes).and_then(|()| write(&sidecar(&path), noted.as_bytes()));
        if let Err(error) = written {
            (self.on_progress)(&format!(
                "can't keep a compiled module in {}: {error}",
                path.display()
            ));
        }
    }

    fn folder(&self) -> Option<&Path> {
        self.folder.get_or_init(|| self.open()).as_deref()
    }

    fn open(&self) -> Option<PathBuf> {
        let Some(wanted) = &self.wanted else {
            (self.on_progress)(
                "no folder for compiled modules: set INNERLOOP_CACHE_DIR to keep them",
            );
            return None;
        };
        let folder = wanted.join("modules");
        match private_folder(&folder) {
            Ok(()) => Some(folder),
            Err(error) => {
                (self.on_progress)(&format!(
                    "compiled modules are not kept, because {} can't be used: {error}",
                    folder.display()
                ));
                None
            }
        }
    }
}

fn default_dir() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("INNERLOOP_CACHE_DIR")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("innerloop")))
        .or_else(|| Some(std::env::home_dir()?.join(".cache").join("innerloop")))
}

/// The artefact's file name: what it was compiled from, and for which engine and machine.
fn name(engine: &Engine, digest: &Digest) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{digest}-{:016x}.cwasm", hasher.finish())
}

fn sidecar(path: &Path) -> PathBuf {
    path.with_extension("sha256")
}

/// Writes beside the target and renames, so that nobody reads half a file.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{count}.tmp", std::process::id()));
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Loads machine code that this program has written.
#[expect(unsafe_code, reason = "wasmtime offers no safe way to load a compiled module")]
fn load_artefact(engine: &Engine, bytes: &[u8]) -> Option<Module> {
    // SAFETY: the bytes come from `Module::serialize` of this program: they were read from a
    // folder that only this user can write to, and they have the digest that was noted beside
    // them. wasmtime itself refuses artefacts of another version, setting or processor.
    unsafe { Module::deserialize(engine, bytes) }.ok()
}

#[cfg(unix)]
fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    // A file that this process creates belongs to the user it runs as.
    let probe = folder.join(format!("{}.probe", std::process::id()));
    fs::write(&probe, b"")?;
    let own = fs::metadata(&probe).map(|probe| probe.uid());
    fs::remove_file(&probe)?;
    if found.uid() != own? {
        return Err(io::Error::other("it belongs to another user"));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other("other users can write to it; remove it or chmod 700 it"));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Elsewhere the user's profile folder is private by itself.
#[cfg(not(unix))]
fn private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
