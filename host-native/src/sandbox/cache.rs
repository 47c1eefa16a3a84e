//! Compiled modules on disk. An artefact is machine code, so it is only loaded from a folder
//! that belongs to the user alone and only if it still has the digest that was written beside
//! it, and never where a guest could have written it. Whatever is wrong with an artefact, it is
//! compiled again.

use super::digest::Digest;
use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use wasmtime::{Engine, Module};

/// Receives a line for the user when something takes long or is not as it should be.
pub type OnProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// The artefacts' folder within the cache folder. Guests can't change a folder of this name,
/// whatever their workspace is.
const FOLDER: &str = ".innerloop";

/// The cache folder, looked at when it is first needed.
pub(super) struct ArtefactCache {
    wanted: Option<PathBuf>,
    folder: OnceLock<Option<PathBuf>>,
    exposed: AtomicBool,
    on_progress: OnProgress,
}

impl std::fmt::Debug for ArtefactCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArtefactCache").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl ArtefactCache {
    pub(super) fn new(dir: Option<PathBuf>, on_progress: OnProgress) -> Self {
        let wanted = dir.or_else(default_dir);
        Self { wanted, folder: OnceLock::new(), exposed: AtomicBool::new(false), on_progress }
    }

    /// Stops using the folder if guests over the workspace `root` could reach it.
    pub(super) fn keep_from(&self, root: &Path) {
        let Some(wanted) = &self.wanted else { return };
        if meets(wanted, root) && !self.exposed.swap(true, Ordering::AcqRel) {
            (self.on_progress)(&format!(
                "compiled modules are not kept, because {} and the workspace lie in one another",
                wanted.display()
            ));
        }
    }

    /// The module that was compiled from the bytes of this digest, if it is there and intact.
    pub(super) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Module> {
        let path = self.folder()?.join(name(engine, digest));
        let bytes = fs::read(&path).ok()?;
        let noted = fs::read_to_string(sidecar(&path)).ok()?;
        if noted.trim() != Digest::of(&bytes).to_string() {
            return None;
        }
        load_artefact(engine, &bytes)
    }

    /// Keeps a compiled module. Failing to keep it is reported, and otherwise ignored.
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
        if self.exposed.load(Ordering::Acquire) {
            return None;
        }
        self.folder.get_or_init(|| self.open()).as_deref()
    }

    fn open(&self) -> Option<PathBuf> {
        let Some(wanted) = &self.wanted else {
            (self.on_progress)(
                "no folder for compiled modules: set INNERLOOP_CACHE_DIR to keep them",
            );
            return None;
        };
        let folder = wanted.join(FOLDER);
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
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("INNERLOOP_CACHE_DIR")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("innerloop")))
        .or_else(|| Some(std::env::home_dir()?.join(".cache").join("innerloop")))
}

/// Whether `folder`, or a link or folder on the way to it, lies in `root`, or the other way
/// round. If that cannot be found out, yes.
fn meets(folder: &Path, root: &Path) -> bool {
    let Ok(folder) = std::path::absolute(folder) else { return true };
    let lies_inside = folder
        .ancestors()
        .any(|on_the_way| real(on_the_way).is_none_or(|on_the_way| on_the_way.starts_with(root)));
    lies_inside || real(&folder).is_none_or(|folder| root.starts_with(folder))
}

/// The real path, also of something that does not exist yet.
fn real(path: &Path) -> Option<PathBuf> {
    match fs::canonicalize(path) {
        Ok(real) => Some(real),
        Err(_) => Some(real(path.parent()?)?.join(path.file_name()?)),
    }
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

/// Makes the folder and the cache folder around it, or checks them: whoever can write to either
/// could put an artefact there.
#[cfg(unix)]
fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if let Some(cache) = folder.parent() {
        if let Some(around) = cache.parent() {
            fs::create_dir_all(around)?;
        }
        own_folder(cache)?;
    }
    own_folder(folder)?;
    if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(unix)]
fn own_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let unfit = |why: &str| io::Error::other(format!("{} {why}", folder.display()));
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Err(unfit("is not a folder"));
    }
    if found.mode() & 0o022 != 0 {
        return Err(unfit("can be written to by other users; remove it or chmod 700 it"));
    }
    // A file that this process creates belongs to the user it runs as.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let probe = folder.join(format!("{}-{count}.probe", std::process::id()));
    fs::write(&probe, b"")?;
    let own = fs::symlink_metadata(&probe).map(|probe| probe.uid());
    fs::remove_file(&probe)?;
    if found.uid() == own? { Ok(()) } else { Err(unfit("belongs to another user")) }
}

/// Elsewhere the user's profile folder is private by itself.
#[cfg(not(unix))]
fn private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
